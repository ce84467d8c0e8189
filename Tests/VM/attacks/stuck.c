/* A file system of a user's own that stops answering when told so.

   stuck own FOLDER STOP NAME=FILE...    mounted by itself, in a user and mount namespace that is there already
   stuck user FOLDER STOP NAME=FILE...   mounted by fusermount3, for everybody to see

   In FOLDER there are the files by their names, which anybody of its user's may run and read, and `out`, which takes what
   is written to it. While there is a file STOP, requests of the kinds named in it (GETATTR, READ, all) get no answer. Prints
   `mounted`, and for each request without an answer `stuck KIND of PROCESS`, the thread's number as this program sees it. */
#include "attack.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { root = FUSE_ROOT_ID, out, first_file, most_files = 8, largest_write = 128 << 10 };

static const char *stop;
static struct {
    const char *name;
    int file;
    uint64_t size;
} files[first_file + most_files] = {[out] = {.name = "out", .file = -1}};
static unsigned end = first_file;
static int device;

static const char *kind_of(unsigned code) {
    switch (code) {
    case FUSE_LOOKUP: return "LOOKUP";
    case FUSE_GETATTR: return "GETATTR";
    case FUSE_SETATTR: return "SETATTR";
    case FUSE_OPEN: return "OPEN";
    case FUSE_READ: return "READ";
    case FUSE_WRITE: return "WRITE";
    case FUSE_STATFS: return "STATFS";
    case FUSE_FLUSH: return "FLUSH";
    case FUSE_FSYNC: return "FSYNC";
    case FUSE_RELEASE: return "RELEASE";
    default: return "OTHER";
    }
}

/* Whether nobody is to answer this; those that want no answer are not counted. */
static int is_stuck(const struct fuse_in_header *request) {
    char words[256] = "";
    int file = open(stop, O_RDONLY);
    if (file < 0) return 0;
    ssize_t count = read(file, words, sizeof words - 1);
    close(file);
    if (request->opcode == FUSE_INIT || count <= 0) return 0;
    words[count] = 0;
    if (!strstr(words, "all") && !strstr(words, kind_of(request->opcode))) return 0;
    printf("stuck %s of %u\n", kind_of(request->opcode), request->pid);
    fflush(stdout);
    return 1;
}

static void answer(const struct fuse_in_header *request, int error, const void *body, size_t size) {
    struct fuse_out_header head = {.len = (uint32_t)(sizeof head + size), .error = error, .unique = request->unique};
    char message[sizeof head + largest_write];
    memcpy(message, &head, sizeof head);
    if (size) memcpy(message + sizeof head, body, size);
    /* Who asked may have left. */
    if (write(device, message, head.len) < 0 && errno != ENOENT) give_up("an answer");
}

static struct fuse_attr attributes(uint64_t node) {
    struct fuse_attr facts = {.ino = node, .nlink = 1, .uid = getuid(), .gid = getgid(), .blksize = 4096};
    facts.mode = node == root ? S_IFDIR | 0755 : node == out ? S_IFREG | 0644 : S_IFREG | 0755;
    if (node != root) facts.size = files[node].size;
    return facts;
}

static void look_up(const struct fuse_in_header *request, const char *name) {
    for (unsigned node = out; node < end; node++) {
        if (strcmp(files[node].name, name)) continue;
        struct fuse_entry_out found = {.nodeid = node, .attr = attributes(node)};
        answer(request, 0, &found, sizeof found);
        return;
    }
    answer(request, -ENOENT, NULL, 0);
}

static void read_file(const struct fuse_in_header *request, const struct fuse_read_in *wanted) {
    static char bytes[largest_write];
    size_t size = wanted->size < sizeof bytes ? wanted->size : sizeof bytes;
    ssize_t count = pread(files[request->nodeid].file, bytes, size, (off_t)wanted->offset);
    answer(request, count < 0 ? -errno : 0, bytes, count < 0 ? 0 : (size_t)count);
}

