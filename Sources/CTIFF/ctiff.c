#include "CTIFF.h"

#include <dlfcn.h>
#include <stddef.h>

#define FIND(member, name) (loaded.member = (__typeof__(loaded.member))dlsym(library, #name))

/* Called once, by the first who wants it. */
const struct ctiff *ctiff_load(void) {
    static struct ctiff loaded;
    /* Debian 12's, and the one before it. */
    void *library = dlopen("libtiff.so.6", RTLD_LAZY);
    if (!library) library = dlopen("libtiff.so.5", RTLD_LAZY);
    if (!library) return NULL;
    TIFFErrorHandler (*set_warnings)(TIFFErrorHandler) = (__typeof__(set_warnings))dlsym(library, "TIFFSetWarningHandler");
    if (set_warnings) set_warnings(NULL);
    return FIND(open, TIFFClientOpen) && FIND(close, TIFFClose) && FIND(set, TIFFSetField) && FIND(field, TIFFFieldWithTag) &&
                   FIND(passes_count, TIFFFieldPassCount) &&
                   FIND(make_directory, TIFFCreateDirectory) && FIND(make_exif_directory, TIFFCreateEXIFDirectory) &&
                   FIND(write_custom_directory, TIFFWriteCustomDirectory) && FIND(write_directory, TIFFWriteDirectory) &&
                   FIND(write_strip, TIFFWriteRawStrip)
               ? &loaded
               : NULL;
}
