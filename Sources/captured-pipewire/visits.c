/* From a program's link to a decoy to the end of its capture. */
#include "bridge.h"

#include <errno.h>
#include <poll.h>
#include <spa/utils/string.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most_breaks = 3 };

static struct visit *find(struct bridge *bridge, uint32_t node, const struct decoy *decoy) {
    struct visit *visit;
    spa_list_for_each(visit, &bridge->visits, link)
        if (visit->node == node && !strcmp(visit->device, decoy->device->id)) return visit;
    return NULL;
}

static struct decoy *decoy_of(const struct visit *visit) {
    struct decoy *decoy;
    spa_list_for_each(decoy, &visit->bridge->decoys, link)
        if (!strcmp(decoy->device->id, visit->device)) return decoy;
    return NULL;
}

/* Whether any link leads from a node to another. */
static bool is_linked(struct bridge *bridge, uint32_t output, uint32_t input) {
    struct global *global;
    spa_list_for_each(global, &bridge->globals, link)
        if (global->kind == global_link && global->output_node == output && global->input_node == input) return true;
    return false;
}

/* While the pidfd says that it is still this process. */
uint64_t process_start_time(int pid, int pidfd) {
    char path[32], text[2048];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    /* The program's name stands in parentheses and may hold any character. */
    const char *at = strrchr(text, ')');
    unsigned long long start = 0;
    if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                      &start) != 1)
        return 0;
    struct pollfd ready = {.fd = pidfd, .events = POLLIN};
    return pidfd < 0 || poll(&ready, 1, 0) == 0 ? start : 0;
}

static void heard_client(void *data, const struct pw_client_info *info) {
    struct visit *visit = data;
    /* Its own word: the question is about the process all the same, and says what a yes covers. */
    const char *api = info->props ? spa_dict_lookup(info->props, PW_KEY_CLIENT_API) : NULL;
    if (api) visit->is_pulse = !strcmp(api, "pipewire-pulse");
    /* So is this. For others than the portal it changes nothing. */
    visit->is_portal = info->props && spa_dict_lookup(info->props, "pipewire.access.portal.media_roles");
    const char *process = info->props ? spa_dict_lookup(info->props, PW_KEY_APP_PROCESS_ID) : NULL;
    if (!process || !spa_atou32(process, &visit->said_pid, 10)) visit->said_pid = 0;
}

/* A node that lingers is not its client's, but the server's, which then takes any number for its client's. */
static void heard_node(void *data, const struct pw_node_info *info) {
    struct visit *visit = data;
    const char *lingers = info->props ? spa_dict_lookup(info->props, PW_KEY_OBJECT_LINGER) : NULL;
    if (lingers && spa_atob(lingers)) visit->is_lingering = true;
}

static const struct pw_node_events node_events = {.version = PW_VERSION_NODE_EVENTS, .info = heard_node};

static const struct pw_client_events client_events = {.version = PW_VERSION_CLIENT_EVENTS, .info = heard_client};

static void heard_format(void *data, int sequence, uint32_t id, uint32_t index, uint32_t next,
                         const struct spa_pod *format) {
    struct visit *visit = data;
    (void)sequence;
    (void)index;
    (void)next;
    if (id != SPA_PARAM_EnumFormat || visit->state != visit_looking || visit->pod_count == bridge_most_pods ||
        SPA_POD_SIZE(format) > bridge_most_pod_size || !spa_pod_is_object(format))
        return;
    struct spa_pod *copy = malloc(SPA_POD_SIZE(format));
    if (!copy) return;
    memcpy(copy, format, SPA_POD_SIZE(format));
    visit->pods[visit->pod_count++] = copy;
}

static const struct pw_port_events port_events = {.version = PW_VERSION_PORT_EVENTS, .param = heard_format};

static void *bind_global(struct visit *visit, uint32_t id, const char *type, uint32_t version) {
    return pw_registry_bind(visit->bridge->registry, id, type, version, 0);
}

