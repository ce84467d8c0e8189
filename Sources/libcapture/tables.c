/* Reading and writing a{sv}, with as little belief as possible: what is of an unexpected type is passed over. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const cap_sample_format_names[5] = {NULL, "S16_LE", "S24_3LE", "S32_LE", "FLOAT_LE"};

int cap_read_table(sd_bus_message *message, cap_field *field, void *context) {
    int result = sd_bus_message_enter_container(message, 'a', "{sv}");
    if (result < 0) return result;
    while ((result = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        const char *key, *type;
        char kind;
        if ((result = sd_bus_message_read_basic(message, 's', &key)) < 0) return result;
        if ((result = sd_bus_message_peek_type(message, &kind, &type)) < 0) return result;
        if ((result = sd_bus_message_enter_container(message, 'v', type)) < 0) return result;
        if ((result = field(context, key, type, message)) < 0) return result;
        if (!result && (result = sd_bus_message_skip(message, type)) < 0) return result;
        if ((result = sd_bus_message_exit_container(message)) < 0) return result;
        if ((result = sd_bus_message_exit_container(message)) < 0) return result;
    }
    return result < 0 ? result : sd_bus_message_exit_container(message);
}

int cap_read_tables(sd_bus_message *message, int (*item)(void *context, sd_bus_message *message), void *context) {
    int result = sd_bus_message_enter_container(message, 'a', "a{sv}");
    if (result < 0) return result;
    while ((result = sd_bus_message_at_end(message, 0)) == 0)
        if ((result = item(context, message)) < 0) return result;
    return result < 0 ? result : sd_bus_message_exit_container(message);
}

int cap_read_text(sd_bus_message *message, const char *type, struct cap_arena *arena, const char **text) {
    const char *found;
    if (strcmp(type, "s")) return 0;
    int result = sd_bus_message_read_basic(message, 's', &found);
    if (result <= 0) return result;
    const char *copy = cap_arena_text(arena, found);
    if (!copy) return -1;
    *text = copy;
    return 1;
}

int cap_read_u32(sd_bus_message *message, const char *type, uint32_t *value) {
    return strcmp(type, "u") ? 0 : sd_bus_message_read_basic(message, 'u', value);
}

int cap_read_i64(sd_bus_message *message, const char *type, int64_t *value) {
    return strcmp(type, "x") ? 0 : sd_bus_message_read_basic(message, 'x', value);
}

int cap_read_flag(sd_bus_message *message, const char *type, int *value) {
    return strcmp(type, "b") ? 0 : sd_bus_message_read_basic(message, 'b', value);
}

/* Codes whose names on the bus are not their four characters are written as 0x and eight digits. V4L2's codes for
   big-endian formats have the highest bit set, and their name ends in "-BE". */
uint32_t cap_pixel_format(const char *name) {
    size_t length = strlen(name);
    if (length == 10 && name[0] == '0' && name[1] == 'x') {
        char *end;
        unsigned long code = strtoul(name, &end, 16);
        return *end ? 0 : (uint32_t)code;
    }
    uint32_t code = 0, big = 0;
    if (length > 3 && !strcmp(name + length - 3, "-BE")) {
        big = 1u << 31;
        length -= 3;
    }
    if (length < 1 || length > 4) return 0;
    for (size_t i = 0; i < 4; i++) code |= (uint32_t)(i < length ? (unsigned char)name[i] : ' ') << (8 * i);
    return code | big;
}

void cap_pixel_format_name(uint32_t code, char name[16]) { snprintf(name, 16, "0x%08x", (unsigned)code); }

int cap_append_text(sd_bus_message *message, const char *key, const char *value) {
    return sd_bus_message_append(message, "{sv}", key, "s", value);
}

int cap_append_u32(sd_bus_message *message, const char *key, uint32_t value) {
    return sd_bus_message_append(message, "{sv}", key, "u", value);
}

int cap_append_flag(sd_bus_message *message, const char *key, int value) {
    return sd_bus_message_append(message, "{sv}", key, "b", value != 0);
}
