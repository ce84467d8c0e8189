/* Private nodes are shown to nobody else: who does not see a node cannot have the session manager link to it. */
#include "bridge.h"

#include <unistd.h>

/* Beside one for each channel, PipeWire may add some of its own. */
enum { most_ports = 2 * bridge_most_channels };

/* The ports first: GStreamer's list of devices crashes (0.3.65) over a port whose node went before it. So a node is
   hidden once it has a port. */
static void hide(struct bridge *bridge, const struct global *client, uint32_t node) {
    struct pw_permission hidden[most_ports + 1];
    uint32_t count = 0;
    struct global *global;
    spa_list_for_each(global, &bridge->globals, link)
        if (global->kind == global_port && global->owner == node && count < most_ports)
            hidden[count++] = PW_PERMISSION_INIT(global->id, 0);
    if (!count || client->pid == getpid()) return;
    hidden[count++] = PW_PERMISSION_INIT(node, 0);
    struct pw_proxy *proxy =
        pw_registry_bind(bridge->registry, client->id, PW_TYPE_INTERFACE_Client, PW_VERSION_CLIENT, 0);
    if (!proxy) return;
    pw_client_update_permissions((struct pw_client *)proxy, count, hidden);
    pw_proxy_destroy(proxy);
}

void hiding_node(struct bridge *bridge, uint32_t node) {
    struct global *global;
    spa_list_for_each(global, &bridge->globals, link)
        if (global->kind == global_client) hide(bridge, global, node);
}

void hiding_client(struct bridge *bridge, const struct global *client) {
    struct visit *visit;
    spa_list_for_each(visit, &bridge->visits, link)
        if (visit->private_node != SPA_ID_INVALID) hide(bridge, client, visit->private_node);
}

void hiding_port(struct bridge *bridge, const struct global *port) {
    struct visit *visit;
    spa_list_for_each(visit, &bridge->visits, link)
        if (visit->private_node != SPA_ID_INVALID && visit->private_node == port->owner)
            hiding_node(bridge, port->owner);
}
