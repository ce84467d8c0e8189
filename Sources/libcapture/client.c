/* A connection to the bus, its lock and its lifetime. */
#include "internal.h"
#include "standard_bus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* How many messages are taken in at once, so that a flood does not hold a thread forever. */
enum { most_messages = 1000 };

int64_t cap_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * CAP_SECOND + now.tv_nsec;
}

int64_t cap_deadline(int timeout_ms) {
    return timeout_ms < 0 ? CAP_FOREVER : cap_now() + timeout_ms * INT64_C(1000000);
}

bool cap_is_forked(const struct capture_client *client) { return client->pid != getpid(); }

int cap_lock_open_or_not(struct capture_client *client) {
    if (cap_is_forked(client))
        return cap_fail(CAPTURE_WRONG_STATE, "this connection is of the process that forked; connect anew");
    pthread_mutex_lock(&client->lock);
    return 0;
}

int cap_lock(struct capture_client *client) {
    int result = cap_lock_open_or_not(client);
    if (result) return result;
    if (!client->is_closed) return 0;
    pthread_mutex_unlock(&client->lock);
    return cap_fail(CAPTURE_UNREACHABLE, "the connection to the bus is at its end; connect anew");
}

void cap_unlock(struct capture_client *client) { pthread_mutex_unlock(&client->lock); }

static void raise_fd(int fd) {
    uint64_t one = 1;
    /* A counter that is full is raised already. */
    ssize_t written = write(fd, &one, sizeof one);
    (void)written;
}

void cap_raise_locked(struct capture_client *client) {
    if (client->is_to_look) return;
    client->is_to_look = true;
    raise_fd(client->event_fd);
}

void cap_wake_locked(struct capture_client *client) {
    for (struct cap_waiter *waiter = client->waiters; waiter; waiter = waiter->next)
        if (waiter->fd >= 0) raise_fd(waiter->fd);
}

void cap_close_locked(struct capture_client *client) {
    if (client->is_closed) return;
    client->is_closed = true;
    cap_fork_hold();
    sd_bus_close(client->bus);
    client->bus_fd = -1;
    cap_fork_let();
    cap_set_owner_locked(client, NULL);
    cap_raise_locked(client);
    cap_wake_locked(client);
}

void cap_pump_locked(struct capture_client *client) {
    if (client->is_closed) return;
    int count = 0, result = 0;
    /* sd-bus closes its socket by itself when the connection is lost, and no fork may take that for another file. */
    cap_fork_hold();
    while (count < most_messages && (result = sd_bus_process(client->bus, NULL)) > 0) count++;
    int fd = sd_bus_get_fd(client->bus);
    client->bus_fd = fd < 0 ? -1 : fd;
    cap_fork_let();
    if (result < 0) {
        cap_close_locked(client);
    } else {
        if (count) cap_wake_locked(client);
        if (count == most_messages) cap_raise_locked(client);
    }
}

/* The bus that the environment names. */
static int find_default(enum capture_bus *kind) {
    const char *name = secure_getenv("CAPTURED_BUS");
    bool is_system = !name || !*name || !strcmp(name, "system");
    if (!is_system && strcmp(name, "session"))
        return cap_fail(CAPTURE_INVALID_ARGUMENT, "CAPTURED_BUS is '%.100s'; it must be system or session", name);
    *kind = is_system ? CAPTURE_BUS_SYSTEM : CAPTURE_BUS_SESSION;
    return 0;
}

static int open_bus(enum capture_bus kind, struct capture_client *client) {
    switch (kind) {
    case CAPTURE_BUS_SYSTEM: return standard_bus_open(&client->bus, true, "libcapture", &client->bus_fd);
    case CAPTURE_BUS_SESSION: return standard_bus_open(&client->bus, false, "libcapture", &client->bus_fd);
    default: return -EINVAL;
    }
}

static int watch_fds(struct capture_client *client) {
    client->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    client->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (client->event_fd < 0 || client->poll_fd < 0) return -errno;
    struct epoll_event input = {.events = EPOLLIN};
    if (epoll_ctl(client->poll_fd, EPOLL_CTL_ADD, client->event_fd, &input) < 0) return -errno;
    return epoll_ctl(client->poll_fd, EPOLL_CTL_ADD, client->bus_fd, &input) < 0 ? -errno : 0;
}

