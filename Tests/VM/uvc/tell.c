#include "camera.h"
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { answer_room = 512 };

static int open_socket(const char *path, struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) return -1;
    strcpy(address->sun_path, path);
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

int listen_at(const char *path) {
    struct sockaddr_un address;
    int listener = open_socket(path, &address);
    unlink(path);
    if (listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 8) == 0)
        return listener;
    if (listener >= 0) close(listener);
    return -1;
}

void serve_command(int listener, struct camera *camera, bool *ends) {
    char command[256], answer[answer_room];
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0) return;
    /* A client that says nothing holds nobody up for long. */
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){1, 0}, sizeof(struct timeval));
    ssize_t length = recv(client, command, sizeof command - 1, 0);
    if (length > 0) {
        command[length] = 0;
        answer[0] = obey(camera, command, answer + 1, sizeof answer - 1, ends) ? '+' : '-';
        send(client, answer, strlen(answer), MSG_NOSIGNAL);
    }
    close(client);
}

int tell(const char *path, int count, char **words) {
    struct sockaddr_un address;
    char command[256] = "", answer[answer_room];
    for (int i = 0; i < count; i++) {
        size_t had = strlen(command);
        snprintf(command + had, sizeof command - had, "%s%s", i ? " " : "", words[i]);
    }
    int server = open_socket(path, &address);
    if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address) < 0 ||
        send(server, command, strlen(command), MSG_NOSIGNAL) < 0) {
        perror(path);
        return 69;
    }
    ssize_t length = recv(server, answer, sizeof answer - 1, 0);
    close(server);
    if (length <= 0) {
        fprintf(stderr, "%s: no answer\n", path);
        return 69;
    }
    answer[length] = 0;
    puts(answer + 1);
    return answer[0] != '+';
}
