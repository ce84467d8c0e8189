/* Scenes about descriptors, processes, threads and signals. */
#define _GNU_SOURCE
#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void frames(int fd, int count) {
    struct v4l2_buffer buffer;
    while (count--) {
        if (dequeue(fd, &buffer)) wrong("DQBUF");
        look(fd, &buffer);
    }
}

int duplicated(char **arguments) {
    (void)arguments;
    start(0);
    int copies[] = {dup(camera), dup2(camera, 77), dup3(camera, 78, O_CLOEXEC), fcntl(camera, F_DUPFD_CLOEXEC, 80)};
    close(camera);
    for (int i = 0; i < 4; i++) {
        need(copies[i], "a copy");
        frames(copies[i], 3);
        if (i < 3) close(copies[i]);
    }
    /* Another file in the place of the last one closes the camera. */
    int other = open("/dev/null", O_RDWR);
    need(dup2(other, copies[3]), "dup2");
    struct v4l2_capability capability;
    if (call(copies[3], VIDIOC_QUERYCAP, &capability) != ENOTTY) wrong("still a camera");
    say("closed");
    getchar();
    return 0;
}

/* Closed behind the library's back. */
int closed(char **arguments) {
    (void)arguments;
    start(0);
    frames(camera, 3);
    say("streams");
    fclose(fdopen(camera, "r"));
    say("closed");
    getchar();
    closefrom(3);
    start(0);
    frames(camera, 3);
    say("streams again");
    return 0;
}

int forked(char **arguments) {
    int status;
    (void)arguments;
    start(0);
    frames(camera, 3);
    pid_t child = fork();
    if (!child) {
        struct v4l2_buffer buffer;
        struct v4l2_capability capability;
        /* An open of its own, which does not stream. */
        if (call(camera, VIDIOC_QUERYCAP, &capability)) _exit(1);
        if (dequeue(camera, &buffer) != EINVAL) _exit(2);
        if (close(camera)) _exit(3);
        _exit(0);
    }
    frames(camera, 10);
    if (waitpid(child, &status, 0) != child) wrong("waitpid");
    say("the child ends with %d", WEXITSTATUS(status));
    frames(camera, 10);
    stream(camera, 0);
    request_buffers(camera, V4L2_MEMORY_MMAP, 0);
    /* A program that becomes a daemon after it opened. */
    child = fork();
    if (!child) {
        choose(camera);
        request_buffers(camera, V4L2_MEMORY_MMAP, 4);
        for (unsigned i = 0; i < buffer_count; i++) queue(camera, i);
        stream(camera, 1);
        struct pollfd file = {.fd = camera, .events = POLLIN};
        if (poll(&file, 1, 20000) != 1) wrong("poll in the child");
        frames(camera, 10);
        say("the child streams");
        _exit(0);
    }
    close(camera);
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int executed(char **arguments) {
    char number[16];
    start(0);
    frames(camera, 3);
    snprintf(number, sizeof number, "%d", camera);
    execl("/proc/self/exe", arguments[0], node, "inherited", number, NULL);
    wrong("exec");
}

/* What another program gets leads nowhere. */
int inherited(char **arguments) {
    struct v4l2_capability capability;
    int fd = atoi(arguments[3]), error = call(fd, VIDIOC_QUERYCAP, &capability);
    struct pollfd file = {.fd = fd, .events = POLLIN};
    poll(&file, 1, 0);
    say("inherited: %s%s", strerror(error), file.revents & POLLHUP ? ", hung up" : "");
    getchar();
    return 0;
}

static void *waiting(void *context) {
    struct v4l2_buffer buffer;
    int error;
    while ((error = dequeue(camera, &buffer)) == 0) look(camera, &buffer);
    *(int *)context = error;
    return NULL;
}

static void *waiting_once(void *context) {
    struct v4l2_buffer buffer;
    *(int *)context = dequeue(camera, &buffer);
    return NULL;
}

int threads(char **arguments) {
    pthread_t thread, other;
    int result = 0, second = 0;
    (void)arguments;
    start(0);
    pthread_create(&thread, NULL, waiting, &result);
    usleep(300000);
    stream(camera, 0);
    pthread_join(thread, NULL);
    say("stopped while one waits: %s", strerror(result));
    /* Closed while one waits: the frame still comes, as with a driver. */
    for (unsigned i = 0; i < buffer_count; i++) queue(camera, i);
    stream(camera, 1);
    pthread_create(&thread, NULL, waiting_once, &result);
    pthread_create(&other, NULL, waiting_once, &second);
    close(camera);
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
    /* A number that was closed before the call may be another file's by then. */
    int is_fine = !result || result == EBADF || result == ENOTTY;
    int is_also = !second || second == EBADF || second == ENOTTY;
    if (!is_fine || !is_also) say("errors %d and %d", result, second);
    say("closed while they wait");
    return 0;
}

static void *until_cancelled(void *context) {
    struct v4l2_buffer buffer;
    while (dequeue(camera, &buffer) == 0) {
        look(camera, &buffer);
        ++*(_Atomic int *)context;
        pthread_testcancel();
    }
    return NULL;
}

/* With a driver no call of the loop's is a point of cancellation. */
int cancelled(char **arguments) {
    pthread_t thread;
    void *result;
    (void)arguments;
    start(0);
    for (int i = 0; i < 5; i++) {
        _Atomic int seen = 0;
        pthread_create(&thread, NULL, until_cancelled, (void *)&seen);
        while (seen < 3) usleep(1000);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED) wrong("the thread ended by itself");
        stream(camera, 0);
        for (unsigned k = 0; k < buffer_count; k++) queue(camera, k);
        stream(camera, 1);
    }
    close(camera);
    say("cancelled");
    getchar();
    return 0;
}

