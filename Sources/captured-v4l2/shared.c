/* What all opens of one camera in a process share. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

struct shared {
    struct shared *next;
    const struct file *owner; /* of buffers */
    struct choice choice;
    char id[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* One for each camera that was ever opened; they stay, so that a format outlives its open. */
static struct shared *all;

static struct shared *find_locked(struct file *file) {
    const char *id = file->camera.device->id;
    struct shared *shared = all;
    while (shared && strcmp(shared->id, id)) shared = shared->next;
    if (shared) return shared;
    size_t size = strlen(id) + 1;
    if (!(shared = calloc(1, sizeof *shared + size))) return NULL;
    memcpy(shared->id, id, size);
    shared->choice = file->choice;
    shared->next = all;
    all = shared;
    return shared;
}

void shim_sync(struct file *file) {
    pthread_mutex_lock(&lock);
    if (!file->shared) file->shared = find_locked(file);
    if (file->shared && !file->count) file->choice = file->shared->choice;
    pthread_mutex_unlock(&lock);
}

void shim_share(struct file *file) {
    pthread_mutex_lock(&lock);
    if (file->shared) file->shared->choice = file->choice;
    pthread_mutex_unlock(&lock);
}

bool shim_is_others(struct file *file) {
    pthread_mutex_lock(&lock);
    bool is_others = file->shared && file->shared->owner && file->shared->owner != file;
    pthread_mutex_unlock(&lock);
    return is_others;
}

bool shim_claim(struct file *file) {
    pthread_mutex_lock(&lock);
    bool is_free = !file->shared || !file->shared->owner || file->shared->owner == file;
    if (is_free && file->shared) file->shared->owner = file;
    pthread_mutex_unlock(&lock);
    return is_free;
}

void shim_unclaim(struct file *file) {
    pthread_mutex_lock(&lock);
    if (file->shared && file->shared->owner == file) file->shared->owner = NULL;
    pthread_mutex_unlock(&lock);
}

/* In the child of a fork. */
void shim_unclaim_all(void) {
    pthread_mutex_init(&lock, NULL);
    for (struct shared *shared = all; shared; shared = shared->next) shared->owner = NULL;
}
