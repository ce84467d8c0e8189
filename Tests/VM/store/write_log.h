// A log of device-mapper's target log-writes, or of log_writes.c: every write to a device in the order in which it
// became lasting, as drivers/md/dm-log-writes.c lays it out. Sector 0 says how many entries there are; each entry
// takes a sector of its own, which the data of the write follows.
#pragma once
#include <stdint.h>

static const uint64_t write_log_magic = 0x6a736677736872;

enum write_log_flag {
    write_log_flush = 1 << 0,
    write_log_fua = 1 << 1,
    write_log_discard = 1 << 2,
    // No write, but a text, in the entry's own sector.
    write_log_mark = 1 << 3,
};

struct write_log_entry {
    uint64_t sector;
    uint64_t sectors;
    uint64_t flags;
    uint64_t text_length;
};

struct write_log {
    int file;
    uint64_t entries;
    uint32_t sector_size;
    // Where the next entry is, and how many were read.
    uint64_t offset, read;
};

// Opens a log, or ends the program and says why.
struct write_log write_log_open(const char *path);

// Applies the next entry to an image of the device; tells from which of its bytes to which others are there now.
// Returns the number in a mark `acknowledged-N`, 0 for everything else.
unsigned write_log_apply(struct write_log *log, unsigned char *image, uint64_t size, uint64_t *from, uint64_t *to);
