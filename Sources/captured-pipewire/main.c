/* The program: what it keeps of its surroundings, and its loop. */
#include "bridge.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

void bridge_say(const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    /* Names of programs and devices are among it. */
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ') *at = ' ';
    fprintf(stderr, "captured-pipewire: %s\n", line);
}

void bridge_post(struct bridge *bridge, struct bridge_post *post) {
    post->next = NULL;
    pthread_mutex_lock(&bridge->posts_lock);
    *bridge->last_post = post;
    bridge->last_post = &post->next;
    pthread_mutex_unlock(&bridge->posts_lock);
    pw_loop_signal_event(bridge->loop, bridge->posts_source);
}

static void run_posts(void *data, uint64_t count) {
    struct bridge *bridge = data;
    (void)count;
    pthread_mutex_lock(&bridge->posts_lock);
    struct bridge_post *post = bridge->first_post;
    bridge->first_post = NULL;
    bridge->last_post = &bridge->first_post;
    pthread_mutex_unlock(&bridge->posts_lock);
    while (post) {
        struct bridge_post *next = post->next;
        post->run(post);
        post = next;
    }
}

static void met_strangers(void *data, uint64_t count) {
    (void)count;
    visits_meet_strangers(data);
}

static void lost_decoys(void *data, uint64_t expirations) {
    (void)expirations;
    decoys_mend(data);
}

/* Kept where nothing is loaded by it: the installed program has a group that its user lacks. */
static char *keep(const char *name) {
    const char *value = getenv(name);
    return value ? strdup(value) : NULL;
}

/* libpipewire and its plugins load code that the environment and configuration name. */
static int clear_environment(enum capture_bus bus) {
    bool is_privileged = getauxval(AT_SECURE) != 0;
    char runtime[64];
    snprintf(runtime, sizeof runtime, "/run/user/%u", (unsigned)getuid());
    char *own_runtime = is_privileged ? NULL : keep("XDG_RUNTIME_DIR");
    char *address = is_privileged || bus != CAPTURE_BUS_SESSION ? NULL : keep("DBUS_SESSION_BUS_ADDRESS");
    char *level = is_privileged ? NULL : keep("PIPEWIRE_DEBUG");
    int result = clearenv();
    if (result == 0) result = setenv("XDG_RUNTIME_DIR", own_runtime ? own_runtime : runtime, 1);
    if (result == 0) result = setenv("PIPEWIRE_NO_CONFIG", "1", 1);
    if (result == 0 && address) result = setenv("DBUS_SESSION_BUS_ADDRESS", address, 1);
    if (result == 0 && level) result = setenv("PIPEWIRE_DEBUG", level, 1);
    free(own_runtime);
    free(address);
    free(level);
    return result;
}

static void end(void *data, int number) {
    struct bridge *bridge = data;
    (void)number;
    pw_main_loop_quit(bridge->main_loop);
}

static void core_done(void *data, uint32_t id, int sequence) {
    if (id == PW_ID_CORE) visits_synced(data, sequence);
}

static void core_error(void *data, uint32_t id, int sequence, int result, const char *message) {
    struct bridge *bridge = data;
    (void)sequence;
    /* What another client took away meanwhile is not there any more: its removal is told, too. */
    if (id != PW_ID_CORE || result != -EPIPE) return;
    bridge_say("PipeWire is gone (%s)", message);
    /* The service manager starts this program again, with the next PipeWire. */
    bridge->result = 69;
    pw_main_loop_quit(bridge->main_loop);
}

static const struct pw_core_events core_events = {
    PW_VERSION_CORE_EVENTS,
    .done = core_done,
    .error = core_error,
};

static void helper_done(void *data, uint32_t id, int sequence) {
    struct bridge *bridge = data;
    struct visit *visit;
    if (id != PW_ID_CORE) return;
    spa_list_for_each(visit, &bridge->visits, link) sound_synced(visit, sequence);
}

static const struct pw_core_events helper_events = {
    .version = PW_VERSION_CORE_EVENTS,
    .done = helper_done,
    .error = core_error,
};