/* Asks PipeWire about the program: once it has answered, who is still there was there when its process was pinned. */
static int look(struct visit *visit, const struct global *link) {
    visit->pidfd = (int)syscall(SYS_pidfd_open, visit->pid, 0);
    if (visit->pidfd < 0) return -errno;
    visit->start_time = process_start_time(visit->pid, visit->pidfd);
    if (!visit->start_time) return -ESRCH;
    visit->client = bind_global(visit, visit->client_id, PW_TYPE_INTERFACE_Client, PW_VERSION_CLIENT);
    visit->input = bind_global(visit, visit->node, PW_TYPE_INTERFACE_Node, PW_VERSION_NODE);
    visit->port = bind_global(visit, link->input_port, PW_TYPE_INTERFACE_Port, PW_VERSION_PORT);
    if (!visit->client || !visit->input || !visit->port) return -errno;
    pw_client_add_listener((struct pw_client *)visit->client, &visit->client_listener, &client_events, visit);
    pw_node_add_listener((struct pw_node *)visit->input, &visit->input_listener, &node_events, visit);
    pw_port_add_listener((struct pw_port *)visit->port, &visit->port_listener, &port_events, visit);
    pw_port_enum_params((struct pw_port *)visit->port, 0, SPA_PARAM_EnumFormat, 0, UINT32_MAX, NULL);
    visit->sequence = pw_core_sync(visit->bridge->core, PW_ID_CORE, 0);
    return 0;
}

static void begin(struct decoy *decoy, const struct global *link) {
    struct bridge *bridge = decoy->bridge;
    struct global *node = globals_find(bridge, link->input_node, global_node);
    struct global *client = node ? globals_find(bridge, node->owner, global_client) : NULL;
    /* Nodes of the server itself and programs that are nobody's get nothing: the decoy is silent. */
    if (!client || client->pid <= 0 || client->pid == getpid() || bridge->visit_count == bridge_most_visits) return;
    size_t count = 0;
    struct visit *visit;
    spa_list_for_each(visit, &bridge->visits, link) count += visit->pid == client->pid;
    if (count >= bridge_most_of_process) {
        bridge_say("process %d has %zu streams of captured's devices already, and gets no more", client->pid, count);
        return;
    }
    if (!(visit = calloc(1, sizeof *visit))) return;
    visit->bridge = bridge;
    visit->media = decoy->device->media;
    snprintf(visit->device, sizeof visit->device, "%s", decoy->device->id);
    snprintf(visit->device_name, sizeof visit->device_name, "%s", decoy->device->name);
    visit->node = node->id;
    visit->decoy_node = link->output_node;
    visit->input_port = link->input_port;
    visit->client_id = client->id;
    visit->pid = client->pid;
    visit->pidfd = -1;
    visit->private_node = SPA_ID_INVALID;
    spa_list_append(&bridge->visits, &visit->link);
    bridge->visit_count++;
    int result = look(visit, link);
    if (result < 0) {
        bridge_say("cannot look at process %d: %s", visit->pid, strerror(-result));
        visits_free(visit);
    }
}

/* Somebody else's link on a private node: it may have the memory, which is written no more. */
static void meet_stranger(struct visit *visit, uint32_t input_node) {
    struct global *node = globals_find(visit->bridge, input_node, global_node);
    struct global *client = node ? globals_find(visit->bridge, node->owner, global_client) : NULL;
    int pid = client ? client->pid : 0;
    if (pid) bridge_say("process %d linked itself to what process %d gets of %s, which ends both", pid, visit->pid,
                        visit->device_name);
    else bridge_say("somebody linked itself to what process %d gets of %s, which ends both", visit->pid,
                    visit->device_name);
    strangers_report(visit, pid);
    visits_end(visit, CAPTURE_REVOKED, "another program connected itself to this program's stream");
}

void visits_meet_strangers(struct bridge *bridge) {
    struct visit *visit;
    spa_list_for_each(visit, &bridge->visits, link)
        if (atomic_load(&visit->peers.has_stranger) && visit->state != visit_over)
            meet_stranger(visit, visit->peers.stranger);
}

