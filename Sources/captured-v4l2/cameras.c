/* Which node is which camera. The daemon says which nodes are cameras of its own; nothing else is touched. */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { video_major = 81 };

/* CAPTURE_V4L2_DEVICES="/dev/video90=synthetic:camera,/dev/video91=usb-…": nodes that need not be there, for tests and
   containers. It grants nothing. */
bool shim_mapped(const char *path, char *id, size_t size, dev_t *number) {
    const char *list = secure_getenv("CAPTURE_V4L2_DEVICES");
    size_t length = strlen(path);
    for (unsigned place = 0; list && *list; place++) {
        const char *end = strchrnul(list, ','), *is = memchr(list, '=', (size_t)(end - list));
        if (is && (size_t)(is - list) == length && !memcmp(list, path, length) && is[1] && (size_t)(end - is) <= size) {
            memcpy(id, is + 1, (size_t)(end - is - 1));
            id[end - is - 1] = 0;
            unsigned minor = 0;
            sscanf(path, "/dev/video%u", &minor);
            *number = makedev(video_major, minor ? minor : 200 + place);
            return true;
        }
        list = *end ? end + 1 : end;
    }
    return false;
}

/* Paths that every program opens, and that are no cameras. */
static bool is_common(const char *name) {
    static const char *const common[] = {"null", "zero", "full", "urandom", "random", "tty", "ptmx"};
    static const char *const folders[] = {"pts/", "shm/", "fd/", "dri/", "snd/", "input/", "bus/"};
    for (size_t i = 0; i < SHIM_COUNT(common); i++)
        if (!strcmp(name, common[i])) return true;
    for (size_t i = 0; i < SHIM_COUNT(folders); i++)
        if (!strncmp(name, folders[i], strlen(folders[i]))) return true;
    return false;
}

static bool node_number(int folder, const char *path, dev_t *number) {
    struct stat64 found;
    int saved = errno;
    int result = real_stat(folder, path, &found, 0);
    errno = saved;
    if (result < 0 || !S_ISCHR(found.st_mode) || major(found.st_rdev) != video_major) return false;
    *number = found.st_rdev;
    return true;
}

bool shim_may_be_node(int folder, const char *path) {
    dev_t number;
    char id[256];
    if (!path) return false;
    if (!strncmp(path, "/dev/", 5)) {
        if (is_common(path + 5) || shim_is_off()) return false;
        return node_number(folder, path, &number) || shim_mapped(path, id, sizeof id, &number);
    }
    /* Others lead there by the folder they are looked up in, or by ..: only those with a node's name. */
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return !strncmp(name, "video", 5) && !shim_is_off() && node_number(folder, path, &number);
}

static const struct capture_device *by_id(const struct capture_device *const *devices, const char *id) {
    for (; *devices; devices++)
        if ((*devices)->media == CAPTURE_VIDEO && !strcmp((*devices)->id, id)) return *devices;
    return NULL;
}

/* By the number of the node, so that links lead to the same camera. */
static const struct capture_device *by_number(const struct capture_device *const *devices, dev_t number) {
    for (; *devices; devices++) {
        const char *const *alias = (*devices)->aliases;
        dev_t its;
        if ((*devices)->media != CAPTURE_VIDEO) continue;
        for (; *alias; alias++)
            if (!strncmp(*alias, "/dev/video", 10) && node_number(AT_FDCWD, *alias, &its) && its == number)
                return *devices;
    }
    return NULL;
}

static bool find(struct camera *camera, const char *id, dev_t number) {
    if (lib.connect(CAPTURE_BUS_DEFAULT, &camera->client) < 0) return false;
    /* A daemon that knows bridges needs no reason then; an older one refuses the word, which does no harm. */
    lib.consent_explain(camera->client, "bridge", "v4l2");
    if (lib.devices(camera->client, &camera->devices) < 0) return false;
    camera->device = *id ? by_id(camera->devices, id) : by_number(camera->devices, number);
    camera->number = number;
    /* One that has no format of the library's has nothing to show. */
    const struct capture_video_offer *const *offer = camera->device ? camera->device->video : NULL;
    while (offer && *offer && !shim_layout((*offer)->pixel_format)) offer++;
    return offer && *offer;
}

bool shim_find(int folder, const char *path, struct camera *camera) {
    char id[256] = "";
    dev_t number = 0;
    int saved = errno;
    shim_begin();
    memset(camera, 0, sizeof *camera);
    bool is_known = shim_mapped(path, id, sizeof id, &number) || node_number(folder, path, &number);
    bool is_found = is_known && shim_load() && find(camera, id, number);
    if (!is_found) shim_forget(camera);
    errno = saved;
    return is_found;
}

bool shim_find_again(const struct camera *was, struct camera *camera) {
    int saved = errno;
    memset(camera, 0, sizeof *camera);
    bool is_found = shim_load() && find(camera, was->device->id, was->number);
    if (!is_found) shim_forget(camera);
    errno = saved;
    return is_found;
}

void shim_forget(struct camera *camera) {
    if (camera->devices) lib.devices_free(camera->devices);
    if (camera->client) lib.disconnect(camera->client);
    memset(camera, 0, sizeof *camera);
}
