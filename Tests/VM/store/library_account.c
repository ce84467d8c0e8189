#define _GNU_SOURCE
#include "library_account.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct asset {
    char name[64], original[65], edit[65];
    bool is_binned;
};

struct state {
    struct asset asset[512];
    size_t count;
};

static struct asset *named(struct state *state, const char *name)
{
    for (size_t i = 0; i < state->count; i++)
        if (strcmp(state->asset[i].name, name) == 0)
            return &state->asset[i];
    errx(65, "the account has no asset %s", name);
}

static void apply(struct state *state, const char *line)
{
    char name[64], hash[65];
    if (sscanf(line, "add %63s %64s", name, hash) == 2) {
        if (state->count == sizeof state->asset / sizeof *state->asset)
            errx(65, "the account has too many assets");
        struct asset *asset = &state->asset[state->count++];
        *asset = (struct asset){.edit = "-"};
        strcpy(asset->name, name), strcpy(asset->original, hash);
    } else if (sscanf(line, "edit %63s %64s", name, hash) == 2) {
        strcpy(named(state, name)->edit, hash);
    } else if (sscanf(line, "revert %63s", name) == 1) {
        strcpy(named(state, name)->edit, "-");
    } else if (sscanf(line, "delete %63s", name) == 1) {
        named(state, name)->is_binned = true;
    } else if (strcmp(line, "empty") == 0) {
        size_t kept = 0;
        for (size_t i = 0; i < state->count; i++)
            if (!state->asset[i].is_binned)
                state->asset[kept++] = state->asset[i];
        state->count = kept;
    } else {
        errx(65, "the account has a line of no known kind: %s", line);
    }
}

void library_line(struct answers *lines, const char *name, const char *original, const char *edit, const char *place)
{
    char contents[136];
    snprintf(contents, sizeof contents, "%s %s", original, edit);
    answers_add(lines, name, contents, place);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct asset *)a)->name, ((const struct asset *)b)->name);
}

struct answers library_after(const struct account *account, size_t count)
{
    struct state state = {.count = 0};
    struct answers lines = {.count = 0};
    for (size_t i = 0; i < count && i < account->count; i++)
        apply(&state, account->line[i]);
    qsort(state.asset, state.count, sizeof *state.asset, by_name);
    for (size_t i = 0; i < state.count; i++) {
        const struct asset *asset = &state.asset[i];
        library_line(&lines, asset->name, asset->original, asset->edit, asset->is_binned ? "binned" : "kept");
    }
    return lines;
}