void visits_linked(struct bridge *bridge, const struct global *link) {
    struct decoy *decoy = decoys_find(bridge, link->output_node);
    if (decoy) {
        struct visit *visit = find(bridge, link->input_node, decoy);
        if (!visit) begin(decoy, link);
        else if (visit->is_led && visit->state != visit_over && visit->media == CAPTURE_VIDEO)
            pw_registry_destroy(bridge->registry, link->id);
        return;
    }
    struct visit *visit;
    spa_list_for_each(visit, &bridge->visits, link)
        if (visit->private_node == link->output_node && visit->stream) {
            if (link->input_node != visit->node) meet_stranger(visit, link->input_node);
            return;
        }
}

/* What PipeWire said of the client is all there, and the client still is: its process is the one that was pinned. */
static void ask(struct visit *visit) {
    struct decoy *decoy = decoy_of(visit);
    if (!decoy) return;
    if (visit->is_lingering) {
        visits_end(visit, CAPTURE_NOT_PERMITTED, "a node of PipeWire's server only says that it is this program's");
        return;
    }
    if (visit->media == CAPTURE_VIDEO &&
        pictures_choose(decoy->device, (const struct spa_pod *const *)visit->pods, visit->pod_count,
                        &visit->picture) < 0) {
        visits_end(visit, CAPTURE_NO_SUCH_FORMAT, "this program takes none of the camera's formats");
        return;
    }
    if (visit->media == CAPTURE_AUDIO) sound_shape(decoy->device, &visit->sound_rate, &visit->sound_channels);
    visit->state = visit_asking;
    int result = asking_begin(visit);
    if (result < 0) visits_end(visit, CAPTURE_INTERNAL, strerror(-result));
}

static void connect_ports(struct visit *visit, size_t place, uint32_t output, uint32_t input) {
    struct pw_properties *properties = pw_properties_new(NULL, NULL);
    if (!properties) return;
    pw_properties_setf(properties, PW_KEY_LINK_OUTPUT_NODE, "%u", visit->private_node);
    pw_properties_setf(properties, PW_KEY_LINK_OUTPUT_PORT, "%u", output);
    pw_properties_setf(properties, PW_KEY_LINK_INPUT_NODE, "%u", visit->node);
    pw_properties_setf(properties, PW_KEY_LINK_INPUT_PORT, "%u", input);
    if (visit->links[place]) pw_proxy_destroy(visit->links[place]);
    visit->links[place] = pw_core_create_object(visit->bridge->core, "link-factory", PW_TYPE_INTERFACE_Link,
                                                PW_VERSION_LINK, &properties->dict, 0);
    pw_properties_free(properties);
}

/* The port of a private node for pictures, which has one, as long as the program's port is there. */
static struct global *port_of_pictures(struct visit *visit) {
    struct bridge *bridge = visit->bridge;
    bool is_wanted = visit->media == CAPTURE_VIDEO && globals_find(bridge, visit->input_port, global_port);
    return is_wanted ? globals_port(bridge, visit->private_node, true, "") : NULL;
}

/* PipeWire broke a link, and the program is still there: it would wait for ever. */
static void mend(struct visit *visit) {
    struct global *own = port_of_pictures(visit);
    visit->is_broken = false;
    if (!own) {
        visits_free(visit);
        return;
    }
    bridge_say("the link of process %d with %s broke, and is made again", visit->pid, visit->device_name);
    connect_ports(visit, 0, own->id, visit->input_port);
}

void visits_synced(struct bridge *bridge, int sequence) {
    struct visit *visit, *next;
    spa_list_for_each_safe(visit, next, &bridge->visits, link)
        if (visit->state == visit_looking && visit->sequence == sequence) ask(visit);
        else if (visit->state == visit_checking && visit->sequence == sequence) checking_look(visit);
        else if (visit->state == visit_capturing && visit->is_broken && visit->sequence == sequence) mend(visit);
}

