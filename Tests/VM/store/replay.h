// Replays a log of writes to many points, as if the power had gone there, and has what is on the disk then looked at.
#pragma once
#include "write_log.h"

#include <stdbool.h>
#include <stdint.h>

struct replay {
    struct write_log log;
    // The disk as it is at the point that was come to, in memory, and which of its blocks were ever anything but zeros.
    unsigned char *image;
    bool *used;
    uint64_t size;
    // The file that it is written to, and where that is mounted.
    const char *file, *folder;
    // The number in the last mark before the point: what was acknowledged by then.
    unsigned acknowledged;
};

// Opens a log of a device that was IMAGE at first, or ends the program and says why.
struct replay replay_open(const char *log, const char *image, const char *file, const char *folder);

// Goes on to the given one of `count` points, evenly spread.
void replay_to(struct replay *replay, uint64_t point, uint64_t count);

// Mounts the disk of that point, so that its file system replays its journal; ends the program when that fails.
void replay_mount(const struct replay *replay);
void replay_unmount(const struct replay *replay);
