/* In the place of the desktop's camera portal: for whoever connects to its socket it connects to PipeWire, hands that
   connection over and closes its own. Like the portal, it has another connection for itself.

   xdg-desktop-portal SOCKET [keep]    keep: it does not close what it hands over */
#include <pipewire/pipewire.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct pw_main_loop *loop;

static void synced(void *data, uint32_t id, int sequence) {
    (void)data;
    (void)sequence;
    if (id == PW_ID_CORE) pw_main_loop_quit(loop);
}

static const struct pw_core_events events = {PW_VERSION_CORE_EVENTS, .done = synced};

/* Returns once the server knows it. */
static struct pw_core *connected(struct pw_context *context, struct pw_properties *properties) {
    struct pw_core *core = pw_context_connect(context, properties, 0);
    struct spa_hook hook;
    if (!core) return NULL;
    pw_core_add_listener(core, &hook, &events, NULL);
    pw_core_sync(core, PW_ID_CORE, 0);
    pw_main_loop_run(loop);
    spa_hook_remove(&hook);
    return core;
}

static void hand_over(int to, int end) {
    char byte = 0, room[CMSG_SPACE(sizeof end)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof end);
    memcpy(CMSG_DATA(header), &end, sizeof end);
    if (sendmsg(to, &message, MSG_NOSIGNAL) != 1) perror("sendmsg");
}

int main(int count, char **words) {
    if (count < 2) return 64;
    bool is_kept = count > 2;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, words[1], sizeof address.sun_path - 1);
    pw_init(NULL, NULL);
    loop = pw_main_loop_new(NULL);
    struct pw_context *context = pw_context_new(pw_main_loop_get_loop(loop), NULL, 0);
    if (!connected(context, NULL)) return 69;
    int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (door < 0 || bind(door, (struct sockaddr *)&address, sizeof address) < 0 || listen(door, 8) < 0) return 70;
    while (true) {
        int to = accept(door, NULL, NULL);
        struct pw_core *core = connected(context, pw_properties_new("pipewire.access.portal.app_id", "",
                                                                    "pipewire.access.portal.media_roles", "Camera", NULL));
        if (to < 0 || !core) return 71;
        int end = pw_core_steal_fd(core);
        hand_over(to, end);
        if (!is_kept) close(end);
        pw_core_disconnect(core);
        close(to);
    }
}