/* Closed while one waits that gets no frame any more. */
int abandoned(char **arguments) {
    struct v4l2_buffer buffer;
    pthread_t thread;
    int result = 0;
    (void)arguments;
    start(0);
    for (unsigned i = 0; i < buffer_count; i++)
        if (dequeue(camera, &buffer)) wrong("DQBUF");
    pthread_create(&thread, NULL, waiting_once, &result);
    usleep(100000);
    close(camera);
    pthread_join(thread, NULL);
    say("it waits no longer: %s", strerror(result));
    return 0;
}

/* A child has copies of all descriptors while the stream ends by itself. */
int with_child(char **arguments) {
    struct v4l2_buffer buffer;
    (void)arguments;
    start(O_NONBLOCK);
    pid_t child = fork();
    if (!child) {
        /* No longer than the test, if that fails. */
        alarm(60);
        pause();
        _exit(0);
    }
    say("streams");
    struct pollfd file = {.fd = camera, .events = POLLIN};
    int error;
    do {
        if (poll(&file, 1, 20000) != 1) wrong("poll");
        error = dequeue(camera, &buffer);
        if (!error) look(camera, &buffer);
    } while (!error || error == EAGAIN);
    file.events = 0;
    if (poll(&file, 1, 20000) != 1) wrong("the end is not told");
    say("ended: %s", strerror(error));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}

/* Calls that are those of descriptors of any kind. */
int generic(char **arguments) {
    int yes = 1;
    struct v4l2_buffer buffer;
    (void)arguments;
    start(0);
    need(ioctl(camera, FIONBIO, &yes), "FIONBIO");
    if (!(fcntl(camera, F_GETFL) & O_NONBLOCK)) wrong("it would wait");
    while (dequeue(camera, &buffer) == 0) continue;
    if (errno != EAGAIN) wrong("DQBUF");
    need(ioctl(camera, FIOCLEX), "FIOCLEX");
    if (!(fcntl(camera, F_GETFD) & FD_CLOEXEC)) wrong("an exec would keep it");
    close(camera);
    say("as any descriptor");
    return 0;
}

