#include "CNoICU.h"

#include <stddef.h>
#include <stdint.h>

// The head of ICU's common data, as DataHeader in its ucmndata.h and UDataInfo in udata.h have it, and the number of its
// entries: none. ICU looks an entry up, does not find it, and says U_FILE_ACCESS_ERROR.
struct no_icu_data {
    uint16_t header_size;
    uint8_t magic1, magic2;
    uint16_t info_size, reserved;
    uint8_t is_big_endian, charset_family, size_of_char, reserved_byte;
    uint8_t format[4], format_version[4], data_version[4];
    uint8_t padding[8];
    uint32_t entries;
};

_Static_assert(offsetof(struct no_icu_data, entries) == 32 && sizeof(struct no_icu_data) <= 40, "ICU's layout");
_Static_assert(offsetof(struct no_icu_data, padding) == 24, "UDataInfo follows the size and the magic bytes");

const struct no_icu_data icudt76_dat __attribute__((visibility("default"), aligned(8))) = {
    .header_size = 32,
    .magic1 = 0xda,
    .magic2 = 0x27,
    .info_size = 20,
    .size_of_char = 2,
    .format = {'C', 'm', 'n', 'D'},
    .format_version = {1, 0, 0, 0},
};
