/* How visits end, and what programs are told. */
#include "bridge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int number(int code) {
    switch (code) {
    case CAPTURE_NO_SUCH_DEVICE:
    case CAPTURE_DEVICE_LOST:
    case CAPTURE_UNREACHABLE: return -ENODEV;
    case CAPTURE_BUSY: return -EBUSY;
    case CAPTURE_NO_SUCH_FORMAT: return -EINVAL;
    case CAPTURE_INTERNAL:
    case CAPTURE_BAD_DATA:
    case CAPTURE_INPUT_OUTPUT: return -EIO;
    default: return -EACCES;
    }
}

/* Lets go of all that it captures with. Its memory is not written any more. */
void visits_let_go(struct visit *visit) {
    asking_forget(visit);
    node_close(visit);
    for (size_t i = 0; i < BRIDGE_COUNT(visit->links); i++)
        if (visit->links[i]) pw_proxy_destroy(visit->links[i]);
    capture_reader_free(visit->reader);
    /* Its end ends the session. A call before it would come from nobody any more. */
    capture_disconnect(visit->capture);
    proof_forget(visit);
    capture_session_free(visit->session);
    visit->reader = NULL;
    visit->session = NULL;
    visit->capture = NULL;
    for (size_t i = 0; i < BRIDGE_COUNT(visit->links); i++) visit->links[i] = NULL;
}

void visits_end(struct visit *visit, int code, const char *sentence) {
    char line[512];
    if (visit->state == visit_over) return;
    visit->state = visit_over;
    snprintf(line, sizeof line, "captured: %.480s", sentence);
    bridge_say("process %d gets nothing of %s: %s", visit->pid, visit->device_name, sentence);
    /* To the program's own node: its stream fails with this sentence. PulseAudio's clients hear of that only while their
       stream is made. Later they hear that it is gone, but of no error. */
    if (visit->is_pulse && visit->is_led) pw_registry_destroy(visit->bridge->registry, visit->node);
    else if (visit->client && !visit->is_lingering)
        pw_client_error((struct pw_client *)visit->client, visit->node, number(code), line);
    visits_let_go(visit);
}

void visits_free(struct visit *visit) {
    visit->state = visit_over;
    visits_let_go(visit);
    spa_list_remove(&visit->link);
    visit->bridge->visit_count--;
    if (visit->client) {
        spa_hook_remove(&visit->client_listener);
        pw_proxy_destroy(visit->client);
    }
    if (visit->input) {
        spa_hook_remove(&visit->input_listener);
        pw_proxy_destroy(visit->input);
    }
    if (visit->port) {
        spa_hook_remove(&visit->port_listener);
        pw_proxy_destroy(visit->port);
    }
    for (size_t i = 0; i < visit->pod_count; i++) free(visit->pods[i]);
    if (visit->pidfd >= 0) close(visit->pidfd);
    free(visit);
}
