#define _GNU_SOURCE
#include "replay.h"

#include <err.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { block = 4096 };

struct replay replay_open(const char *log, const char *image, const char *file_name, const char *folder)
{
    static const unsigned char zeros[block];
    struct replay replay = {.log = write_log_open(log), .file = file_name, .folder = folder};
    struct stat status;
    int file = open(image, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0)
        err(66, "%s", image);
    replay.size = (uint64_t)status.st_size;
    if (replay.size % block)
        errx(65, "%s is no whole number of blocks", image);
    // Most of a disk was never written: that takes no memory.
    replay.image = calloc(1, replay.size);
    replay.used = calloc(replay.size / block, sizeof *replay.used);
    if (!replay.image || !replay.used)
        err(71, "memory");
    for (off_t at = lseek(file, 0, SEEK_DATA); at >= 0 && at < status.st_size; at = lseek(file, at, SEEK_DATA)) {
        at -= at % block;
        unsigned char found[block];
        if (pread(file, found, block, at) != block)
            err(74, "%s", image);
        if (memcmp(found, zeros, block) != 0) {
            memcpy(replay.image + at, found, block);
            replay.used[at / block] = true;
        }
        at += block;
    }
    close(file);
    return replay;
}

void replay_to(struct replay *replay, uint64_t point, uint64_t count)
{
    if (count == 0 || replay->log.entries < count)
        errx(65, "%llu entries are too few for %llu points", (unsigned long long)replay->log.entries,
             (unsigned long long)count);
    while (replay->log.read < point * replay->log.entries / count) {
        uint64_t from, to;
        unsigned mark = write_log_apply(&replay->log, replay->image, replay->size, &from, &to);
        if (mark)
            replay->acknowledged = mark;
        for (uint64_t at = from / block; at < (to + block - 1) / block; at++)
            replay->used[at] = true;
    }
}

// Returns a loop device of the file, which goes with its last user.
static int loop_open(int file, char *name, size_t most)
{
    const struct loop_config config = {.fd = (unsigned)file, .info.lo_flags = LO_FLAGS_AUTOCLEAR};
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), device = -1;
    for (int tries = 0; control >= 0 && device < 0 && tries < 100; tries++) {
        int number = ioctl(control, LOOP_CTL_GET_FREE);
        snprintf(name, most, "/dev/loop%d", number);
        device = open(name, O_RDWR | O_CLOEXEC);
        if (device >= 0 && ioctl(device, LOOP_CONFIGURE, &config) != 0) {
            // Another program took it meanwhile, or its name is not there yet.
            close(device);
            device = -1;
        }
        if (device < 0)
            usleep(10000);
    }
    if (device < 0)
        err(74, "a loop device");
    close(control);
    return device;
}

void replay_mount(const struct replay *replay)
{
    char name[32];
    int file = open(replay->file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, (off_t)replay->size) != 0)
        err(66, "%s", replay->file);
    for (uint64_t at = 0; at < replay->size; at += block)
        if (replay->used[at / block] && pwrite(file, replay->image + at, block, (off_t)at) != block)
            err(74, "%s", replay->file);
    int device = loop_open(file, name, sizeof name);
    if (close(file) != 0 || mount(name, replay->folder, "ext4", 0, "") != 0 || close(device) != 0)
        err(74, "mount %s", replay->file);
}

void replay_unmount(const struct replay *replay)
{
    if (umount(replay->folder) != 0)
        err(74, "unmount %s", replay->folder);
}
