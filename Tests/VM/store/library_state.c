#define _GNU_SOURCE
#include "library_state.h"
#include "library_account.h"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void blame(struct library_found *found, const char *format, ...)
{
    va_list words;
    if (found->fault[0])
        return;
    va_start(words, format);
    vsnprintf(found->fault, sizeof found->fault, format, words);
    va_end(words);
}

// The SHA-256 of a file in hexadecimal digits, and its size; false when it cannot be read.
static bool hash_of(const char *path, char hash[65], long long *size)
{
    unsigned char piece[65536], digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    ssize_t n;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_sound = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
    *size = 0;
    while (is_sound && (n = read(file, piece, sizeof piece)) != 0) {
        is_sound = n > 0 && EVP_DigestUpdate(context, piece, (size_t)n) == 1;
        *size += n;
    }
    is_sound = is_sound && EVP_DigestFinal_ex(context, digest, &length) == 1;
    for (unsigned i = 0; i < length && i < 32; i++)
        sprintf(hash + 2 * i, "%02x", digest[i]);
    EVP_MD_CTX_free(context);
    close(file);
    return is_sound;
}

struct reading {
    const char *folder;
    sqlite3 *index;
    struct library_found *found;
};

static int note_verdict(void *data, int columns, char **values, char **names)
{
    (void)columns, (void)names;
    if (strcmp(values[0], "ok") != 0)
        blame(data, "the index is damaged: %s", values[0]);
    return 0;
}

static int note_asset(void *data, int columns, char **values, char **names)
{
    (void)columns, (void)names;
    library_line(data, values[0], values[1], values[2], values[3]);
    return 0;
}

static int check_content(void *data, int columns, char **values, char **names)
{
    struct reading *reading = data;
    char path[512], hash[65] = "";
    long long size;
    (void)columns, (void)names;
    snprintf(path, sizeof path, "%s/contents/%.2s/%s", reading->folder, values[0], values[0]);
    if (!hash_of(path, hash, &size))
        blame(reading->found, "%s is missing", path);
    else if (strcmp(hash, values[0]) != 0 || size != atoll(values[1]))
        blame(reading->found, "%s is damaged: %lld bytes, hash %s", path, size, hash);
    return 0;
}

static int count_row(void *data, int columns, char **values, char **names)
{
    (void)columns, (void)names;
    *(long *)data = atol(values[0]);
    return 0;
}

static long count(struct reading *reading, const char *statement)
{
    long number = -1;
    if (sqlite3_exec(reading->index, statement, count_row, &number, NULL) != SQLITE_OK)
        blame(reading->found, "the index cannot be read: %s", sqlite3_errmsg(reading->index));
    return number;
}

// A file that no row knows is one that the library doubts, or it would stay for ever.
static void check_files(struct reading *reading)
{
    char path[512], statement[256];
    snprintf(path, sizeof path, "%s/contents", reading->folder);
    DIR *parts = opendir(path);
    for (struct dirent *part; parts && (part = readdir(parts));) {
        if (part->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/contents/%s", reading->folder, part->d_name);
        DIR *files = opendir(path);
        for (struct dirent *file; files && (file = readdir(files));) {
            if (file->d_name[0] == '.')
                continue;
            sqlite3_snprintf(sizeof statement, statement,
                             "SELECT (SELECT count(*) FROM content WHERE hash = %Q) "
                             "+ (SELECT count(*) FROM doubtful WHERE hash = %Q)",
                             file->d_name, file->d_name);
            if (count(reading, statement) == 0)
                blame(reading->found, "%s/%s belongs to nothing", path, file->d_name);
        }
        if (files)
            closedir(files);
    }
    if (parts)
        closedir(parts);
}

static bool is_filled(const char *folder, const char *name)
{
    char path[512];
    bool found = false;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    DIR *list = opendir(path);
    for (struct dirent *entry; list && (entry = readdir(list));)
        found = found || entry->d_name[0] != '.';
    if (list)
        closedir(list);
    return found;
}

struct library_found library_read(const char *folder)
{
    struct library_found found = {.doubtful = 0};
    struct reading reading = {.folder = folder, .found = &found};
    char path[512];
    struct stat status;
    snprintf(path, sizeof path, "%s/index.sqlite", folder);
    found.is_in_transit = is_filled(folder, "transit");
    if (stat(path, &status) != 0)
        return found;
    if (sqlite3_open_v2(path, &reading.index, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        blame(&found, "the index cannot be opened");
        return found;
    }
    sqlite3_busy_timeout(reading.index, 10000);
    // While its tables are being made there is nothing in it.
    if (count(&reading, "SELECT count(*) FROM sqlite_schema") != 0) {
        if (sqlite3_exec(reading.index, "PRAGMA integrity_check", note_verdict, &found, NULL) != SQLITE_OK ||
            sqlite3_exec(reading.index,
                         "SELECT name, original, coalesce(edit, '-'), iif(binned IS NULL, 'kept', 'binned') FROM asset "
                         "ORDER BY name",
                         note_asset, &found.lines, NULL) != SQLITE_OK ||
            sqlite3_exec(reading.index, "SELECT hash, size FROM content", check_content, &reading, NULL) != SQLITE_OK)
            blame(&found, "the index cannot be read: %s", sqlite3_errmsg(reading.index));
        if (count(&reading, "SELECT count(*) FROM pragma_foreign_key_check") > 0)
            blame(&found, "a row of the index belongs to nothing");
        if (count(&reading, "SELECT count(*) FROM content WHERE hash NOT IN (SELECT original FROM asset) "
                            "AND hash NOT IN (SELECT edit FROM asset WHERE edit IS NOT NULL)") > 0)
            blame(&found, "a content in the index is no asset's");
        check_files(&reading);
        found.doubtful = (unsigned)count(&reading, "SELECT count(*) FROM doubtful");
    }
    sqlite3_close(reading.index);
    return found;
}
