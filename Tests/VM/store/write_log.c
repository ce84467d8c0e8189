#define _GNU_SOURCE
#include "write_log.h"

#include <endian.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void read_at(const struct write_log *log, void *into, uint64_t count, uint64_t offset)
{
    for (uint64_t done = 0; done < count;) {
        ssize_t n = pread(log->file, (char *)into + done, count - done, (off_t)(offset + done));
        if (n < 0)
            err(74, "the log");
        if (n == 0)
            errx(65, "the log ends at %llu, in an entry", (unsigned long long)(offset + done));
        done += (uint64_t)n;
    }
}

struct write_log write_log_open(const char *path)
{
    struct {
        uint64_t magic, version, entries;
        uint32_t sector_size;
    } head;
    struct write_log log = {.file = open(path, O_RDONLY | O_CLOEXEC)};
    if (log.file < 0)
        err(66, "%s", path);
    read_at(&log, &head, sizeof head, 0);
    log.entries = le64toh(head.entries);
    log.sector_size = le32toh(head.sector_size);
    if (le64toh(head.magic) != write_log_magic || le64toh(head.version) != 1 || log.sector_size < 512 ||
        log.sector_size > 4096)
        errx(65, "%s is no log of writes", path);
    log.offset = log.sector_size;
    return log;
}

unsigned write_log_apply(struct write_log *log, unsigned char *image, uint64_t size, uint64_t *from, uint64_t *to)
{
    struct write_log_entry entry;
    char text[64] = "";
    unsigned number = 0;
    read_at(log, &entry, sizeof entry, log->offset);
    const uint64_t flags = le64toh(entry.flags), size_of_data = le64toh(entry.sectors) * log->sector_size;
    const uint64_t at = le64toh(entry.sector) * log->sector_size;
    *from = *to = 0;
    if (flags & write_log_mark) {
        uint64_t length = le64toh(entry.text_length);
        read_at(log, text, length < sizeof text ? length : sizeof text - 1, log->offset + sizeof entry);
        sscanf(text, "acknowledged-%u", &number);
    } else if (at + size_of_data < at || at + size_of_data > size) {
        errx(65, "entry %llu writes past the end of the device", (unsigned long long)log->read);
    } else if (flags & write_log_discard) {
        memset(image + at, 0, size_of_data);
    } else {
        read_at(log, image + at, size_of_data, log->offset + log->sector_size);
    }
    if (!(flags & write_log_mark))
        *from = at, *to = at + size_of_data;
    log->offset += log->sector_size + (flags & (write_log_discard | write_log_mark) ? 0 : size_of_data);
    log->read += 1;
    return number;
}
