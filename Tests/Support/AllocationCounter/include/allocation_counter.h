/* Counts the heap allocations of one thread, by standing before the C library's allocator in the test's process. */
#pragma once

/* Begins to count on the calling thread. */
void allocation_counter_start(void);
/* Ends it; returns how many allocations the calling thread made since. */
unsigned long allocation_counter_stop(void);
