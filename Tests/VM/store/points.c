// Replays a log of writes to many points, as if the power had gone there, and reads the store at each.
//
// points LOG IMAGE FILE FOLDER ACCOUNT COUNT        all of COUNT points, evenly spread
// points LOG IMAGE FILE FOLDER ACCOUNT COUNT POINT  one of them alone, which stays mounted
//
// LOG is of a device that was IMAGE at first; what it was at a point is written to FILE and mounted at FOLDER, so that
// the file system replays its journal. The marks `acknowledged-N` in the log say that the first N lines of ACCOUNT were
// acknowledged. The store has to hold these, and can hold the one that was being asked for: nothing else. Exits 0 when
// that is so at each point, 1 when not.
#define _GNU_SOURCE
#include "account.h"
#include "replay.h"

#include <err.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct store {
    struct replay replay;
    struct account account;
    // At how many points a write to the store was under way: its journal was there.
    unsigned unfinished;
    unsigned failed;
};

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
static const char *read_store(struct store *store, struct answers *answers)
{
    char path[256], journal[264];
    struct stat status;
    snprintf(path, sizeof path, "%s/authorization.sqlite", store->replay.folder);
    snprintf(journal, sizeof journal, "%s-journal", path);
    if (stat(path, &status) != 0)
        return NULL;
    if (status.st_size == 0)
        return "the store is empty";
    if (stat(journal, &status) == 0 && status.st_size > 0)
        store->unfinished += 1;

    sqlite3 *database = NULL;
    bool sound = false;
    const char *fault = NULL;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_exec(database, "PRAGMA integrity_check", note_verdict, &sound, NULL) != SQLITE_OK || !sound)
        fault = "the store is damaged";
    else if (sqlite3_exec(database, "SELECT program, service, status FROM answer ORDER BY program || ' ' || service",
                          add_row, answers, NULL) != SQLITE_OK)
        fault = "the store cannot be read";
    sqlite3_close(database);
    return fault;
}

static void check_point(struct store *store)
{
    const struct replay *replay = &store->replay;
    struct answers found = {.count = 0};
    struct answers before = account_after(&store->account, replay->acknowledged);
    struct answers after = account_after(&store->account, replay->acknowledged + 1);
    const char *fault = read_store(store, &found);
    if (!fault && !answers_equal(&found, &before) && !answers_equal(&found, &after))
        fault = "the store holds something else";
    if (fault) {
        store->failed += 1;
        printf("after entry %llu, %u answers acknowledged: %s\n", (unsigned long long)replay->log.read,
               replay->acknowledged, fault);
        answers_print("found", &found);
        answers_print("acknowledged", &before);
        answers_print("with the one asked for", &after);
    }
    answers_free(&found), answers_free(&before), answers_free(&after);
}

int main(int argc, char **argv)
{
    if (argc != 7 && argc != 8)
        errx(64, "usage: points LOG IMAGE FILE FOLDER ACCOUNT COUNT [POINT]");
    struct store store = {.replay = replay_open(argv[1], argv[2], argv[3], argv[4]), .account = account_read(argv[5])};
    struct replay *replay = &store.replay;
    const uint64_t count = strtoull(argv[6], NULL, 10);
    if (argc == 8) {
        replay_to(replay, strtoull(argv[7], NULL, 10), count);
        replay_mount(replay);
        printf("%u\n", replay->acknowledged);
        return 0;
    }
    for (uint64_t point = 1; point <= count; point++) {
        replay_to(replay, point, count);
        replay_mount(replay);
        check_point(&store);
        replay_unmount(replay);
    }
    if (count == 0 || replay->acknowledged != store.account.count)
        errx(65, "%u answers are acknowledged in the log, of %zu", replay->acknowledged, store.account.count);
    printf("%llu points of %llu entries, %u answers, %u points in the middle of a write to the store, %u failed\n",
           (unsigned long long)count, (unsigned long long)replay->log.entries, replay->acknowledged, store.unfinished,
           store.failed);
    return store.failed != 0;
}
