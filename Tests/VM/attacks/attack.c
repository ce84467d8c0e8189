#include "attack.h"
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* The bus's socket: the system's own, or the one that DBUS_SYSTEM_BUS_ADDRESS names by its path. */
static const char *bus_path(void) {
    const char *address = getenv("DBUS_SYSTEM_BUS_ADDRESS");
    if (!address) return "/run/dbus/system_bus_socket";
    return strncmp(address, "unix:path=", 10) ? address : address + 10;
}

void give_up(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(not_tried);
}

static int told(const char *member, int code, const sd_bus_error *error) {
    if (code >= 0) return 1;
    printf("%s: %s: %s\n", member, error->name ? error->name : strerror(-code), error->message ? error->message : "");
    fflush(stdout);
    return 0;
}

int gets(sd_bus *bus, const char *path, const char *interface, const char *member, sd_bus_message **reply,
         const char *types, ...) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    va_list arguments;
    va_start(arguments, types);
    int code = sd_bus_call_methodv(bus, SERVICE, path, interface, member, &error, reply, types, arguments);
    va_end(arguments);
    int answered = told(member, code, &error);
    sd_bus_error_free(&error);
    return answered;
}

char *session_text(sd_bus *bus, const char *session, const char *property) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    char *text = NULL;
    int code = sd_bus_get_property_string(bus, SERVICE, session, SERVICE ".Session", property, &error, &text);
    told(property, code, &error);
    sd_bus_error_free(&error);
    return text;
}

void pass(sd_bus *bus, int file, char ticket[64]) {
    sd_bus_message *reply = NULL;
    int door;
    unsigned number;
    if (!gets(bus, ROOT, SERVICE ".Manager", "OpenDoor", &reply, "")) exit(refused);
    if (sd_bus_message_read(reply, "hu", &door, &number) < 0) give_up("a door");
    send_descriptor(door, file);
    char answer[32] = "";
    if (recv(door, answer, sizeof answer - 1, 0) <= 0) give_up("a ticket");
    snprintf(ticket, 64, "%u.%s", number, answer);
    /* The door stays with the message. */
    (void)sd_bus_message_ref(reply);
}

/* As long as a person would take. */
int follow(sd_bus *bus, const char *session) {
    const struct timespec pause = {.tv_nsec = 100000000};
    for (int turn = 0; turn < 600; turn++) {
        char *state = session_text(bus, session, "State");
        if (!state) return refused;
        int runs = !strcmp(state, "running"), is_over = !strcmp(state, "failed") || !strcmp(state, "stopped");
        free(state);
        if (runs) return taken;
        if (is_over) {
            char *code = session_text(bus, session, "ReasonCode"), *why = session_text(bus, session, "Reason");
            printf("session: %s: %s\n", code ? code : "", why ? why : "");
            free(code);
            free(why);
            return refused;
        }
        nanosleep(&pause, NULL);
    }
    errno = ETIMEDOUT;
    give_up("the session neither runs nor ends");
}

int capture_memory(sd_bus *bus) {
    sd_bus_message *reply = NULL;
    const char *session;
    int file;
    if (!gets(bus, ROOT, SERVICE ".Manager", "CreateSession", &reply, "a{sv}" FILES, 4,
              "inputs", "aa{sv}", 1, 2, "name", "s", "c", "media-type", "s", "video",
              "outputs", "aa{sv}", 1, 2, "name", "s", "b", "kind", "s", "buffer",
              "connections", "a(ss)", 1, "c", "b", "attached", "b", 1, 0))
        return -1;
    if (sd_bus_message_read(reply, "o", &session) < 0) give_up("the session's path");
    if (!gets(bus, session, SERVICE ".Session", "Start", NULL, "")) return -1;
    if (follow(bus, session) == refused) return -1;
    sd_bus_message *memory = NULL;
    if (!gets(bus, session, SERVICE ".Session", "OpenBuffer", &memory, "s", "b")) return -1;
    if (sd_bus_message_read(memory, "h", &file) < 0) give_up("the memory's descriptor");
    file = dup(file);
    sd_bus_message_unref(memory);
    sd_bus_message_unref(reply);
    return file;
}

int capture(sd_bus *bus) {
    if (capture_memory(bus) < 0) return refused;
    printf("it has the memory of the camera's frames\n");
    return taken;
}

sd_bus *connect_bus(void) {
    sd_bus *bus = NULL;
    int code = sd_bus_open_system(&bus);
    if (code < 0) {
        errno = -code;
        give_up("the bus");
    }
    return bus;
}

int connect_socket(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = bus_path();
    if (strlen(path) >= sizeof address.sun_path) give_up(path);
    strcpy(address.sun_path, path);
    int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (end < 0 || connect(end, (struct sockaddr *)&address, sizeof address) < 0) give_up(path);
    return end;
}

sd_bus *speak(int socket) {
    sd_bus *bus = NULL;
    int code = sd_bus_new(&bus);
    if (code >= 0) code = sd_bus_set_fd(bus, socket, socket);
    if (code >= 0) code = sd_bus_set_bus_client(bus, 1);
    if (code >= 0) code = sd_bus_negotiate_fds(bus, 1);
    if (code >= 0) code = sd_bus_start(bus);
    if (code < 0) {
        errno = -code;
        give_up("the bus, on a socket that was handed over");
    }
    return bus;
}

void send_descriptor(int socket, int descriptor) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&control.head), &descriptor, sizeof descriptor);
    struct iovec byte = {.iov_base = "", .iov_len = 1};
    struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (sendmsg(socket, &message, 0) != 1) give_up("a descriptor cannot be sent");
}

int receive_descriptor(int socket) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char one;
    struct iovec byte = {.iov_base = &one, .iov_len = 1};
    struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message)) give_up("no descriptor came");
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
}

void become(char *const command[]) {
    execv(command[0], command);
    give_up(command[0]);
}

static int file_of(pid_t process, struct stat *file) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/exe", process);
    return stat(link, file);
}

int runs_the_same(pid_t one, pid_t other) {
    struct stat its, others;
    if (file_of(one, &its) < 0 || file_of(other, &others) < 0) give_up("/proc/PID/exe");
    return its.st_dev == others.st_dev && its.st_ino == others.st_ino;
}

void wait_until_it_runs_another(pid_t process) {
    while (runs_the_same(process, getpid())) poll(NULL, 0, 10);
}
