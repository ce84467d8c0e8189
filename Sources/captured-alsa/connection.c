/* The connection to the daemon, and the descriptor that the program polls. */
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool stream_is_forked(const struct stream *stream) { return stream->pid != getpid(); }

static int connect_client(struct stream *stream) {
    int result = capture_connect(CAPTURE_BUS_DEFAULT, &stream->client);
    if (result < 0) {
        stream->client = NULL;
        return stream_complain(result);
    }
    /* A program that never heard of captured cannot say why it captures. An older daemon does not know this. */
    capture_consent_explain(stream->client, "bridge", "alsa");
    return 0;
}

static int add(const struct stream *stream, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(stream->poll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Puts a descriptor at its number, if it had one. */
static int place(int made, int *fd) {
    if (made < 0) return -errno;
    if (*fd < 0) {
        *fd = made;
        return 0;
    }
    int result = dup3(made, *fd, O_CLOEXEC) < 0 ? -errno : 0;
    close(made);
    return result;
}

static int make_descriptors(struct stream *stream) {
    int result = place(epoll_create1(EPOLL_CLOEXEC), &stream->poll_fd);
    if (result == 0) result = place(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), &stream->event_fd);
    if (result == 0) result = add(stream, stream->event_fd);
    stream->watched_fd = -1;
    stream->is_raised = false;
    return result;
}

int stream_connect(struct stream *stream) {
    stream->pid = getpid();
    int result = make_descriptors(stream);
    return result < 0 ? result : connect_client(stream);
}

int stream_renew(struct stream *stream) {
    /* In a child these tell the daemon nothing. */
    capture_reader_free(stream->reader);
    capture_session_free(stream->session);
    capture_disconnect(stream->client);
    stream->reader = NULL;
    stream->session = NULL;
    stream->client = NULL;
    return stream_connect(stream);
}

void stream_disconnect(struct stream *stream) {
    capture_disconnect(stream->client);
    stream->client = NULL;
    if (stream->poll_fd >= 0) close(stream->poll_fd);
    if (stream->event_fd >= 0) close(stream->event_fd);
    stream->poll_fd = stream->event_fd = stream->watched_fd = -1;
}

/* A child shares what the descriptors stand for with its parent, and must not touch it. */
void stream_watch(struct stream *stream, int fd) {
    if (fd == stream->watched_fd || stream_is_forked(stream)) return;
    if (stream->watched_fd >= 0) epoll_ctl(stream->poll_fd, EPOLL_CTL_DEL, stream->watched_fd, NULL);
    stream->watched_fd = fd >= 0 && add(stream, fd) == 0 ? fd : -1;
}

void stream_raise(struct stream *stream, bool is_raised) {
    uint64_t count = 1;
    if (stream->is_raised == is_raised || stream_is_forked(stream)) return;
    stream->is_raised = is_raised;
    ssize_t done = is_raised ? write(stream->event_fd, &count, sizeof count)
                             : read(stream->event_fd, &count, sizeof count);
    (void)done;
}
