// after ACCOUNT COUNT: prints what a store has to hold after the first COUNT lines of ACCOUNT.
#include "account.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        errx(64, "usage: after ACCOUNT COUNT");
    struct account account = account_read(argv[1]);
    struct answers answers = account_after(&account, strtoul(argv[2], NULL, 10));
    for (size_t i = 0; i < answers.count; i++)
        puts(answers.line[i]);
    answers_free(&answers);
    return 0;
}
