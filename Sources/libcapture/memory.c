/* Memory that is freed at once, and structures of other versions. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct cap_block {
    struct cap_block *next;
    max_align_t data[];
};

void cap_copy_text(char *to, size_t size, const char *from) {
    size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = 0;
}

void *cap_arena_take(struct cap_arena *arena, size_t size) {
    struct cap_block *block = calloc(1, sizeof *block + size);
    if (!block) return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    return block->data;
}

char *cap_arena_text(struct cap_arena *arena, const char *text) {
    size_t length = strlen(text);
    char *copy = cap_arena_take(arena, length + 1);
    return copy ? memcpy(copy, text, length) : NULL;
}

void cap_arena_free(struct cap_arena *arena) {
    while (arena->blocks) {
        struct cap_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
}

int cap_pointers_add(struct cap_arena *arena, struct cap_pointers *pointers, const void *item) {
    if (pointers->count + 1 >= pointers->room) {
        size_t room = pointers->room ? pointers->room * 2 : 8;
        const void **items = cap_arena_take(arena, room * sizeof *items);
        if (!items) return -1;
        if (pointers->count) memcpy(items, pointers->items, pointers->count * sizeof *items);
        pointers->items = items;
        pointers->room = room;
    }
    if (item) pointers->items[pointers->count++] = item;
    return 0;
}

/* What a caller gets is `items`. */
struct list {
    struct cap_arena arena;
    const void *items[];
};

const void *const *cap_list_make(struct cap_arena *arena, const struct cap_pointers *pointers) {
    struct list *list = calloc(1, sizeof *list + (pointers->count + 1) * sizeof *list->items);
    if (!list) {
        cap_arena_free(arena);
        return NULL;
    }
    list->arena = *arena;
    if (pointers->count) memcpy(list->items, pointers->items, pointers->count * sizeof *list->items);
    return list->items;
}

void cap_list_free(const void *const *items) {
    if (!items) return;
    struct list *list = (struct list *)((char *)(uintptr_t)items - offsetof(struct list, items));
    cap_arena_free(&list->arena);
    free(list);
}

void cap_import(void *own, size_t own_size, const void *theirs, uint32_t their_size) {
    memset(own, 0, own_size);
    memcpy(own, theirs, their_size < own_size ? their_size : own_size);
}

void cap_export(const void *own, size_t own_size, void *theirs, uint32_t their_size) {
    if (their_size > own_size) memset((char *)theirs + own_size, 0, their_size - own_size);
    memcpy(theirs, own, their_size < own_size ? their_size : own_size);
    memcpy(theirs, &their_size, sizeof their_size);
}