/* A child uses what was opened, wherever it is by then. */
int in_child(char **arguments) {
    int status;
    (void)arguments;
    open_camera(0);
    need(chdir("/"), "chdir");
    pid_t child = fork();
    if (!child) {
        /* Without buffers it does not start, but only where the camera is there. */
        int type = V4L2_BUF_TYPE_VIDEO_CAPTURE, error = call(camera, VIDIOC_STREAMON, &type);
        say("the camera is %s", error == EINVAL ? "there" : strerror(error));
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void caught(int number) { (void)number; }

int signals(char **arguments) {
    struct sigaction action = {.sa_handler = caught, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value.tv_usec = 200000, .it_interval.tv_usec = 200000}, none = {0};
    struct v4l2_buffer buffer;
    (void)arguments;
    start(0);
    /* Restarted: frames come in spite of them. */
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    frames(camera, 60);
    setitimer(ITIMER_REAL, &none, NULL);
    stream(camera, 0);
    stream(camera, 1);
    /* No buffer is queued, so nothing comes, and the call is interrupted. */
    action.sa_flags = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    say("interrupted: %s", strerror(dequeue(camera, &buffer)));
    setitimer(ITIMER_REAL, &none, NULL);
    stream(camera, 0);
    close(camera);
    return 0;
}

/* until ERRNO: streams until it fails, and shows how. */
int until(char **arguments) {
    struct v4l2_buffer buffer;
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE, error;
    (void)arguments;
    open_camera(0);
    choose(camera);
    request_buffers(camera, V4L2_MEMORY_MMAP, 4);
    for (unsigned i = 0; i < buffer_count; i++) queue(camera, i);
    for (int i = 0; i < 2; i++)
        if ((error = call(camera, VIDIOC_STREAMON, &type))) say("not started: %s", strerror(error));
    if (error) return 0;
    frames(camera, 3);
    say("streams");
    while ((error = dequeue(camera, &buffer)) == 0) look(camera, &buffer);
    struct pollfd file = {.fd = camera, .events = POLLIN};
    poll(&file, 1, 0);
    say("ended: %s%s", strerror(error), file.revents & POLLERR ? ", an error to poll" : "");
    if (dequeue(camera, &buffer) != error) wrong("another error");
    poll(&file, 1, 0);
    if (!(file.revents & POLLERR)) wrong("the error is told once");
    getchar();
    stream(camera, 0);
    /* Whether it can be had again, without another open. */
    for (unsigned i = 0; i < buffer_count; i++) queue(camera, i);
    error = call(camera, VIDIOC_STREAMON, &type);
    if (!error) frames(camera, 3);
    say("again: %s", strerror(error));
    close(camera);
    return 0;
}

int again(char **arguments) {
    int before = 0, count = atoi(arguments[3]);
    for (int i = 0; i < count; i++) {
        start(i % 2 ? O_NONBLOCK : 0);
        struct pollfd file = {.fd = camera, .events = POLLIN};
        if (poll(&file, 1, 20000) != 1) wrong("poll");
        frames(camera, 1);
        if (i % 3) stream(camera, 0);
        if (i % 3 == 2) request_buffers(camera, V4L2_MEMORY_MMAP, 0);
        close(camera);
        if (!i) before = descriptors();
    }
    say("%d times, %d descriptors more", count, descriptors() - before);
    return 0;
}

/* What a program looks at before it opens. */
int looked(char **arguments) {
    struct stat state;
    int found = stat(node, &state), may = access(node, R_OK | W_OK), fd = open(node, O_RDWR), error = errno;
    (void)arguments;
    int is_node = !found && S_ISCHR(state.st_mode) && major(state.st_rdev) == 81;
    say("stat %s, access %s, open %s", is_node ? "yes" : found ? "no" : "other",
        may ? "no" : "yes", fd < 0 ? strerror(error) : "yes");
    if (fd < 0) return 0;
    struct v4l2_capability capability;
    if (fstat(fd, &state) || !S_ISCHR(state.st_mode)) wrong("fstat");
    if (call(fd, VIDIOC_QUERYCAP, &capability)) wrong("QUERYCAP");
    say("%s: %s", capability.driver, capability.card);
    close(fd);
    return 0;
}
