// library at FOLDER                     prints what the library in FOLDER holds; exits 1 when index and files disagree
// library after ACCOUNT COUNT           prints what it has to hold after the first COUNT lines of ACCOUNT
// library id FOLDER NAME                prints the id of the asset of that name
// library points LOG IMAGE FILE FOLDER NAME ACCOUNT COUNT        as points: the library is NAME in the mounted FOLDER
// library points LOG IMAGE FILE FOLDER NAME ACCOUNT COUNT POINT  one of them alone, which stays mounted
#include "library_account.h"
#include "library_state.h"
#include "replay.h"

#include <err.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_all(const struct answers *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        puts(lines->line[i]);
    return 0;
}

static int at(const char *folder)
{
    struct library_found found = library_read(folder);
    print_all(&found.lines);
    if (!found.fault[0])
        return 0;
    puts(found.fault);
    return 1;
}

static int print_first(void *data, int columns, char **values, char **names)
{
    (void)data, (void)columns, (void)names;
    return puts(values[0]) < 0;
}

static int id(const char *folder, const char *name)
{
    char path[512], statement[256];
    sqlite3 *index = NULL;
    snprintf(path, sizeof path, "%s/index.sqlite", folder);
    sqlite3_snprintf(sizeof statement, statement, "SELECT id FROM asset WHERE name = %Q", name);
    if (sqlite3_open_v2(path, &index, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_exec(index, statement, print_first, NULL, NULL) != SQLITE_OK)
        errx(74, "%s: %s", path, sqlite3_errmsg(index));
    return 0;
}

// Returns whether the library of this point is as it has to be.
static bool check_point(const struct replay *replay, const char *folder, const struct account *account,
                        unsigned *unfinished)
{
    struct library_found found = library_read(folder);
    struct answers before = library_after(account, replay->acknowledged);
    struct answers after = library_after(account, replay->acknowledged + 1);
    bool agrees = answers_equal(&found.lines, &before) || answers_equal(&found.lines, &after);
    if (!agrees || found.fault[0]) {
        printf("after entry %llu, %u acknowledged: %s\n", (unsigned long long)replay->log.read, replay->acknowledged,
               found.fault[0] ? found.fault : "the library holds something else");
        answers_print("found", &found.lines);
        answers_print("acknowledged", &before);
        answers_print("with what was asked for", &after);
    }
    *unfinished += found.doubtful > 0 || found.is_in_transit;
    answers_free(&found.lines), answers_free(&before), answers_free(&after);
    return agrees && !found.fault[0];
}

static int points(int argc, char **argv)
{
    struct replay replay = replay_open(argv[0], argv[1], argv[2], argv[3]);
    const struct account account = account_read(argv[5]);
    const uint64_t count = strtoull(argv[6], NULL, 10);
    unsigned failed = 0, unfinished = 0;
    char folder[256];
    snprintf(folder, sizeof folder, "%s/%s", argv[3], argv[4]);
    if (argc == 8) {
        replay_to(&replay, strtoull(argv[7], NULL, 10), count);
        replay_mount(&replay);
        printf("%u\n", replay.acknowledged);
        return 0;
    }
    for (uint64_t point = 1; point <= count; point++) {
        replay_to(&replay, point, count);
        replay_mount(&replay);
        failed += !check_point(&replay, folder, &account, &unfinished);
        replay_unmount(&replay);
    }
    if (count == 0 || replay.acknowledged != account.count)
        errx(65, "%u lines are acknowledged in the log, of %zu", replay.acknowledged, account.count);
    printf("%llu points of %llu entries, %u acknowledged, %u points in the middle of a change, %u failed\n",
           (unsigned long long)count, (unsigned long long)replay.log.entries, replay.acknowledged, unfinished, failed);
    return failed != 0;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "at") == 0 && argc == 3)
        return at(argv[2]);
    if (strcmp(word, "after") == 0 && argc == 4) {
        const struct account account = account_read(argv[2]);
        const struct answers lines = library_after(&account, strtoul(argv[3], NULL, 10));
        return print_all(&lines);
    }
    if (strcmp(word, "id") == 0 && argc == 4)
        return id(argv[2], argv[3]);
    if (strcmp(word, "points") == 0 && (argc == 9 || argc == 10))
        return points(argc - 2, argv + 2);
    errx(64, "usage: library at FOLDER | after ACCOUNT COUNT | id FOLDER NAME | "
             "points LOG IMAGE FILE FOLDER NAME ACCOUNT COUNT [POINT]");
}
