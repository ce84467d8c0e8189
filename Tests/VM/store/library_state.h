// A media library as it lies on the disk.
#pragma once
#include "account.h"

struct library_found {
    // What it has, as `library_account.h` says.
    struct answers lines;
    // Files whose row or name came or went when it ended: the daemon settles them when it opens the library.
    unsigned doubtful;
    // Whether imports were under way.
    bool is_in_transit;
    // What is wrong with it; empty when nothing is.
    char fault[512];
};

// Reads the index and every file. A library that is not there has nothing.
struct library_found library_read(const char *folder);
