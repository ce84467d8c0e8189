/* alsa-lib: PCM capture, probing and the simple mixer. Its alloca macros do not import; the _malloc and _free calls do. */
#pragma once
/* asoundlib.h brings poll.h along, whose pollfd would otherwise belong to this module and no longer to Glibc's in the
   eyes of every file beside one that uses it. */
#pragma clang module import SwiftGlibc
#include <alsa/asoundlib.h>

/* snd_lib_error_handler_t is variadic, which Swift does not import (alsa/error.h): without a handler of ours alsa-lib
   writes to stderr what its callers are told by a number anyway. */
static void calsa_ignore(const char *file, int line, const char *function, int err, const char *format, ...) {
    (void)file;
    (void)line;
    (void)function;
    (void)err;
    (void)format;
}
static inline int calsa_quiet(void) { return snd_lib_error_set_handler(calsa_ignore); }
