/* sd-bus: what is variadic, a macro or a callback table. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "standard_bus.h"

/* A table of an interface's members made at run time; the SD_BUS_METHOD macros only make constant ones. Entries are
   filled in from 0 on, and every string is copied. NULL or -ENOMEM when there is no memory. `names` are the names of
   the arguments, in before out, each closed by a NUL; `length` counts the last NUL. */
typedef struct cbus_vtable cbus_vtable;
cbus_vtable *cbus_vtable_new(size_t entries);
int cbus_vtable_method(
    cbus_vtable *table, const char *member, const char *signature, const char *result, const char *names,
    size_t length, sd_bus_message_handler_t handler);
int cbus_vtable_signal(
    cbus_vtable *table, const char *member, const char *signature, const char *names, size_t length);
int cbus_vtable_property(
    cbus_vtable *table, const char *member, const char *signature, sd_bus_property_get_t get, uint64_t flags);
const sd_bus_vtable *cbus_vtable_entries(const cbus_vtable *table);
void cbus_vtable_free(cbus_vtable *table);

/* The flags of a property that never changes and of one whose changes are emitted: 64-bit enumerators in an anonymous
   enum, which Swift imports with a type of the compiler's choosing. */
extern const uint64_t cbus_property_constant;
extern const uint64_t cbus_property_emits_change;
