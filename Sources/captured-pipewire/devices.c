/* The thread that lists captured's devices, whenever they change. */
#include "bridge.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

/* How long captured is left alone after it was not there. */
enum { retry_ms = 2000 };

static void run_list(struct bridge_post *post) {
    decoys_update((struct device_list *)post);
}

static int tell(struct bridge *bridge, struct capture_client *client) {
    struct device_list *list = calloc(1, sizeof *list);
    if (!list) return -CAPTURE_INTERNAL;
    list->post.run = run_list;
    list->bridge = bridge;
    int result = client ? capture_devices(client, &list->devices) : 0;
    if (result < 0) list->devices = NULL;
    bridge_post(bridge, &list->post);
    return result;
}

/* Until the connection is lost, or captured is. */
static void follow(struct bridge *bridge, struct capture_client *client) {
    if (capture_devices_watch(client, 1) < 0 || tell(bridge, client) < 0) return;
    while (true) {
        struct pollfd fd = {.fd = capture_fd(client), .events = POLLIN};
        poll(&fd, 1, -1);
        if (capture_dispatch(client) < 0) return;
        bool is_news = false;
        struct capture_event event = {.size = sizeof event};
        while (capture_next_event(client, &event) == 1) {
            if (event.kind == CAPTURE_EVENT_DAEMON_GONE) return;
            is_news = true;
            event.size = sizeof event;
        }
        if (is_news && tell(bridge, client) < 0) return;
    }
}

static void *list_devices(void *data) {
    struct bridge *bridge = data;
    while (true) {
        struct capture_client *client = NULL;
        if (capture_connect(bridge->bus, &client) == 0) {
            follow(bridge, client);
            capture_disconnect(client);
        }
        tell(bridge, NULL);
        poll(NULL, 0, retry_ms);
    }
    return NULL;
}

int devices_begin(struct bridge *bridge) {
    pthread_t thread;
    int result = pthread_create(&thread, NULL, list_devices, bridge);
    if (result) return -result;
    pthread_setname_np(thread, "devices");
    pthread_detach(thread);
    return 0;
}
