/* Whether captured has looked at the process that has the client's connection. It compares how many connections PipeWire takes
   for a process's with how many the process has. Both have to be of one time: a process that left its connection to another
   one may have made a further one in between, which PipeWire has no client for yet. Of whom the camera portal connected,
   captured compares all connections. */
#include "bridge.h"

#include <string.h>
#include <time.h>

enum { again_ms = 50 };

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static void sync_visit(struct visit *visit) { visit->sequence = pw_core_sync(visit->bridge->core, PW_ID_CORE, 0); }

void checking_begin(struct visit *visit) {
    visit->state = visit_checking;
    visit->check_end = now_ms() + bridge_check_ms;
    sync_visit(visit);
}

void checking_again(void *data, uint64_t expirations) {
    struct bridge *bridge = data;
    struct visit *visit;
    (void)expirations;
    spa_list_for_each(visit, &bridge->visits, link)
        if (visit->state == visit_checking) sync_visit(visit);
}

/* captured looks again, with what is known now. The answer stands: nobody is asked again. */
static void ask_again(struct visit *visit) {
    visits_let_go(visit);
    visit->state = visit_asking;
    int result = asking_begin(visit);
    if (result < 0) visits_end(visit, CAPTURE_INTERNAL, strerror(-result));
}

/* Whether PipeWire's connections are those that captured was told of. */
static bool is_as_told(const struct visit *visit) {
    if (visit->is_by_portal) return visit->client_changes == visit->bridge->client_changes;
    return visit->connections == globals_connections(visit->bridge, visit->pid);
}

bool checking_retry(struct visit *visit) {
    if (!visit->is_by_portal || is_as_told(visit) || ++visit->tries >= bridge_most_tries) return false;
    ask_again(visit);
    return true;
}

void checking_look(struct visit *visit) {
    struct timespec later = {.tv_nsec = again_ms * 1000000L};
    bool is_silent = sockets_silent(visit->bridge) > 0;
    if (is_silent && now_ms() < visit->check_end)
        pw_loop_update_timer(visit->bridge->loop, visit->bridge->check_source, &later, NULL, false);
    else if (is_silent)
        visits_end(visit, CAPTURE_NOT_PERMITTED,
                   "a program is connected to PipeWire and stays silent, so captured cannot tell whose stream this is");
    else if (is_as_told(visit))
        visit_checked(visit);
    else if (++visit->tries < bridge_most_tries)
        ask_again(visit);
    else
        visits_end(visit, CAPTURE_NOT_PERMITTED, "programs keep connecting to PipeWire while captured looks at this one");
}