static struct pw_core *connect_core(struct bridge *bridge) {
    struct pw_properties *properties =
        pw_properties_new(PW_KEY_APP_NAME, "captured", PW_KEY_APP_ID, "org.capturekit.Capture1.PipeWire", NULL);
    return pw_context_connect(bridge->context, properties, 0);
}

static int connect_pipewire(struct bridge *bridge) {
    bridge->main_loop = pw_main_loop_new(NULL);
    if (!bridge->main_loop) return -errno;
    bridge->loop = pw_main_loop_get_loop(bridge->main_loop);
    /* The modules are those of /usr/share/pipewire/client-rt.conf: sound is not to wait for other programs. */
    bridge->context = pw_context_new(bridge->loop, pw_properties_new(PW_KEY_CONFIG_NAME, "client-rt.conf", NULL), 0);
    if (!bridge->context) return -errno;
    bridge->posts_source = pw_loop_add_event(bridge->loop, run_posts, bridge);
    bridge->strangers_source = pw_loop_add_event(bridge->loop, met_strangers, bridge);
    bridge->decoys_source = pw_loop_add_timer(bridge->loop, lost_decoys, bridge);
    bridge->check_source = pw_loop_add_timer(bridge->loop, checking_again, bridge);
    pw_loop_add_signal(bridge->loop, SIGINT, end, bridge);
    pw_loop_add_signal(bridge->loop, SIGTERM, end, bridge);
    bridge->core = connect_core(bridge);
    bridge->helper_core = bridge->core ? connect_core(bridge) : NULL;
    if (!bridge->helper_core) return -errno;
    pw_core_add_listener(bridge->core, &bridge->core_listener, &core_events, bridge);
    pw_core_add_listener(bridge->helper_core, &bridge->helper_listener, &helper_events, bridge);
    bridge->helper_registry = pw_core_get_registry(bridge->helper_core, PW_VERSION_REGISTRY, 0);
    if (!bridge->helper_registry) return -errno;
    return globals_begin(bridge);
}

static int serve(struct bridge *bridge) {
    int result = connect_pipewire(bridge);
    if (result < 0) {
        bridge_say("cannot connect to PipeWire: %s", strerror(-result));
        return 69;
    }
    result = devices_begin(bridge);
    if (result < 0) {
        bridge_say("cannot begin to list devices: %s", strerror(-result));
        return 70;
    }
    permission_begin();
    pw_main_loop_run(bridge->main_loop);
    permission_end();
    return bridge->result;
}

int main(int count, char **arguments) {
    struct bridge bridge = {.bus = CAPTURE_BUS_SYSTEM, .posts_lock = PTHREAD_MUTEX_INITIALIZER};
    bridge.last_post = &bridge.first_post;
    spa_list_init(&bridge.globals);
    spa_list_init(&bridge.decoys);
    spa_list_init(&bridge.visits);
    if (count == 2 && !strcmp(arguments[1], "--version")) {
        puts("captured-pipewire " CAPTURE_VERSION);
        return 0;
    }
    if (count == 3 && !strcmp(arguments[1], "--bus") && !strcmp(arguments[2], "session")) {
        bridge.bus = CAPTURE_BUS_SESSION;
    } else if (count != 1) {
        fputs("usage: captured-pipewire [--bus session | --version]\n", stderr);
        return 64;
    }
    /* Sockets among what its parent left open would look like its own. */
    if (close_range(3, ~0U, 0) != 0) {
        bridge_say("cannot close what is open: %s", strerror(errno));
        return 70;
    }
    /* What it captures is other programs'. */
    prctl(PR_SET_DUMPABLE, 0);
    if (clear_environment(bridge.bus) != 0) {
        bridge_say("cannot clear the environment");
        return 70;
    }
    signal(SIGPIPE, SIG_IGN);
    /* For the loop, whatever threads libpipewire starts. */
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    pw_init(NULL, NULL);
    /* The process ends at once: what a thread waits for is not waited for. captured and PipeWire see it go. */
    _exit(serve(&bridge));
}
