#include "allocation_counter.h"
#include "noted_malloc.h"

static __thread int is_counting;
static __thread unsigned long allocations;

void allocation_counter_start(void) {
    allocations = 0;
    is_counting = 1;
}

unsigned long allocation_counter_stop(void) {
    is_counting = 0;
    return allocations;
}

static void note(void) {
    if (is_counting) allocations++;
}
