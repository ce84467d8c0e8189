#define _GNU_SOURCE
#include "CBus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const uint64_t cbus_property_constant = SD_BUS_VTABLE_PROPERTY_CONST;
const uint64_t cbus_property_emits_change = SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE;

enum { strings_of_an_entry = 4 };

struct cbus_vtable {
    size_t used, room, strings;
    char **text; /* every copied string, to be freed with the table */
    sd_bus_vtable *entries;
};

/* sd-bus reads the table as long as the object is exported, so it owns its strings. */
static const char *keep(cbus_vtable *table, const char *text, size_t length) {
    char *copy = malloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    table->text[table->strings++] = copy;
    return copy;
}

cbus_vtable *cbus_vtable_new(size_t entries) {
    cbus_vtable *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->room = entries;
    table->text = calloc(entries * strings_of_an_entry + 1, sizeof *table->text);
    table->entries = calloc(entries + 2, sizeof *table->entries);
    if (!table->text || !table->entries) {
        cbus_vtable_free(table);
        return NULL;
    }
    /* UNPRIVILEGED: who may call what is decided by the handlers; without it sd-bus asks the bus for the capabilities
       of every caller, and waits for the answer on this thread. */
    table->entries[0] = (sd_bus_vtable)SD_BUS_VTABLE_START(SD_BUS_VTABLE_UNPRIVILEGED);
    table->entries[1] = (sd_bus_vtable)SD_BUS_VTABLE_END;
    return table;
}

static sd_bus_vtable *next(cbus_vtable *table) {
    if (table->used == table->room) return NULL;
    sd_bus_vtable *entry = &table->entries[++table->used];
    entry[1] = (sd_bus_vtable)SD_BUS_VTABLE_END;
    memset(entry, 0, sizeof *entry);
    return entry;
}

int cbus_vtable_method(
    cbus_vtable *table, const char *member, const char *signature, const char *result, const char *names,
    size_t length, sd_bus_message_handler_t handler) {
    const char *kept_member = keep(table, member, strlen(member));
    const char *kept_signature = keep(table, signature, strlen(signature));
    const char *kept_result = keep(table, result, strlen(result));
    const char *kept_names = keep(table, names, length);
    if (!kept_member || !kept_signature || !kept_result || !kept_names) return -ENOMEM;
    sd_bus_vtable *entry = next(table);
    if (!entry) return -ENOSPC;
    entry->type = _SD_BUS_VTABLE_METHOD;
    entry->flags = SD_BUS_VTABLE_UNPRIVILEGED;
    entry->x.method.member = kept_member;
    entry->x.method.signature = kept_signature;
    entry->x.method.result = kept_result;
    entry->x.method.handler = handler;
    entry->x.method.names = kept_names;
    return 0;
}

int cbus_vtable_signal(
    cbus_vtable *table, const char *member, const char *signature, const char *names, size_t length) {
    const char *kept_member = keep(table, member, strlen(member));
    const char *kept_signature = keep(table, signature, strlen(signature));
    const char *kept_names = keep(table, names, length);
    if (!kept_member || !kept_signature || !kept_names) return -ENOMEM;
    sd_bus_vtable *entry = next(table);
    if (!entry) return -ENOSPC;
    entry->type = _SD_BUS_VTABLE_SIGNAL;
    entry->x.signal.member = kept_member;
    entry->x.signal.signature = kept_signature;
    entry->x.signal.names = kept_names;
    return 0;
}

int cbus_vtable_property(
    cbus_vtable *table, const char *member, const char *signature, sd_bus_property_get_t get, uint64_t flags) {
    const char *kept_member = keep(table, member, strlen(member));
    const char *kept_signature = keep(table, signature, strlen(signature));
    if (!kept_member || !kept_signature) return -ENOMEM;
    sd_bus_vtable *entry = next(table);
    if (!entry) return -ENOSPC;
    entry->type = _SD_BUS_VTABLE_PROPERTY;
    entry->flags = flags;
    entry->x.property.member = kept_member;
    entry->x.property.signature = kept_signature;
    entry->x.property.get = get;
    return 0;
}

const sd_bus_vtable *cbus_vtable_entries(const cbus_vtable *table) { return table->entries; }

void cbus_vtable_free(cbus_vtable *table) {
    if (!table) return;
    for (size_t i = 0; i < table->strings; i++) free(table->text[i]);
    free(table->text);
    free(table->entries);
    free(table);
}
