/* Once a second, a timer of libdispatch checks whether its workers are blocked and more are needed. It starts with the
   first worker and never stops, so every program wakes once a second for as long as it runs. Here it runs only while a
   worker exists. Workers exit by themselves after five seconds without work.

   The linker puts these functions around those of libdispatch in the programs that contain it (`--wrap` in Package.swift).
   With a shared libdispatch nothing calls them. */
#include <pthread.h>
#include <stdint.h>

typedef uint64_t dispatch_time_t;

/* Their symbols are hidden in a shared libdispatch. */
#define REAL extern __attribute__((weak))
REAL void __real_dispatch_source_set_timer(void *source, dispatch_time_t start, uint64_t interval, uint64_t leeway);
REAL void __real__dispatch_workq_worker_register(void *queue);
REAL void __real__dispatch_workq_worker_unregister(void *queue);
extern dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta);

void __wrap_dispatch_source_set_timer(void *source, dispatch_time_t start, uint64_t interval, uint64_t leeway);
void __wrap__dispatch_workq_worker_register(void *queue);
void __wrap__dispatch_workq_worker_unregister(void *queue);

static const dispatch_time_t now = 0, forever = ~(dispatch_time_t)0;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned workers;
/* The timer's source, from when libdispatch has made it. */
static void *monitor;
static uint64_t monitor_interval;
/* The first worker to be registered makes the timer, by a call of this thread. */
static __thread int is_registering;

void __wrap_dispatch_source_set_timer(void *source, dispatch_time_t start, uint64_t interval, uint64_t leeway) {
    if (is_registering) {
        pthread_mutex_lock(&lock);
        monitor = source;
        monitor_interval = interval;
        pthread_mutex_unlock(&lock);
    }
    __real_dispatch_source_set_timer(source, start, interval, leeway);
}

void __wrap__dispatch_workq_worker_register(void *queue) {
    is_registering = 1;
    __real__dispatch_workq_worker_register(queue);
    is_registering = 0;
    pthread_mutex_lock(&lock);
    if (workers++ == 0 && monitor)
        __real_dispatch_source_set_timer(monitor, dispatch_time(now, (int64_t)monitor_interval), monitor_interval, 0);
    pthread_mutex_unlock(&lock);
}

void __wrap__dispatch_workq_worker_unregister(void *queue) {
    __real__dispatch_workq_worker_unregister(queue);
    pthread_mutex_lock(&lock);
    if (--workers == 0 && monitor) __real_dispatch_source_set_timer(monitor, forever, monitor_interval, 0);
    pthread_mutex_unlock(&lock);
}
