// Replays a log of writes to many points, as if the power had gone there, and reads the store at each.
//
// points LOG IMAGE DEVICE FOLDER ACCOUNT COUNT        all of COUNT points, evenly spread
// points LOG IMAGE DEVICE FOLDER ACCOUNT COUNT POINT  one of them alone, which stays mounted
//
// LOG is of a device that was IMAGE at first; what it was at a point is written to DEVICE and mounted at FOLDER, so that
// the file system replays its journal. The marks `answer-N` in the log say that the first N lines of ACCOUNT were
// acknowledged. The store has to hold these, and can hold the one that was being asked for: nothing else. Exits 0 when
// that is so at each point, 1 when not.
#define _GNU_SOURCE
#include "account.h"
#include "write_log.h"

#include <err.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

struct replay {
    const char *device, *folder;
    struct account account;
    unsigned char *image;
    uint64_t size;
    // At how many points a write to the store was under way: its journal was there.
    unsigned unfinished;
    unsigned failed;
};

static unsigned char *load(const char *path, uint64_t *size)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0)
        err(66, "%s", path);
    unsigned char *image = malloc((size_t)status.st_size);
    if (!image)
        err(71, "memory");
    for (off_t done = 0; done < status.st_size;) {
        ssize_t n = pread(file, image + done, (size_t)(status.st_size - done), done);
        if (n <= 0)
            err(74, "%s", path);
        done += n;
    }
    close(file);
    *size = (uint64_t)status.st_size;
    return image;
}

static void mount_image(const struct replay *replay)
{
    int device = open(replay->device, O_WRONLY | O_CLOEXEC);
    if (device < 0)
        err(66, "%s", replay->device);
    for (uint64_t done = 0; done < replay->size;) {
        ssize_t n = pwrite(device, replay->image + done, replay->size - done, (off_t)done);
        if (n <= 0)
            err(74, "%s", replay->device);
        done += (uint64_t)n;
    }
    if (close(device) != 0 || mount(replay->device, replay->folder, "ext4", 0, "") != 0)
        err(74, "mount %s", replay->device);
}

static int add_row(void *answers, int columns, char **values, char **names)
{
    (void)columns, (void)names;
    answers_add(answers, values[0], values[1], strcmp(values[2], "3") == 0 ? "authorized" : "denied");
    return 0;
}

static int note_verdict(void *sound, int columns, char **values, char **names)
{
    (void)columns, (void)names;
    *(bool *)sound = strcmp(values[0], "ok") == 0;
    return 0;
}

// Returns NULL, or what is wrong with the store. One that is not there holds nothing.
static const char *read_store(struct replay *replay, struct answers *answers)
{
    char path[256], journal[264];
    struct stat status;
    snprintf(path, sizeof path, "%s/authorization.sqlite", replay->folder);
    snprintf(journal, sizeof journal, "%s-journal", path);
    if (stat(path, &status) != 0)
        return NULL;
    if (status.st_size == 0)
        return "the store is empty";
    if (stat(journal, &status) == 0 && status.st_size > 0)
        replay->unfinished += 1;

    sqlite3 *store = NULL;
    bool sound = false;
    const char *fault = NULL;
    if (sqlite3_open_v2(path, &store, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_exec(store, "PRAGMA integrity_check", note_verdict, &sound, NULL) != SQLITE_OK || !sound)
        fault = "the store is damaged";
    else if (sqlite3_exec(store, "SELECT program, service, status FROM answer ORDER BY program || ' ' || service",
                          add_row, answers, NULL) != SQLITE_OK)
        fault = "the store cannot be read";
    sqlite3_close(store);
    return fault;
}

static void check_point(struct replay *replay, uint64_t entry, unsigned acknowledged)
{
    struct answers found = {.count = 0};
    struct answers before = account_after(&replay->account, acknowledged);
    struct answers after = account_after(&replay->account, acknowledged + 1);
    const char *fault = read_store(replay, &found);
    if (!fault && !answers_equal(&found, &before) && !answers_equal(&found, &after))
        fault = "the store holds something else";
    if (fault) {
        replay->failed += 1;
        printf("after entry %llu, %u answers acknowledged: %s\n", (unsigned long long)entry, acknowledged, fault);
        answers_print("found", &found);
        answers_print("acknowledged", &before);
        answers_print("with the one asked for", &after);
    }
    answers_free(&found), answers_free(&before), answers_free(&after);
}

int main(int argc, char **argv)
{
    if (argc != 7 && argc != 8)
        errx(64, "usage: points LOG IMAGE DEVICE FOLDER ACCOUNT COUNT [POINT]");
    struct write_log log = write_log_open(argv[1]);
    struct replay replay = {.device = argv[3], .folder = argv[4], .account = account_read(argv[5])};
    const uint64_t count = strtoull(argv[6], NULL, 10), alone = argc == 8 ? strtoull(argv[7], NULL, 10) : 0;
    unsigned acknowledged = 0;
    replay.image = load(argv[2], &replay.size);
    if (count == 0 || log.entries < count)
        errx(65, "%llu entries are too few for %llu points", (unsigned long long)log.entries, (unsigned long long)count);

    for (uint64_t point = 1; point <= count; point++) {
        while (log.read < point * log.entries / count) {
            unsigned mark = write_log_apply(&log, replay.image, replay.size);
            if (mark)
                acknowledged = mark;
        }
        if (alone && point != alone)
            continue;
        mount_image(&replay);
        if (alone) {
            printf("%u\n", acknowledged);
            return 0;
        }
        check_point(&replay, log.read, acknowledged);
        if (umount(replay.folder) != 0)
            err(74, "unmount %s", replay.folder);
    }
    if (acknowledged != replay.account.count)
        errx(65, "%u answers are acknowledged in the log, of %zu", acknowledged, replay.account.count);
    printf("%llu points of %llu entries, %u answers, %u points in the middle of a write to the store, %u failed\n",
           (unsigned long long)count, (unsigned long long)log.entries, acknowledged, replay.unfinished, replay.failed);
    return replay.failed != 0;
}
