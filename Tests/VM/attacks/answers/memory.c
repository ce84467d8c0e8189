/* evil session camera|microphone memory: keeps the ring mapped, tells when the session is over, and whether a byte of the
   memory changed in the two seconds after that. through: the same at each interruption, after which it looks at the ring in
   which the session goes on. */
#include "evil.h"
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* When the newest buffer was published, in a ring's header (RingLayout.swift). */
enum { LAST_PUBLISHED = 1056 };

static uint8_t *memory;
static size_t length;

static uint64_t digest(void)
{
	uint64_t sum = 1469598103934665603u;
	for (size_t i = 0; i + 8 <= length; i += 8)
		sum = (sum ^ *(const uint64_t *)(memory + i)) * 1099511628211u;
	return sum;
}

static int open_buffer(const char *output, sd_bus_error *error, sd_bus_message **reply)
{
	return sd_bus_call_method(bus, SERVICE, own.path, SESSION, "OpenBuffer", error, reply, "s", output);
}

/* Maps the session's ring, which stays as it was when there is another; 0, or what to exit with. */
static int map(const char *output)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *reply = NULL;
	struct stat status;
	int file;
	must(open_buffer(output, &error, &reply), "have the buffer");
	must(sd_bus_message_read(reply, "h", &file), "have the buffer");
	must(fstat(file, &status), "look at the buffer");
	length = status.st_size;
	memory = mmap(NULL, length, PROT_READ, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED)
		return 70;
	if (mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED) {
		printf("the memory is WRITABLE\n");
		return 1;
	}
	sd_bus_message_unref(reply);
	return 0;
}

/* Whether the memory of a session that rests stays as it is, and no other is given out; 0, or what to exit with. */
static int stays(const char *output)
{
	static const bool never;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	uint64_t before = digest();
	for (int i = 0; i < 20; i++) {
		serve_until(&never, 0.1);
		if (digest() != before) {
			printf("the memory CHANGED\n");
			return 1;
		}
	}
	printf("the memory is as it was, the newest in it is of %.6f\n", *(const int64_t *)(memory + LAST_PUBLISHED) / 1e9);
	int result = open_buffer(output, &error, NULL);
	return report("another look", result, &error) ? 0 : 1;
}

/* Waits while the session rests only because the machine is slow; it then goes on in the same memory. Returns whether it
   runs again. The reason may be empty when it is read. */
static bool was_held_up(void)
{
	static const bool never;
	for (int i = 0; i < 6000 && own.rests && !own.is_over; i++) {
		if (*own.reason && !strstr(own.reason, "capture is paused"))
			break;
		serve_until(&never, 0.1);
	}
	return !own.rests;
}

int keep_memory(const char *output, bool goes_on)
{
	for (;;) {
		int status = map(output);
		if (status)
			return status;
		uint64_t before = digest();
		do {
			serve_until(&own.rests, 0.5);
			if (own.rests && !was_held_up())
				break;
		} while (digest() == before);
		printf("mapped, and frames come\n");
		fflush(stdout);
		do {
			if (!serve_until(&own.rests, 600))
				return 70;
		} while (was_held_up());
		if (own.is_gone)
			printf("the daemon is gone\n");
		else
			printf("%s: %s: %s\n", own.is_over ? "over" : "rests", own.state, own.reason);
		fflush(stdout);
		if (!own.is_over && !goes_on) {
			/* It may go on by itself. */
			if (!serve_until(&own.is_settled, 600))
				return 70;
			if (!own.is_over)
				continue;
		}
		status = stays(output);
		if (status || own.is_over || !goes_on)
			return status;
		if (!serve_until(&own.is_settled, 600))
			return 70;
		if (own.is_over) {
			printf("over: %s: %s\n", own.state, own.reason);
			return 0;
		}
		printf("runs again\n");
		fflush(stdout);
	}
}
