/* Who is connected to a private node, by what PipeWire's server tells the node itself as soon as a link is made. Links as
   objects do not tell: any client of PipeWire 0.3.65 can take the sight of them from another one. */
#include "bridge.h"

#include <pipewire/extensions/client-node.h>
#include <errno.h>
#include <spa/node/io.h>
#include <string.h>

enum { most_proxies = 8192 };

static bool is_node(struct bridge *bridge, uint32_t id) {
    struct pw_proxy *proxy = pw_core_find_proxy(bridge->core, id);
    const char *type = proxy ? pw_proxy_get_type(proxy, NULL) : NULL;
    return type && !strcmp(type, PW_TYPE_INTERFACE_ClientNode);
}

static void meet(struct visit *visit, uint32_t node) {
    if (atomic_load(&visit->peers.has_stranger)) return;
    visit->peers.stranger = node;
    atomic_store(&visit->peers.has_stranger, true);
    if (visit->media == CAPTURE_VIDEO) video_wipe(visit);
    /* The stream cannot be destroyed by its own listener. */
    pw_loop_signal_event(visit->bridge->loop, visit->bridge->strangers_source);
}

static void take_away(struct peers *peers, uint32_t node) {
    for (size_t i = 0; i < peers->count; i++) {
        if (peers->nodes[i] != node) continue;
        peers->nodes[i] = peers->nodes[--peers->count];
        return;
    }
}

/* The program's node, for each of its links, and once the node at whose clock the graph runs. */
static int peer_changed(void *data, uint32_t node, int signal, uint32_t memory, uint32_t offset, uint32_t size) {
    struct visit *visit = data;
    struct peers *peers = &visit->peers;
    (void)memory;
    (void)offset;
    (void)size;
    if (node == visit->node) return 0;
    if (signal < 0) {
        take_away(peers, node);
        return 0;
    }
    bool is_driver = node == peers->driver;
    for (size_t i = 0; i < peers->count; i++) is_driver &= peers->nodes[i] != node;
    if (peers->count < BRIDGE_COUNT(peers->nodes)) peers->nodes[peers->count++] = node;
    else is_driver = false;
    if (!is_driver) meet(visit, node);
    return 0;
}

static const struct pw_client_node_events node_events = {PW_VERSION_CLIENT_NODE_EVENTS, .set_activation = peer_changed};

void peers_forget(struct visit *visit) {
    struct peers *peers = &visit->peers;
    if (!peers->proxy) return;
    spa_hook_remove(&peers->node_listener);
    spa_hook_remove(&peers->proxy_listener);
    peers->proxy = NULL;
    peers->count = 0;
}

static void destroyed(void *data) { peers_forget(data); }

static const struct pw_proxy_events proxy_events = {PW_VERSION_PROXY_EVENTS, .destroy = destroyed};

void peers_io_changed(void *data, uint32_t id, void *area, uint32_t size) {
    struct visit *visit = data;
    const struct spa_io_position *position = area;
    /* The server says so before it names the driver as a peer. */
    if (id == SPA_IO_Position)
        visit->peers.driver = area && size >= sizeof *position ? position->clock.id : SPA_ID_INVALID;
}

/* A stream does not tell the proxy of its node: it is the one that has come when it is connected. */
int peers_connect(struct visit *visit, int connect(struct visit *)) {
    static bool is_known[most_proxies];
    struct bridge *bridge = visit->bridge;
    visit->peers.driver = SPA_ID_INVALID;
    for (uint32_t id = 0; id < most_proxies; id++) is_known[id] = is_node(bridge, id);
    int result = connect(visit);
    if (result < 0) return result;
    for (uint32_t id = 0; id < most_proxies && !visit->peers.proxy; id++)
        if (!is_known[id] && is_node(bridge, id)) visit->peers.proxy = pw_core_find_proxy(bridge->core, id);
    if (!visit->peers.proxy) return -ENOENT;
    pw_proxy_add_listener(visit->peers.proxy, &visit->peers.proxy_listener, &proxy_events, visit);
    pw_proxy_add_object_listener(visit->peers.proxy, &visit->peers.node_listener, &node_events, visit);
    return 0;
}
