#define _GNU_SOURCE
#include "account.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

struct account account_read(const char *path)
{
    struct account account = {.count = 0};
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        err(66, "%s", path);
    while (getline(&line, &room, file) > 0) {
        if (account.count == sizeof account.line / sizeof *account.line)
            errx(65, "%s has too many lines", path);
        line[strcspn(line, "\n")] = 0;
        if (!(account.line[account.count++] = strdup(line)))
            err(71, "memory");
    }
    free(line);
    fclose(file);
    return account;
}

// Takes away what begins with a text.
static void drop(struct answers *answers, const char *start)
{
    size_t kept = 0;
    for (size_t i = 0; i < answers->count; i++) {
        if (strncmp(answers->line[i], start, strlen(start)) == 0)
            free(answers->line[i]);
        else
            answers->line[kept++] = answers->line[i];
    }
    answers->count = kept;
}

struct answers account_after(const struct account *account, size_t count)
{
    struct answers answers = {.count = 0};
    for (size_t i = 0; i < count && i < account->count; i++) {
        char program[128], service[32], status[32], key[168];
        if (sscanf(account->line[i], "set %127s %31s %31s", program, service, status) == 3) {
            snprintf(key, sizeof key, "%s %s ", program, service);
            drop(&answers, key);
            answers_add(&answers, program, service, status);
        } else if (sscanf(account->line[i], "reset %127s", program) == 1) {
            snprintf(key, sizeof key, "%s ", program);
            drop(&answers, key);
        } else {
            errx(65, "line %zu of the account is neither set nor reset: %s", i + 1, account->line[i]);
        }
    }
    qsort(answers.line, answers.count, sizeof *answers.line, by_text);
    return answers;
}

void answers_add(struct answers *answers, const char *program, const char *service, const char *status)
{
    if (answers->count == sizeof answers->line / sizeof *answers->line)
        errx(65, "too many answers");
    if (asprintf(&answers->line[answers->count++], "%s %s %s", program, service, status) < 0)
        err(71, "memory");
}

bool answers_equal(const struct answers *a, const struct answers *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->line[i], b->line[i]) != 0)
            return false;
    return true;
}

void answers_print(const char *what, const struct answers *answers)
{
    printf("  %s:%s\n", what, answers->count ? "" : " nothing");
    for (size_t i = 0; i < answers->count; i++)
        printf("    %s\n", answers->line[i]);
}

void answers_free(struct answers *answers)
{
    for (size_t i = 0; i < answers->count; i++)
        free(answers->line[i]);
    answers->count = 0;
}
