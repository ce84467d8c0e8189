// What was asked of the store, one line for each: `set PROGRAM SERVICE STATUS` or `reset PROGRAM`, in the order in which
// it was asked. From that follows what the store has to hold after each.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// The answers of a store, as lines `PROGRAM SERVICE STATUS`.
struct answers {
    char *line[512];
    size_t count;
};

struct account {
    char *line[512];
    size_t count;
};

struct account account_read(const char *path);
// The answers after the first `count` of what was asked.
struct answers account_after(const struct account *account, size_t count);

void answers_add(struct answers *answers, const char *program, const char *service, const char *status);
bool answers_equal(const struct answers *a, const struct answers *b);
void answers_print(const char *what, const struct answers *answers);
void answers_free(struct answers *answers);
