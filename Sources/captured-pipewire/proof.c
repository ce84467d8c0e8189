/* That a program which the desktop's camera portal connected has the memory of its pictures, and no other program has it. Which
   client of PipeWire's a program is, is the client's own word if several have connections of the portal's. So nothing is
   written into the memory before captured has looked who has it, and it looks again and again while pictures come. */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* The next look comes after so many times what the last one took, within these bounds; and a look holds so long. In
   milliseconds. */
enum { least_wait = 5000, most_wait = 60000, wait_factor = 50, most_trust = 120000 };

struct proof {
    struct bridge_post post;
    struct bridge *bridge;
    struct visit *visit; /* NULL: gone meanwhile. Only for the loop's thread. */
    struct capture_session *session;
    uint64_t inodes[bridge_most_buffers];
    size_t count;
    bool is_stale;
    int64_t began_at;
    int code;
    char sentence[400];
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000) + time.tv_nsec / 1000000;
}

static void answered(struct bridge_post *post) {
    struct proof *proof = (struct proof *)post;
    struct visit *visit = proof->visit;
    if (visit) {
        visit->proof = NULL;
        visit->is_proven = !proof->code && !proof->is_stale;
        visit->proven_at = now();
        int64_t wait = (visit->proven_at - proof->began_at) * wait_factor;
        visit->look_after = visit->proven_at + (wait < least_wait ? least_wait : wait > most_wait ? most_wait : wait);
        /* An answer about memory that is gone says nothing. captured looks again before the next picture is written. */
        if (proof->code && !proof->is_stale) visits_end(visit, proof->code, proof->sentence);
    } else {
        capture_session_free(proof->session);
    }
    free(proof);
}

static void *look(void *data) {
    struct proof *proof = data;
    proof->code = -capture_session_check_memory(proof->session, proof->inodes, proof->count);
    if (proof->code) strncpy(proof->sentence, capture_message(), sizeof proof->sentence - 1);
    bridge_post(proof->bridge, &proof->post);
    return NULL;
}

static void begin(struct visit *visit) {
    struct proof *proof = calloc(1, sizeof *proof);
    pthread_t thread;
    struct stat about;
    if (!proof) return;
    proof->post.run = answered;
    proof->bridge = visit->bridge;
    proof->visit = visit;
    proof->session = visit->session;
    proof->began_at = now();
    for (size_t i = 0; i < BRIDGE_COUNT(visit->buffers); i++)
        if (visit->buffers[i] && fstat((int)visit->buffers[i]->buffer->datas[0].fd, &about) == 0)
            proof->inodes[proof->count++] = about.st_ino;
    if (!proof->count || pthread_create(&thread, NULL, look, proof)) {
        free(proof);
        return;
    }
    pthread_setname_np(thread, "proof");
    pthread_detach(thread);
    visit->proof = proof;
}

bool proof_holds(struct visit *visit) {
    if (!visit->is_by_portal) return true;
    if (!visit->proof && (!visit->is_proven || now() >= visit->look_after)) begin(visit);
    return visit->is_proven && now() - visit->proven_at < most_trust;
}

void proof_anew(struct visit *visit) {
    visit->is_proven = false;
    if (visit->proof) visit->proof->is_stale = true;
}

void proof_forget(struct visit *visit) {
    visit->is_proven = false;
    if (!visit->proof) return;
    /* Its thread has the session, and the end of the connection wakes it. */
    visit->proof->visit = NULL;
    visit->session = NULL;
    visit->proof = NULL;
}
