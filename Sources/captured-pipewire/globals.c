/* The objects of PipeWire's server, as far as they matter: clients, nodes, ports and links. */
#include "bridge.h"

#include <errno.h>
#include <spa/utils/string.h>
#include <stdlib.h>
#include <string.h>

struct global *globals_find(struct bridge *bridge, uint32_t id, enum global_kind kind) {
    struct global *global;
    spa_list_for_each(global, &bridge->globals, link)
        if (global->id == id && global->kind == kind) return global;
    return NULL;
}

struct global *globals_port(struct bridge *bridge, uint32_t node, bool is_output, const char *channel) {
    struct global *global;
    spa_list_for_each(global, &bridge->globals, link)
        if (global->kind == global_port && global->owner == node && global->is_output == is_output &&
            (!*channel || !strcmp(global->channel, channel)))
            return global;
    return NULL;
}

uint32_t globals_connections(struct bridge *bridge, int pid) {
    struct global *global;
    uint32_t count = 0;
    spa_list_for_each(global, &bridge->globals, link)
        if (global->kind == global_client && global->pid == pid) count++;
    return count;
}

struct capture_connections *globals_makers(struct bridge *bridge, size_t *count) {
    struct global *global;
    struct capture_connections *makers = calloc(globals_clients(bridge) + 1, sizeof *makers);
    *count = 0;
    if (!makers) return NULL;
    spa_list_for_each(global, &bridge->globals, link) {
        if (global->kind != global_client || global->pid <= 0) continue;
        size_t place = 0;
        while (place < *count && makers[place].process != (uint32_t)global->pid) place++;
        if (place == *count) makers[(*count)++].process = (uint32_t)global->pid;
        makers[place].count++;
    }
    return makers;
}

uint32_t globals_clients(struct bridge *bridge) {
    struct global *global;
    uint32_t count = 0;
    spa_list_for_each(global, &bridge->globals, link)
        if (global->kind == global_client && global->pid > 0) count++;
    return count;
}

static uint32_t number(const struct spa_dict *properties, const char *key) {
    uint32_t value;
    const char *text = properties ? spa_dict_lookup(properties, key) : NULL;
    return text && spa_atou32(text, &value, 10) ? value : SPA_ID_INVALID;
}

static bool read_global(struct global *global, const char *type, const struct spa_dict *properties) {
    if (!strcmp(type, PW_TYPE_INTERFACE_Client)) {
        global->kind = global_client;
        /* The server's word, unlike most of what a client has in its properties. */
        uint32_t pid = number(properties, PW_KEY_SEC_PID);
        global->pid = pid == SPA_ID_INVALID || pid > INT32_MAX ? 0 : (int)pid;
    } else if (!strcmp(type, PW_TYPE_INTERFACE_Node)) {
        global->kind = global_node;
        global->owner = number(properties, PW_KEY_CLIENT_ID);
        const char *class = properties ? spa_dict_lookup(properties, PW_KEY_MEDIA_CLASS) : NULL;
        global->is_camera = class && !strcmp(class, "Video/Source");
    } else if (!strcmp(type, PW_TYPE_INTERFACE_Port)) {
        global->kind = global_port;
        global->owner = number(properties, PW_KEY_NODE_ID);
        const char *direction = properties ? spa_dict_lookup(properties, PW_KEY_PORT_DIRECTION) : NULL;
        const char *channel = properties ? spa_dict_lookup(properties, PW_KEY_AUDIO_CHANNEL) : NULL;
        global->is_output = direction && !strcmp(direction, "out");
        strncpy(global->channel, channel ? channel : "", sizeof global->channel - 1);
    } else if (!strcmp(type, PW_TYPE_INTERFACE_Link)) {
        global->kind = global_link;
        global->output_node = number(properties, PW_KEY_LINK_OUTPUT_NODE);
        global->output_port = number(properties, PW_KEY_LINK_OUTPUT_PORT);
        global->input_node = number(properties, PW_KEY_LINK_INPUT_NODE);
        global->input_port = number(properties, PW_KEY_LINK_INPUT_PORT);
    } else {
        return false;
    }
    return true;
}

static void added(void *data, uint32_t id, uint32_t permissions, const char *type, uint32_t version,
                  const struct spa_dict *properties) {
    struct bridge *bridge = data;
    (void)permissions;
    (void)version;
    struct global *global = calloc(1, sizeof *global);
    if (!global) return;
    global->id = id;
    global->owner = SPA_ID_INVALID;
    if (!read_global(global, type, properties)) {
        free(global);
        return;
    }
    spa_list_append(&bridge->globals, &global->link);
    if (global->kind == global_client) bridge->client_changes++;
    if (global->kind == global_client) hiding_client(bridge, global);
    if (global->kind == global_link) visits_linked(bridge, global);
    if (global->is_camera) permission_look(bridge);
    if (global->kind == global_port) {
        hiding_port(bridge, global);
        visits_lead(bridge, global->owner);
    }
}

static void removed(void *data, uint32_t id) {
    struct bridge *bridge = data;
    struct global *global, *next;
    spa_list_for_each_safe(global, next, &bridge->globals, link) {
        if (global->id != id) continue;
        spa_list_remove(&global->link);
        if (global->kind == global_client) bridge->client_changes++;
        visits_gone(bridge, global);
        if (global->is_camera) permission_look(bridge);
        free(global);
        return;
    }
}

static const struct pw_registry_events registry_events = {
    PW_VERSION_REGISTRY_EVENTS,
    .global = added,
    .global_remove = removed,
};

int globals_begin(struct bridge *bridge) {
    bridge->registry = pw_core_get_registry(bridge->core, PW_VERSION_REGISTRY, 0);
    if (!bridge->registry) return -errno;
    pw_registry_add_listener(bridge->registry, &bridge->registry_listener, &registry_events, bridge);
    return 0;
}
