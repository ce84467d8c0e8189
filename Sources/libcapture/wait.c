/* Waiting for what the bus brings, in any number of threads at once.

   All of them poll the bus's socket. The one that takes a message in wakes the others, because for them the socket
   may be empty again before they look. */
#include "internal.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Without a descriptor to be woken by, for a program that has used up its own. */
enum { blind_ms = 20 };

static void add_locked(struct capture_client *client, struct cap_waiter *waiter) {
    waiter->next = client->waiters;
    client->waiters = waiter;
}

static void remove_locked(struct capture_client *client, struct cap_waiter *waiter) {
    for (struct cap_waiter **at = &client->waiters; *at; at = &(*at)->next)
        if (*at == waiter) {
            *at = waiter->next;
            return;
        }
}

/* When sd-bus wants to be called whatever happens: at once if it has messages read already. */
static int64_t bus_deadline_locked(struct capture_client *client) {
    uint64_t microseconds;
    if (client->is_closed || sd_bus_get_timeout(client->bus, &microseconds) <= 0) return CAP_FOREVER;
    return microseconds > (uint64_t)INT64_MAX / 1000 ? CAP_FOREVER : (int64_t)microseconds * 1000;
}

static void poll_locked(struct capture_client *client, struct cap_waiter *waiter, int64_t deadline, int cancel_fd) {
    struct pollfd files[3] = {
        {.fd = client->is_closed ? -1 : client->bus_fd},
        {.fd = waiter->fd, .events = POLLIN},
        {.fd = cancel_fd, .events = POLLIN},
    };
    int events = client->is_closed ? 0 : sd_bus_get_events(client->bus);
    files[0].events = (short)(events < 0 ? 0 : events);
    int64_t until = bus_deadline_locked(client);
    if (deadline < until) until = deadline;
    int64_t blind = waiter->fd < 0 ? cap_now() + blind_ms * INT64_C(1000000) : CAP_FOREVER;
    if (blind < until) until = blind;
    cap_unlock(client);
    int64_t rest = until == CAP_FOREVER ? 0 : until - cap_now();
    if (rest < 0) rest = 0;
    struct timespec time = {.tv_sec = rest / CAP_SECOND, .tv_nsec = rest % CAP_SECOND};
    /* A signal, too, leads to another look. */
    ppoll(files, 3, until == CAP_FOREVER ? NULL : &time, NULL);
    if (files[1].revents & POLLIN) {
        uint64_t count;
        ssize_t got = read(waiter->fd, &count, sizeof count);
        (void)got;
    }
    pthread_mutex_lock(&client->lock);
}

static bool is_readable(int fd) {
    struct pollfd file = {.fd = fd, .events = POLLIN};
    return fd >= 0 && poll(&file, 1, 0) > 0;
}

int cap_wait_locked(struct capture_client *client, bool (*is_done)(void *), void *context, int64_t deadline,
                    int cancel_fd, const atomic_bool *cancelled) {
    cap_pump_locked(client);
    if (is_done(context)) return 0;
    struct cap_waiter waiter = {.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    int result = 0;
    add_locked(client, &waiter);
    while (!is_done(context)) {
        if (is_readable(cancel_fd) || (cancelled && atomic_load(cancelled))) {
            result = -CAPTURE_DISMISSED;
            break;
        }
        if (deadline != CAP_FOREVER && cap_now() >= deadline) {
            result = -CAPTURE_TIMED_OUT;
            break;
        }
        poll_locked(client, &waiter, deadline, cancel_fd);
        /* Not to wake itself. */
        remove_locked(client, &waiter);
        cap_pump_locked(client);
        add_locked(client, &waiter);
    }
    remove_locked(client, &waiter);
    if (waiter.fd >= 0) close(waiter.fd);
    return result;
}
