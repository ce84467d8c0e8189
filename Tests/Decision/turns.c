// Asks a captured three things in turns, on one connection: nothing (Ping), what was decided (GetStatus), and access that
// was granted once (RequestAccess, whose answer is the decision). Prints the median of each in microseconds.
//
// turns ROUNDS    the bus is the session's; the program must have been allowed the camera
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <time.h>

static const char service[] = "org.capturekit.Capture1", path[] = "/org/capturekit/Capture1";
static const char authorization[] = "org.capturekit.Capture1.Authorization";
enum { authorized = 3 };
enum { warming_up = 200 };

static double microseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void check(int code, const char *what, const sd_bus_error *error)
{
    if (code < 0)
        errx(1, "%s: %s", what, error && error->message ? error->message : strerror(-code));
}

static void ping(sd_bus *bus)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    check(sd_bus_call_method(bus, service, path, "org.freedesktop.DBus.Peer", "Ping", &error, &reply, ""), "Ping", &error);
    sd_bus_message_unref(reply);
}

static void get_status(sd_bus *bus)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    uint32_t status = 0;
    check(sd_bus_call_method(bus, service, path, authorization, "GetStatus", &error, &reply, "s", "camera"), "GetStatus",
          &error);
    check(sd_bus_message_read(reply, "u", &status), "GetStatus", NULL);
    if (status != authorized)
        errx(1, "the camera's status is %" PRIu32, status);
    sd_bus_message_unref(reply);
}

// Returns whether the answer was the decision; else a signal brings it, which is nothing that is remembered.
static int request_access(sd_bus *bus)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    uint32_t number = 1;
    check(sd_bus_call_method(bus, service, path, authorization, "RequestAccess", &error, &reply, "as", 1, "camera"),
          "RequestAccess", &error);
    check(sd_bus_message_read(reply, "u", &number), "RequestAccess", NULL);
    sd_bus_message_unref(reply);
    return number == 0;
}

static int count(sd_bus_message *message, void *data, sd_bus_error *error)
{
    (void)message, (void)error;
    ++*(int *)data;
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const int rounds = argc == 2 ? atoi(argv[1]) : 0;
    if (rounds < 1)
        errx(64, "usage: turns ROUNDS");
    sd_bus *bus = NULL;
    check(sd_bus_open_user(&bus), "the bus", NULL);

    // What has just been stored is looked at anew for a while, since its file might change within the same tick.
    const double limit = microseconds() + 30e6;
    int told = 0;
    check(sd_bus_match_signal(bus, NULL, service, path, authorization, "AccessDecided", count, &told), "a match", NULL);
    for (int asked = 1; !request_access(bus); asked++) {
        if (microseconds() > limit)
            errx(1, "nothing was remembered within half a minute");
        while (told < asked) {
            int code = sd_bus_process(bus, NULL);
            check(code, "the bus", NULL);
            if (code == 0)
                check(sd_bus_wait(bus, UINT64_MAX), "the bus", NULL);
        }
    }
    int remembered = 0;
    double *taken[3];
    for (int kind = 0; kind < 3; kind++)
        if (!(taken[kind] = calloc((size_t)rounds, sizeof *taken[kind])))
            err(71, "memory");
    for (int round = -warming_up; round < rounds; round++) {
        for (int turn = 0; turn < 3; turn++) {
            // Each comes after each of the others as often.
            const int kind = round % 2 ? turn : 2 - turn;
            const double began = microseconds();
            switch (kind) {
            case 0: ping(bus); break;
            case 1: get_status(bus); break;
            case 2: remembered += request_access(bus) && round >= 0; break;
            }
            if (round >= 0)
                taken[kind][round] = microseconds() - began;
        }
    }
    const char *const names[] = {"ping", "status", "request"};
    for (int kind = 0; kind < 3; kind++) {
        qsort(taken[kind], (size_t)rounds, sizeof *taken[kind], by_size);
        printf("%s %.1f\n", names[kind], taken[kind][rounds / 2]);
    }
    // Now and then it is looked at anew.
    if (remembered < rounds * 9 / 10)
        errx(1, "of %d requests %d were remembered", rounds, remembered);
    return 0;
}
