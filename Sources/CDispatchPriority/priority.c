/* libdispatch asks for a higher priority (nice -4) for the thread that watches its workers, in each program. For each
   worker it asks for the usual one (nice 0), also in a program that was started with a lower one, as by Nice=.
   The kernel refuses that to programs without privileges, and libdispatch writes a line to the journal each time. The
   priority is only a wish: where it is refused, the thread keeps the one that it has.

   This stands in for the C library's function in the programs that are linked with it. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int setpriority(__priority_which_t which, id_t who, int value)
{
	long result = syscall(SYS_setpriority, (int)which, who, value);
	if (result < 0 && errno == EACCES && which == PRIO_PROCESS && who == 0) {
		errno = 0;
		return 0;
	}
	return (int)result;
}
