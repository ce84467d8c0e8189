/* How many tests run at a time, set before the testing library reads it. Each of many tests starts a bus and a daemon, and
   without a limit all tests start at once: they exceed the user's inotify instances (128) and wait for each other's
   threads. Who names another width in the environment gets that. */
#include <stdlib.h>

__attribute__((constructor)) static void limit_tests(void)
{
	setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "16", 0);
}
