// A disk whose writes are logged as device-mapper's target log-writes logs them, for kernels that have no such target.
//
// log_writes FOLDER DISK LOG    mounts a file system at FOLDER, until it is unmounted. Its file `disk` has the content
//                               of DISK, for a loop device; what is written to its file `mark` is a mark in the log.
//
// As with the target, a write is in LOG when it has become lasting: with the next flush, which is an fsync of `disk`.
#define _GNU_SOURCE
#include "write_log.h"

#include <endian.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { root = FUSE_ROOT_ID, disk, mark, end, sector = 512, largest_write = 128 << 10 };
static const char *names[end] = {[disk] = "disk", [mark] = "mark"};

static int device, image;
static uint64_t size;
static struct {
    int file;
    uint64_t entries;
    off_t offset;
} write_log;

// A write that no flush has followed yet.
struct pending {
    struct pending *next;
    uint64_t offset;
    uint32_t size;
    char data[];
};
static struct pending *first, **last = &first;

static void append(uint64_t at, uint64_t bytes, uint64_t flags, const void *data, uint64_t text_length)
{
    char block[sector] = "";
    const struct write_log_entry entry = {htole64(at / sector), htole64(bytes / sector), htole64(flags),
                                          htole64(text_length)};
    memcpy(block, &entry, sizeof entry);
    if (text_length)
        memcpy(block + sizeof entry, data, text_length);
    if (pwrite(write_log.file, block, sector, write_log.offset) != sector ||
        pwrite(write_log.file, data, bytes, write_log.offset + sector) != (ssize_t)bytes)
        err(74, "the log");
    write_log.offset += sector + (off_t)bytes;
    write_log.entries += 1;
}

static void flush(void)
{
    while (first) {
        struct pending *write = first;
        append(write->offset, write->size, 0, write->data, 0);
        first = write->next;
        free(write);
    }
    last = &first;
}

// The head comes last: without it, nobody takes the file for a log.
static int finish(void)
{
    const struct {
        uint64_t magic, version, entries;
        uint32_t sector_size;
    } head = {htole64(write_log_magic), htole64(1), htole64(write_log.entries), htole32(sector)};
    flush();
    if (pwrite(write_log.file, &head, sizeof head, 0) != sizeof head || close(write_log.file) != 0)
        err(74, "the log");
    return 0;
}

static void answer(const struct fuse_in_header *request, int error, const void *body, size_t length)
{
    static char message[sizeof(struct fuse_out_header) + largest_write];
    const struct fuse_out_header head = {(uint32_t)(sizeof head + length), error, request->unique};
    memcpy(message, &head, sizeof head);
    if (length)
        memcpy(message + sizeof head, body, length);
    if (write(device, message, head.len) < 0 && errno != ENOENT)
        err(74, "an answer");
}

static struct fuse_attr attributes(uint64_t node)
{
    struct fuse_attr facts = {.ino = node, .nlink = 1, .blksize = 4096};
    facts.mode = node == root ? S_IFDIR | 0700 : S_IFREG | 0600;
    facts.size = node == disk ? size : 0;
    return facts;
}

static void look_up(const struct fuse_in_header *request, const char *name)
{
    for (uint64_t node = disk; node < end; node++)
        if (strcmp(names[node], name) == 0) {
            const struct fuse_entry_out found = {.nodeid = node, .attr_valid = 3600, .attr = attributes(node)};
            return answer(request, 0, &found, sizeof found);
        }
    answer(request, -ENOENT, NULL, 0);
}

static void read_disk(const struct fuse_in_header *request, const struct fuse_read_in *wanted)
{
    static char bytes[largest_write];
    const size_t most = wanted->size < sizeof bytes ? wanted->size : sizeof bytes;
    const ssize_t count = request->nodeid == disk ? pread(image, bytes, most, (off_t)wanted->offset) : 0;
    answer(request, count < 0 ? -errno : 0, bytes, count < 0 ? 0 : (size_t)count);
}

static void take(const struct fuse_in_header *request, const struct fuse_write_in *part)
{
    const struct fuse_write_out written = {.size = part->size};
    const char *data = (const char *)(part + 1);
    if (request->nodeid == mark) {
        if (part->size > sector - sizeof(struct write_log_entry))
            return answer(request, -EMSGSIZE, NULL, 0);
        append(0, 0, write_log_mark, data, part->size);
        return answer(request, 0, &written, sizeof written);
    }
    struct pending *write = malloc(sizeof *write + part->size);
    if (!write || part->offset % sector || part->size % sector || part->offset + part->size > size)
        return answer(request, -EINVAL, NULL, 0);
    *write = (struct pending){.offset = part->offset, .size = part->size};
    memcpy(write->data, data, part->size);
    if (pwrite(image, data, part->size, (off_t)part->offset) != (ssize_t)part->size)
        err(74, "the disk");
    *last = write;
    last = &write->next;
    answer(request, 0, &written, sizeof written);
}

static void serve(const struct fuse_in_header *request, const void *body)
{
    const struct fuse_attr_out facts = {.attr_valid = 3600, .attr = attributes(request->nodeid)};
    // Whoever else opens the file sees what the loop device wrote.
    const struct fuse_open_out opened = {.open_flags = request->nodeid == disk ? FOPEN_KEEP_CACHE : FOPEN_DIRECT_IO};
    const struct fuse_statfs_out room = {.st = {.bsize = 4096, .frsize = 4096, .namelen = 255}};
    const struct fuse_init_out ours = {.major = FUSE_KERNEL_VERSION, .minor = 31, .flags = FUSE_BIG_WRITES,
                                       .max_readahead = ((const struct fuse_init_in *)body)->max_readahead,
                                       .max_background = 16, .max_write = largest_write};
    switch (request->opcode) {
    case FUSE_INIT: return answer(request, 0, &ours, sizeof ours);
    case FUSE_LOOKUP: return look_up(request, body);
    case FUSE_SETATTR:
    case FUSE_GETATTR: return answer(request, 0, &facts, sizeof facts);
    case FUSE_OPEN:
    case FUSE_OPENDIR: return answer(request, 0, &opened, sizeof opened);
    case FUSE_READ: return read_disk(request, body);
    case FUSE_WRITE: return take(request, body);
    case FUSE_STATFS: return answer(request, 0, &room, sizeof room);
    case FUSE_FSYNC:
        if (request->nodeid == disk) {
            flush();
            append(0, 0, write_log_flush, NULL, 0);
        }
        return answer(request, 0, NULL, 0);
    // Its files are not listed.
    case FUSE_READDIR:
    case FUSE_FLUSH:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR: return answer(request, 0, NULL, 0);
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT: return;
    default: answer(request, -ENOSYS, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    static _Alignas(8) char request[largest_write + 4096];
    char options[64];
    struct stat status;
    if (argc != 4)
        errx(64, "usage: log_writes FOLDER DISK LOG");
    image = open(argv[2], O_RDWR | O_CLOEXEC);
    if (image < 0 || fstat(image, &status) != 0)
        err(66, "%s", argv[2]);
    size = (uint64_t)status.st_size;
    write_log.file = open(argv[3], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    write_log.offset = sector;
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40700,user_id=0,group_id=0", device);
    if (write_log.file < 0 || device < 0 || mount("log_writes", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0)
        err(74, "%s", argv[1]);
    for (;;) {
        const ssize_t count = read(device, request, sizeof request);
        if (count >= 0)
            serve((const void *)request, request + sizeof(struct fuse_in_header));
        else if (errno == ENODEV)
            return finish();
        else if (errno != EINTR && errno != ENOENT && errno != EAGAIN)
            err(74, "a request");
    }
}
