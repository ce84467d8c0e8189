/* Tells captured who connected itself to what another program gets, for the history and the journal. */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

enum { most_reports = 8, call_seconds = 10 };

struct report {
    struct bridge_post post;
    struct bridge *bridge;
    enum capture_media media;
    int pid, other;
    uint64_t start_time, other_start_time;
};

static void told(struct bridge_post *post) {
    struct report *report = (struct report *)post;
    report->bridge->report_count--;
    free(report);
}

static void *tell(void *data) {
    struct report *report = data;
    sd_bus *bus = NULL;
    sd_bus_error error = SD_BUS_ERROR_NULL;
    int result = report->bridge->bus == CAPTURE_BUS_SESSION ? sd_bus_open_user(&bus) : sd_bus_open_system(&bus);
    if (result >= 0) sd_bus_set_method_call_timeout(bus, call_seconds * UINT64_C(1000000));
    if (result >= 0)
        result = sd_bus_call_method(bus, "org.capturekit.Capture1", "/org/capturekit/Capture1",
                                    "org.capturekit.Capture1.Manager", "ReportStranger", &error, NULL, "ututs",
                                    (uint32_t)report->pid, report->start_time, (uint32_t)report->other,
                                    report->other_start_time,
                                    report->media == CAPTURE_VIDEO ? "camera" : "microphone");
    if (result < 0) bridge_say("cannot tell captured of it: %s", error.message ? error.message : strerror(-result));
    sd_bus_error_free(&error);
    sd_bus_flush_close_unref(bus);
    bridge_post(report->bridge, &report->post);
    return NULL;
}

void strangers_report(struct visit *visit, int pid) {
    struct bridge *bridge = visit->bridge;
    struct report *report = bridge->report_count < most_reports ? calloc(1, sizeof *report) : NULL;
    if (!report) return;
    report->post.run = told;
    report->bridge = bridge;
    report->media = visit->media;
    report->pid = pid;
    report->start_time = pid ? process_start_time(pid, -1) : 0;
    report->other = visit->pid;
    report->other_start_time = visit->start_time;
    pthread_t thread;
    if (pthread_create(&thread, NULL, tell, report)) {
        free(report);
        return;
    }
    pthread_setname_np(thread, "reporting");
    pthread_detach(thread);
    bridge->report_count++;
}
