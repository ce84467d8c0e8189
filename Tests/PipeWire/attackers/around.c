/* A V4L2 program that would like to capture past the library for such programs, which was put into it. Prints what came of
   each try: `got NAME` or `refused NAME REASON`.

   around NODE LIBRARY DEVICE PROCESS START */
#define _GNU_SOURCE
#include <capture.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tell(const char *name, int is_got, const char *reason) {
    printf("%s %s%s%s\n", is_got ? "got" : "refused", name, is_got ? "" : " ", is_got ? "" : reason);
    fflush(stdout);
}

/* Reads a picture, as any V4L2 program may. */
static void read_node(const char *name, int fd) {
    static char data[8 << 20];
    ssize_t length = fd < 0 ? -1 : read(fd, data, sizeof data);
    tell(name, length > 0, strerror(errno));
    if (fd >= 0) close(fd);
}

/* Past libc, which the library takes the place of. */
static int raw_open(const char *path) {
    long number;
#if defined(__x86_64__)
    register long mode __asm__("r10") = 0;
    __asm__ volatile("syscall" : "=a"(number)
                     : "a"(SYS_openat), "D"(AT_FDCWD), "S"(path), "d"(O_RDWR), "r"(mode) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long call __asm__("x8") = SYS_openat, folder __asm__("x0") = AT_FDCWD, at __asm__("x1") = (long)path,
                  flags __asm__("x2") = O_RDWR, mode __asm__("x3") = 0;
    __asm__ volatile("svc 0" : "+r"(folder) : "r"(call), "r"(at), "r"(flags), "r"(mode) : "memory");
    number = folder;
#else
#error "the system call of this processor is not known here"
#endif
    if (number >= 0) return (int)number;
    errno = (int)-number;
    return -1;
}

/* Asks the daemon itself; for another process, if there is one. */
static void ask(const char *name, const char *device, unsigned process, unsigned long long start) {
    struct capture_client *client = NULL;
    struct capture_session *session = NULL;
    int result = capture_connect(CAPTURE_BUS_SESSION, &client);
    if (!result) result = capture_session_new(client, &session);
    struct capture_connections one = {process, 1};
    if (!result && process) result = capture_session_for_process(session, process, start, 0, &one, 1, "pipewire");
    if (!result) result = capture_session_add_camera(session, "camera", device, NULL);
    if (!result) result = capture_session_start(session, 20000, -1);
    tell(name, !result, capture_message());
    capture_session_free(session);
    capture_disconnect(client);
}

int main(int count, char **words) {
    if (count != 6) return 64;
    read_node("through-it", open(words[1], O_RDWR));
    read_node("system-call", raw_open(words[1]));
    void *library = dlopen(words[2], RTLD_NOW | RTLD_NOLOAD);
    for (int i = 0; library && i < 8; i++) dlclose(library);
    read_node("unloaded", open(words[1], O_RDWR));
    ask("asked-itself", words[3], 0, 0);
    ask("for-another", words[3], (unsigned)atoi(words[4]), strtoull(words[5], NULL, 10));
    return 0;
}
