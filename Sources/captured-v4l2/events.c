/* Events about controls. A thread hears them from the daemon, from the first subscription on. */
#include "shim.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static struct v4l2_event_subscription *subscription(struct file *file, uint32_t id) {
    for (uint32_t i = 0; i < file->subscription_count; i++)
        if (file->subscriptions[i].id == id) return &file->subscriptions[i];
    return NULL;
}

static void push_locked(struct file *file, uint32_t id, const struct v4l2_event_ctrl *control) {
    struct v4l2_event event = {.type = V4L2_EVENT_CTRL, .id = id, .u.ctrl = *control};
    for (uint32_t i = 0; i < file->event_count; i++)
        if (file->events[i].id == id) {
            /* One for each control; the newest value counts. */
            event.u.ctrl.changes |= file->events[i].u.ctrl.changes;
            memmove(&file->events[i], &file->events[i + 1], (--file->event_count - i) * sizeof event);
            break;
        }
    if (file->event_count == shim_most_events)
        memmove(file->events, file->events + 1, --file->event_count * sizeof event);
    event.sequence = file->event_sequence++;
    clock_gettime(CLOCK_MONOTONIC, &event.timestamp);
    file->events[file->event_count++] = event;
    shim_settle_locked(file);
}

void shim_expect_echo(struct file *file, uint32_t id, int64_t value) {
    size_t oldest = 0;
    for (size_t i = 0; i < SHIM_COUNT(file->echoes); i++)
        if (file->echoes[i].until < file->echoes[oldest].until) oldest = i;
    file->echoes[oldest].id = id;
    file->echoes[oldest].value = value;
    file->echoes[oldest].until = shim_now() + INT64_C(2000000000);
}

/* Whether this change is the file's own, which it is told only if it asked for that. */
static bool is_echo_locked(struct file *file, uint32_t id, int64_t value) {
    for (size_t i = 0; i < SHIM_COUNT(file->echoes); i++)
        if (file->echoes[i].id == id && file->echoes[i].value == value && file->echoes[i].until > shim_now()) {
            file->echoes[i].until = 0;
            return true;
        }
    return false;
}

static void changed_locked(struct file *file, const struct capture_event *event) {
    struct v4l2_event_ctrl control;
    uint32_t id = 0;
    file->controls_at = 0;
    if (!shim_describe(file, event->name, &id, &control)) return;
    const struct v4l2_event_subscription *its = subscription(file, id);
    bool is_echo = is_echo_locked(file, id, event->value);
    if (!its || (is_echo && !(its->flags & V4L2_EVENT_SUB_FL_ALLOW_FEEDBACK))) return;
    control.value64 = event->value;
    control.changes = V4L2_EVENT_CTRL_CH_VALUE;
    push_locked(file, id, &control);
}

static void *watch(void *context) {
    struct file *file = context;
    struct pollfd files[2] = {{.fd = lib.fd(file->camera.client), .events = POLLIN},
                              {.fd = file->watch_stop, .events = POLLIN}};
    while (true) {
        struct capture_event event = {.size = sizeof event};
        if (poll(files, 2, -1) < 0 && errno != EINTR) break;
        if (files[1].revents || lib.dispatch(file->camera.client) < 0) break;
        while (lib.next_event(file->camera.client, &event) == 1) {
            if (event.kind != CAPTURE_EVENT_CONTROL_CHANGED || strcmp(event.device, file->camera.device->id)) continue;
            pthread_mutex_lock(&file->lock);
            changed_locked(file, &event);
            pthread_mutex_unlock(&file->lock);
        }
    }
    return NULL;
}

static int watch_locked(struct file *file) {
    if (file->is_watched) return 0;
    int stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop < 0) return errno;
    stop = shim_moved(stop);
    pthread_mutex_unlock(&file->lock);
    int result = lib.controls_watch(file->camera.client, file->camera.device->id, 1);
    pthread_mutex_lock(&file->lock);
    int error = result < 0 ? shim_error(result) : 0;
    if (error || file->is_watched) {
        /* Another thread of the program's may have been faster. */
        real_close(stop);
        return error;
    }
    file->watch_stop = stop;
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    error = pthread_create(&file->watcher, NULL, watch, file);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        real_close(file->watch_stop);
        file->watch_stop = -1;
        return error;
    }
    file->is_watched = true;
    return 0;
}

void shim_watch_end(struct file *file) {
    uint64_t one = 1;
    if (!file->is_watched) return;
    ssize_t written = write(file->watch_stop, &one, sizeof one);
    (void)written;
    pthread_join(file->watcher, NULL);
    real_close(file->watch_stop);
    file->is_watched = false;
}

int shim_subscribe(struct file *file, struct v4l2_event_subscription *argument) {
    struct v4l2_event_ctrl control;
    uint32_t id = argument->id;
    memset(argument->reserved, 0, sizeof argument->reserved);
    if (argument->type != V4L2_EVENT_CTRL || !id || !shim_describe(file, "", &id, &control)) return EINVAL;
    if (file->is_gone) return ENODEV;
    int error = watch_locked(file);
    if (error) return error;
    /* It lets go of the lock. */
    if (subscription(file, id)) return 0;
    if (file->subscription_count == shim_most_subscriptions) return ENOMEM;
    file->subscriptions[file->subscription_count++] = *argument;
    if (argument->flags & V4L2_EVENT_SUB_FL_SEND_INITIAL && control.type != V4L2_CTRL_TYPE_CTRL_CLASS) {
        control.changes = V4L2_EVENT_CTRL_CH_FLAGS | V4L2_EVENT_CTRL_CH_VALUE;
        push_locked(file, id, &control);
    }
    return 0;
}

int shim_unsubscribe(struct file *file, const struct v4l2_event_subscription *argument) {
    bool is_all = argument->type == V4L2_EVENT_ALL;
    if (!is_all && argument->type != V4L2_EVENT_CTRL) return 0;
    for (uint32_t i = 0; i < file->subscription_count;)
        if (is_all || file->subscriptions[i].id == argument->id)
            file->subscriptions[i] = file->subscriptions[--file->subscription_count];
        else i++;
    for (uint32_t i = 0; i < file->event_count;)
        if (is_all || file->events[i].id == argument->id)
            memmove(&file->events[i], &file->events[i + 1], (--file->event_count - i) * sizeof *file->events);
        else i++;
    shim_settle_locked(file);
    return 0;
}

int shim_dequeue_event(struct file *file, struct v4l2_event *argument, bool waits) {
    while (!file->event_count) {
        if (file->is_gone) return ENODEV;
        if (!waits) return ENOENT;
        int error = shim_sleep_locked(file);
        if (error) return error;
    }
    *argument = file->events[0];
    memmove(file->events, file->events + 1, --file->event_count * sizeof *argument);
    argument->pending = file->event_count;
    shim_settle_locked(file);
    return 0;
}
