#ifndef CAPTURED_NO_ICU_H
#define CAPTURED_NO_ICU_H

// Linking this gives the program `icudt76_dat` without data, in place of the 30 MB in Foundation's library. GRDB brings
// Foundation into the daemon, which uses nothing of it that takes data: no locales, calendars, formatters, collations.
//
// The name has ICU's version. With a toolchain that has another version, the program gets the data, and the check of the
// packages says so.

#endif