void visit_answered(struct asking *asking) {
    struct visit *visit = asking->visit;
    visit->asking = NULL;
    visit->capture = asking->client;
    visit->session = asking->session;
    visit->reader = asking->reader;
    if (asking->code) {
        if (asking->code != CAPTURE_NOT_PERMITTED || !checking_retry(visit))
            visits_end(visit, asking->code, asking->sentence);
        return;
    }
    checking_begin(visit);
}

void visit_checked(struct visit *visit) {
    visit->state = visit_leading;
    int result = node_open(visit);
    if (result == -EBUSY) visits_end(visit, CAPTURE_BUSY, "another program uses the camera in a format of its own");
    else if (result < 0) visits_end(visit, CAPTURE_INTERNAL, strerror(-result));
}

/* Has its links lead from the private node instead of the decoy, in one message to the server. */
static void lead(struct visit *visit, uint32_t decoy_node) {
    struct bridge *bridge = visit->bridge;
    struct global *global, *next;
    size_t count = 0;
    spa_list_for_each(global, &bridge->globals, link) {
        if (global->kind != global_link || global->output_node != decoy_node || global->input_node != visit->node)
            continue;
        struct global *port = globals_find(bridge, global->output_port, global_port);
        if (!port || !globals_port(bridge, visit->private_node, true, port->channel)) return;
    }
    visit->is_led = true;
    spa_list_for_each_safe(global, next, &bridge->globals, link) {
        if (global->kind != global_link || global->output_node != decoy_node || global->input_node != visit->node)
            continue;
        struct global *port = globals_find(bridge, global->output_port, global_port);
        struct global *own = port ? globals_port(bridge, visit->private_node, true, port->channel) : NULL;
        if (!own || count == bridge_most_channels) continue;
        /* A silent microphone beside may stay: by it, PulseAudio's clients know what they record. */
        if (visit->media == CAPTURE_VIDEO) pw_registry_destroy(bridge->registry, global->id);
        connect_ports(visit, count++, own->id, global->input_port);
    }
    struct global *own = count ? NULL : port_of_pictures(visit);
    if (own) connect_ports(visit, count++, own->id, visit->input_port);
    visit->state = visit_capturing;
    if (!count) visits_free(visit);
}

void visits_lead(struct bridge *bridge, uint32_t node) {
    struct visit *visit, *next;
    spa_list_for_each_safe(visit, next, &bridge->visits, link) {
        struct decoy *decoy = decoy_of(visit);
        if (decoy && decoy->stream && node != SPA_ID_INVALID && visit->private_node == node && visit->state == visit_leading)
            lead(visit, pw_stream_get_node_id(decoy->stream));
    }
}

/* A link of its own is gone. Before the consent, the program or the session manager took it away. After it, both may still
   want it: while a link is replaced, the session manager may see it fail, or the new one may break. The public link of
   sound stays when it is led: who takes that away has the program record something else. */
static void lost_link(struct visit *visit, const struct global *link) {
    bool is_private = link->output_node == visit->private_node, is_public = link->output_node == visit->decoy_node;
    bool counts = visit->is_led ? is_private || (is_public && visit->media == CAPTURE_AUDIO) : is_public;
    if (!counts) return;
    if (visit->state == visit_over || is_linked(visit->bridge, link->output_node, link->input_node)) return;
    bool may_go_on = visit->media == CAPTURE_VIDEO && (visit->state == visit_leading || visit->state == visit_capturing);
    if (!may_go_on || visit->breaks++ == most_breaks) {
        visits_free(visit);
    } else if (visit->is_led) {
        visit->is_broken = true;
        visit->sequence = pw_core_sync(visit->bridge->core, PW_ID_CORE, 0);
    }
}

void visits_gone(struct bridge *bridge, const struct global *global) {
    struct visit *visit, *next;
    spa_list_for_each_safe(visit, next, &bridge->visits, link) {
        if (global->kind == global_node ? global->id == visit->node
                                        : global->kind == global_client && global->id == visit->client_id)
            visits_free(visit);
        else if (global->kind == global_link && global->input_node == visit->node) lost_link(visit, global);
    }
}
