/* libtiff, loaded for the first picture that needs it: the libraries behind it take as long to load as the rest of a
   recorder's start. Its functions that take any number of arguments are called here, since Swift cannot. */
#pragma once
#include <stdint.h>
#include <tiffio.h>

struct ctiff {
    __typeof__(&TIFFClientOpen) _Nonnull open;
    __typeof__(&TIFFClose) _Nonnull close;
    __typeof__(&TIFFSetField) _Nonnull set;
    __typeof__(&TIFFFieldWithTag) _Nonnull field;
    __typeof__(&TIFFFieldPassCount) _Nonnull passes_count;
    __typeof__(&TIFFCreateDirectory) _Nonnull make_directory;
    __typeof__(&TIFFCreateEXIFDirectory) _Nonnull make_exif_directory;
    __typeof__(&TIFFWriteCustomDirectory) _Nonnull write_custom_directory;
    __typeof__(&TIFFWriteDirectory) _Nonnull write_directory;
    __typeof__(&TIFFWriteRawStrip) _Nonnull write_strip;
};

/* NULL where libtiff is not installed. */
const struct ctiff *_Nullable ctiff_load(void);

static inline int ctiff_set_number(const struct ctiff *_Nonnull tiff, TIFF *_Nonnull file, uint32_t tag, uint32_t number) {
    return tiff->set(file, tag, number);
}
static inline int ctiff_set_offset(const struct ctiff *_Nonnull tiff, TIFF *_Nonnull file, uint32_t tag, uint64_t offset) {
    return tiff->set(file, tag, offset);
}
static inline int ctiff_set_pair(const struct ctiff *_Nonnull tiff, TIFF *_Nonnull file, uint32_t tag, uint16_t first,
                                 uint16_t second) {
    return tiff->set(file, tag, first, second);
}
static inline int ctiff_set_fraction(const struct ctiff *_Nonnull tiff, TIFF *_Nonnull file, uint32_t tag, double number) {
    return tiff->set(file, tag, number);
}
/* Numbers of the size that the tag has, or a text with its zero. */
static inline int ctiff_set_list(const struct ctiff *_Nonnull tiff, TIFF *_Nonnull file, uint32_t tag, uint32_t count,
                                 const void *_Nonnull list) {
    const TIFFField *field = tiff->field(file, tag);
    if (!field) return 0;
    return tiff->passes_count(field) ? tiff->set(file, tag, count, list) : tiff->set(file, tag, list);
}
