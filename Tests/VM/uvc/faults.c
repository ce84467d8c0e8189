/* Commands:
     plug, unplug, quit, state
     light PERCENT, distance 0-250, temperature KELVIN   the scene, which automatic controls follow
     button                                             the camera's button is pressed and let go
   Faults, of the next N frames or requests (1):
     cut [N]         half of the data is missing
     garble [N]      data is overwritten
     error-bit [N]   the payload header tells an error
     oversize [N]    longer than the negotiated longest frame
     empty [N]       a header without data
     halt [N]        transfers end with a stall
     requests-stall [N], requests-hang [N]              control requests are refused, or never answered
     settings-stall [N], settings-hang [N]              so are those that write a control
   and until they are taken back:
     stall SECONDS                                      no frames for so long
     tables on|off                                      Huffman tables in JPEG frames
     descriptors LIE|true                               at the next plug; descriptors.c has the lies */
#include "camera.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_state(const struct camera *camera, char *answer, size_t room) {
    const struct faults *faults = &camera->faults;
    snprintf(answer, room,
             "plugged=%d port=%d streams=%d delivered=%lu late=%lu requests=%lu pending=%d exposure=%d focus=%d "
             "temperature=%d faults=%u",
             camera->usb >= 0, camera->port, camera->stream.runs, camera->stream.delivered, camera->stream.late,
             camera->requests, camera->pending_count, camera->control.value[control_exposure],
             camera->control.value[control_focus], camera->control.value[control_temperature],
             faults->cut + faults->garble + faults->error_bit + faults->oversize + faults->empty + faults->halt +
                 faults->stall_requests + faults->hang_requests + faults->stall_settings + faults->hang_settings);
}

/* Of those that count. */
static unsigned *counter(struct faults *faults, const char *name) {
    const struct {
        const char *name;
        unsigned *count;
    } all[] = {{"cut", &faults->cut},         {"garble", &faults->garble}, {"error-bit", &faults->error_bit},
               {"oversize", &faults->oversize}, {"empty", &faults->empty},   {"halt", &faults->halt},
               {"requests-stall", &faults->stall_requests}, {"requests-hang", &faults->hang_requests},
               {"settings-stall", &faults->stall_settings}, {"settings-hang", &faults->hang_settings}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name)) return all[i].count;
    return NULL;
}

static bool set_scene(struct scene *scene, const char *name, int value) {
    if (!strcmp(name, "light") && value >= 1 && value <= 10000) return scene->light = value, true;
    if (!strcmp(name, "distance") && value >= 0 && value <= 250) return scene->distance = value, true;
    if (!strcmp(name, "temperature") && value >= 2800 && value <= 6500) return scene->temperature = value, true;
    return false;
}

bool obey(struct camera *camera, const char *command, char *answer, size_t room, bool *ends) {
    char name[24] = "", word[24] = "";
    int count = sscanf(command, "%23s %23s", name, word), number = count > 1 ? atoi(word) : 1;
    unsigned *fault = counter(&camera->faults, name);
    snprintf(answer, room, "done");
    if (fault) return *fault = number > 0 ? number : 0, true;
    if (!strcmp(name, "plug")) {
        if (plug(camera)) return true;
        snprintf(answer, room, "cannot plug: %s", strerror(errno));
        return false;
    }
    if (!strcmp(name, "unplug")) return unplug(camera), true;
    if (!strcmp(name, "quit")) return *ends = true;
    if (!strcmp(name, "state")) return write_state(camera, answer, room), true;
    if (!strcmp(name, "button")) {
        send_status(camera, (uint8_t[]){2, interface_streaming, 0, 1}, 4);
        send_status(camera, (uint8_t[]){2, interface_streaming, 0, 0}, 4);
        return true;
    }
    if (!strcmp(name, "stall") && count > 1) return camera->faults.stalled_until = now() + atof(word), true;
    if (!strcmp(name, "tables") && count > 1) return camera->faults.no_tables = !strcmp(word, "off"), true;
    if (!strcmp(name, "descriptors") && (is_lie(word) || !strcmp(word, "true"))) {
        strcpy(camera->faults.descriptors, is_lie(word) ? word : "");
        return true;
    }
    if (count > 1 && set_scene(&camera->scene, name, number)) return true;
    snprintf(answer, room, "unknown command '%s'", command);
    return false;
}