static void serve(const struct fuse_in_header *request, const void *body) {
    struct fuse_attr_out facts = {.attr = attributes(request->nodeid)};
    struct fuse_open_out opened = {0};
    struct fuse_write_out written = {0};
    const struct fuse_setattr_in *change = body;
    const struct fuse_write_in *part = body;
    const struct fuse_init_in *theirs = body;
    struct fuse_statfs_out room = {.st = {.blocks = 1 << 20, .bfree = 1 << 20, .bavail = 1 << 20, .bsize = 4096,
                                          .frsize = 4096, .namelen = 255}};
    struct fuse_init_out ours = {.major = FUSE_KERNEL_VERSION, .minor = 31, .flags = FUSE_BIG_WRITES,
                                 .max_background = 16, .max_write = largest_write};
    switch (request->opcode) {
    case FUSE_INIT:
        ours.max_readahead = theirs->max_readahead;
        return answer(request, 0, &ours, sizeof ours);
    case FUSE_LOOKUP: return look_up(request, body);
    case FUSE_SETATTR:
        if (change->valid & FATTR_SIZE) files[request->nodeid].size = change->size;
        facts.attr = attributes(request->nodeid);
        return answer(request, 0, &facts, sizeof facts);
    case FUSE_GETATTR: return answer(request, 0, &facts, sizeof facts);
    case FUSE_OPEN:
    case FUSE_OPENDIR: return answer(request, 0, &opened, sizeof opened);
    case FUSE_READ: return read_file(request, body);
    case FUSE_WRITE:
        if (part->offset + part->size > files[request->nodeid].size)
            files[request->nodeid].size = part->offset + part->size;
        written.size = part->size;
        return answer(request, 0, &written, sizeof written);
    case FUSE_STATFS: return answer(request, 0, &room, sizeof room);
    case FUSE_READDIR:
    case FUSE_FLUSH:
    case FUSE_FSYNC:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR: return answer(request, 0, NULL, 0);
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT: return;
    default: answer(request, -ENOSYS, NULL, 0);
    }
}

static void mount_own(const char *folder) {
    char options[128];
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40755,user_id=%u,group_id=%u", device, getuid(), getgid());
    if (device < 0 || mount("stuck", folder, "fuse", MS_NOSUID | MS_NODEV, options) < 0) give_up(folder);
}

static void mount_as_user(const char *folder) {
    int ends[2];
    char number[16];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) give_up("socketpair");
    snprintf(number, sizeof number, "%d", ends[0]);
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        setenv("_FUSE_COMMFD", number, 1);
        execlp("fusermount3", "fusermount3", "-o", "nosuid,nodev", "--", folder, NULL);
        give_up("fusermount3");
    }
    close(ends[0]);
    device = receive_descriptor(ends[1]);
    waitpid(child, NULL, 0);
}

int main(int count, char **words) {
    static _Alignas(8) char request[largest_write + 4096];
    if (count < 4) return not_tried;
    stop = words[3];
    for (int number = 4; number < count && end < first_file + most_files; number++, end++) {
        char *file = strchr(words[number], '=');
        struct stat status;
        if (!file) return not_tried;
        *file++ = 0;
        files[end].name = words[number];
        files[end].file = open(file, O_RDONLY | O_CLOEXEC);
        if (files[end].file < 0 || fstat(files[end].file, &status) < 0) give_up(file);
        files[end].size = (uint64_t)status.st_size;
    }
    signal(SIGHUP, SIG_IGN);
    if (!strcmp(words[1], "user")) mount_as_user(words[2]);
    else mount_own(words[2]);
    puts("mounted");
    fflush(stdout);
    for (;;) {
        ssize_t size = read(device, request, sizeof request);
        if (size < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
        if (size < 0) return errno == ENODEV ? 0 : not_tried;
        const struct fuse_in_header *head = (const void *)request;
        if (!is_stuck(head)) serve(head, request + sizeof *head);
    }
}
