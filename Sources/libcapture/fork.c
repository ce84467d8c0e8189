/* What becomes of clients in the child of a fork.

   A child has copies of its parent's bus sockets. While one is open, the bus takes the connection to be alive: the
   sessions of a parent that ended would go on. So the child's copies are replaced, at once and in place, since other
   code in the child may still hold their numbers. This list of clients is the library's only global state. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture_client *all;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int failure;

static void before_fork(void) { pthread_mutex_lock(&list_lock); }

static void in_parent(void) { pthread_mutex_unlock(&list_lock); }

/* Only calls that are safe in the child of a program with threads. */
static void in_child(void) {
    int saved = errno;
    for (struct capture_client *client = all; client; client = client->next_of_all) {
        if (client->bus_fd < 0) continue;
        int idle = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (idle < 0 || dup3(idle, client->bus_fd, O_CLOEXEC) < 0) close(client->bus_fd);
        if (idle >= 0) close(idle);
    }
    all = NULL;
    pthread_mutex_unlock(&list_lock);
    errno = saved;
}

void cap_fork_hold(void) { pthread_mutex_lock(&list_lock); }

void cap_fork_let(void) { pthread_mutex_unlock(&list_lock); }

static void install(void) { failure = pthread_atfork(before_fork, in_parent, in_child); }

int cap_fork_watch(struct capture_client *client) {
    pthread_once(&once, install);
    if (failure) return cap_fail_errno(CAPTURE_INTERNAL, failure, "prepare for forks");
    pthread_mutex_lock(&list_lock);
    client->next_of_all = all;
    all = client;
    pthread_mutex_unlock(&list_lock);
    return 0;
}

void cap_fork_forget(struct capture_client *client) {
    pthread_mutex_lock(&list_lock);
    for (struct capture_client **at = &all; *at; at = &(*at)->next_of_all)
        if (*at == client) {
            *at = client->next_of_all;
            break;
        }
    pthread_mutex_unlock(&list_lock);
}
