// Prints how many thousand ticks the processor's time stamp counter makes in a second.
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct moment { int64_t time; uint64_t ticks; };

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// The two clocks at one moment: of many tries the one between which the least time passed, so none in which we had to wait.
static struct moment both(void) {
    struct moment best = { 0 };
    int64_t least = INT64_MAX;
    for (int number = 0; number < 1000; number++) {
        int64_t before = now();
        uint64_t ticks = __rdtsc();
        int64_t after = now();
        if (after - before < least) {
            least = after - before;
            best = (struct moment){ before + least / 2, ticks };
        }
    }
    return best;
}

int main(void) {
    struct moment first = both();
    struct timespec pause = { 0, 300000000 };
    nanosleep(&pause, NULL);
    struct moment last = both();
    printf("%.0f\n", (last.ticks - first.ticks) * 1e6 / (last.time - first.time));
}