/* Hears who is the daemon from now on. With this answer, the bus has greeted, too. */
static int listen_locked(struct capture_client *client) {
    int result = sd_bus_add_filter(client->bus, NULL, cap_heard, client);
    if (result < 0) return cap_fail_errno(CAPTURE_INTERNAL, -result, "listen on the bus");
    return cap_ask_locked(client, "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", NULL, "s",
                          "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                          "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" CAP_SERVICE "'");
}

int capture_connect(enum capture_bus kind, struct capture_client **made) {
    if (!made) return cap_fail(CAPTURE_INVALID_ARGUMENT, "there is no place for the client");
    *made = NULL;
    int result = kind == CAPTURE_BUS_DEFAULT ? find_default(&kind) : 0;
    if (result < 0) return result;
    struct capture_client *client = calloc(1, sizeof *client);
    if (!client) return cap_fail_errno(CAPTURE_INTERNAL, ENOMEM, "connect");
    client->references = 1;
    client->pid = getpid();
    client->event_fd = client->poll_fd = client->bus_fd = -1;
    client->last_event = &client->first_event;
    pthread_mutex_init(&client->lock, NULL);
    /* First of all: another thread may fork while this one waits for the bus. */
    result = cap_fork_watch(client);
    if (result < 0) {
        capture_disconnect(client);
        return result;
    }
    result = open_bus(kind, client);
    if (result >= 0) result = client->bus_fd = sd_bus_get_fd(client->bus);
    if (result >= 0) result = watch_fds(client);
    if (result < 0) {
        result = result == -EINVAL ? cap_fail(CAPTURE_INVALID_ARGUMENT, "there is no bus of number %d", (int)kind)
                                   : cap_fail_errno(CAPTURE_UNREACHABLE, -result, "connect to the bus");
        client->bus_fd = -1;
    } else {
        pthread_mutex_lock(&client->lock);
        result = listen_locked(client);
        pthread_mutex_unlock(&client->lock);
    }
    if (result < 0) {
        capture_disconnect(client);
        return result;
    }
    *made = client;
    return 0;
}

struct capture_client *cap_client_keep(struct capture_client *client) {
    atomic_fetch_add(&client->references, 1);
    return client;
}

static void free_lists(struct capture_client *client) {
    while (client->first_event) {
        struct cap_event_node *node = client->first_event;
        client->first_event = node->next;
        free(node);
    }
    while (client->early) {
        struct cap_request *early = client->early;
        client->early = early->next;
        free(early);
    }
    while (client->usages) {
        struct cap_usage *usage = client->usages;
        client->usages = usage->next;
        free(usage->service);
        free(usage->reason);
        free(usage);
    }
    free(client->owner);
}

void cap_client_release(struct capture_client *client) {
    if (atomic_fetch_sub(&client->references, 1) != 1) return;
    if (client->event_fd >= 0) close(client->event_fd);
    if (client->poll_fd >= 0) close(client->poll_fd);
    if (cap_is_forked(client)) {
        /* A thread that is not here may have been in the midst of the bus's state: only the descriptor goes. */
        if (client->bus_fd >= 0) close(client->bus_fd);
    } else {
        cap_fork_forget(client);
        sd_bus_unref(client->bus);
        pthread_mutex_destroy(&client->lock);
    }
    free_lists(client);
    free(client);
}

void capture_disconnect(struct capture_client *client) {
    if (!client) return;
    if (client->bus && cap_lock_open_or_not(client) == 0) {
        cap_close_locked(client);
        cap_unlock(client);
    }
    cap_client_release(client);
}

int capture_fd(struct capture_client *client) { return client->poll_fd; }

int capture_dispatch(struct capture_client *client) {
    int result = cap_lock_open_or_not(client);
    if (result) return result;
    if (client->is_to_look) {
        uint64_t count;
        ssize_t got = read(client->event_fd, &count, sizeof count);
        (void)got;
        client->is_to_look = false;
    }
    cap_pump_locked(client);
    int waiting = client->event_count > INT32_MAX ? INT32_MAX : (int)client->event_count;
    if (waiting) cap_raise_locked(client);
    bool is_closed = client->is_closed;
    cap_unlock(client);
    return is_closed && !waiting ? cap_fail(CAPTURE_UNREACHABLE, "the connection to the bus is lost") : waiting;
}
