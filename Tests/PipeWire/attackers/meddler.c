/* A client of PipeWire that does to other clients' objects what its rights allow: one line of its input after another, over
   one connection. It prints what the server refuses.

   permit CLIENT OBJECT RIGHTS [OBJECT RIGHTS]...   has a client see and use objects; OBJECT is * for all others, and A-B for
                                                    a span; RIGHTS is a number
   create FACTORY TYPE KEY=VALUE...                 has the server make something
   link OUTPUT-PORT INPUT-PORT                      makes a link
   destroy OBJECT
   start NODE                                       sends a node the command that starts it
   monitor NODE                                     has an input node show what it gets at further ports
   sync                                             prints `done` when the server is there */
#include <pipewire/pipewire.h>
#include <spa/param/audio/format-utils.h>
#include <spa/pod/builder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_words = 4096 };

static struct pw_main_loop *loop;
static struct pw_core *core;
static struct pw_registry *registry;

static void permit(char **words, int count) {
    static struct pw_permission permissions[most_words * 4];
    uint32_t used = 0;
    struct pw_client *client =
        pw_registry_bind(registry, (uint32_t)atoi(words[1]), PW_TYPE_INTERFACE_Client, PW_VERSION_CLIENT, 0);
    for (int i = 2; i + 1 < count; i += 2) {
        uint32_t rights = (uint32_t)strtoul(words[i + 1], NULL, 0);
        char *rest;
        unsigned long first = strtoul(words[i], &rest, 10), last = *rest == '-' ? strtoul(rest + 1, NULL, 10) : first;
        if (words[i][0] == '*') permissions[used++] = PW_PERMISSION_INIT(PW_ID_ANY, rights);
        else for (; first <= last && used < SPA_N_ELEMENTS(permissions); first++)
            permissions[used++] = PW_PERMISSION_INIT((uint32_t)first, rights);
    }
    pw_client_update_permissions(client, used, permissions);
}

static void create(char **words, int count) {
    struct pw_properties *properties = pw_properties_new(NULL, NULL);
    for (int i = 3; i < count; i++) {
        char *is = strchr(words[i], '=');
        if (!is) continue;
        *is = '\0';
        pw_properties_set(properties, words[i], is + 1);
    }
    pw_core_create_object(core, words[1], words[2], 3, &properties->dict, 0);
    pw_properties_free(properties);
}

static void link_ports(const char *output, const char *input) {
    struct spa_dict_item items[] = {{PW_KEY_LINK_OUTPUT_PORT, output}, {PW_KEY_LINK_INPUT_PORT, input},
                                    {PW_KEY_OBJECT_LINGER, "true"}};
    pw_core_create_object(core, "link-factory", PW_TYPE_INTERFACE_Link, PW_VERSION_LINK, &SPA_DICT_INIT_ARRAY(items), 0);
}

static struct pw_node *node(const char *id) {
    return pw_registry_bind(registry, (uint32_t)atoi(id), PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, 0);
}

static void monitor(const char *id) {
    uint8_t space[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
    struct spa_audio_info_raw info = {.format = SPA_AUDIO_FORMAT_F32P, .rate = 48000, .channels = 2,
                                      .position = {SPA_AUDIO_CHANNEL_FL, SPA_AUDIO_CHANNEL_FR}};
    struct spa_pod *format = spa_format_audio_raw_build(&builder, SPA_PARAM_Format, &info);
    struct spa_pod *config = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamPortConfig, SPA_PARAM_PortConfig, SPA_PARAM_PORT_CONFIG_direction,
        SPA_POD_Id(SPA_DIRECTION_INPUT), SPA_PARAM_PORT_CONFIG_mode, SPA_POD_Id(SPA_PARAM_PORT_CONFIG_MODE_dsp),
        SPA_PARAM_PORT_CONFIG_monitor, SPA_POD_Bool(true), SPA_PARAM_PORT_CONFIG_format, SPA_POD_Pod(format));
    pw_node_set_param(node(id), SPA_PARAM_PortConfig, 0, config);
}

static void run(char *line) {
    char *words[most_words + 1] = {0};
    int count = 0;
    for (char *word = strtok(line, " \n"); word && count < most_words; word = strtok(NULL, " \n")) words[count++] = word;
    if (!count) return;
    if (!strcmp(words[0], "permit") && count > 3) permit(words, count);
    else if (!strcmp(words[0], "create") && count > 2) create(words, count);
    else if (!strcmp(words[0], "link") && count == 3) link_ports(words[1], words[2]);
    else if (!strcmp(words[0], "destroy") && count == 2) pw_registry_destroy(registry, (uint32_t)atoi(words[1]));
    else if (!strcmp(words[0], "monitor") && count == 2) monitor(words[1]);
    else if (!strcmp(words[0], "sync")) pw_core_sync(core, PW_ID_CORE, 0);
    else if (!strcmp(words[0], "start") && count == 2)
        pw_node_send_command(node(words[1]), &SPA_NODE_COMMAND_INIT(SPA_NODE_COMMAND_Start));
    else printf("what is %s?\n", words[0]);
}

static void readable(void *data, int fd, uint32_t mask) {
    static char text[262144];
    static size_t used;
    (void)data;
    (void)mask;
    ssize_t length = read(fd, text + used, sizeof text - used - 1);
    if (length <= 0) {
        pw_main_loop_quit(loop);
        return;
    }
    text[used += (size_t)length] = '\0';
    for (char *end; (end = strchr(text, '\n'));) {
        *end = '\0';
        run(text);
        used -= (size_t)(end + 1 - text);
        memmove(text, end + 1, used + 1);
    }
}

static void done(void *data, uint32_t id, int sequence) {
    (void)data;
    (void)sequence;
    if (id == PW_ID_CORE) printf("done\n");
}

static void error(void *data, uint32_t id, int sequence, int result, const char *message) {
    (void)data;
    (void)sequence;
    printf("error %u %d %s\n", id, result, message);
    if (id == PW_ID_CORE && result == -EPIPE) pw_main_loop_quit(loop);
}

static const struct pw_core_events core_events = {PW_VERSION_CORE_EVENTS, .done = done, .error = error};

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    pw_init(NULL, NULL);
    loop = pw_main_loop_new(NULL);
    struct pw_context *context = pw_context_new(pw_main_loop_get_loop(loop), NULL, 0);
    core = pw_context_connect(context, NULL, 0);
    if (!core) return 1;
    struct spa_hook hook;
    pw_core_add_listener(core, &hook, &core_events, NULL);
    registry = pw_core_get_registry(core, PW_VERSION_REGISTRY, 0);
    pw_loop_add_io(pw_main_loop_get_loop(loop), STDIN_FILENO, SPA_IO_IN, false, readable, NULL);
    pw_main_loop_run(loop);
    return 0;
}
