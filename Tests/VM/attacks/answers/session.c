/* evil session camera|microphone memory|widen|plain [CAMERA]: a session that hands out its ring.
   plain: starts it and tells how that ended. widen: once it runs, adds a microphone. memory: keeps the ring mapped, tells
   when the session is over, and whether a byte of the memory changed in the two seconds after that.
   Exits 0 when nothing was got that was not given. */
#include "evil.h"
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static char *path;
static char state[32], reason[256];
static bool is_running, is_over, is_gone;

static int add(sd_bus_message *message, const char *name, const char *kind, const char *type)
{
	return sd_bus_message_append(message, "a{sv}", 2, "name", "s", name, type, "s", kind);
}

static sd_bus_message *describing(const char *member, bool camera, bool microphone)
{
	sd_bus_message *message = NULL;
	const char *object = path ? path : ROOT, *interface = path ? SESSION : SERVICE ".Manager";
	must(sd_bus_message_new_method_call(bus, &message, SERVICE, object, interface, member), "describe");
	must(sd_bus_message_open_container(message, 'a', "{sv}"), "describe");
	must(sd_bus_message_open_container(message, 'e', "sv"), "describe");
	must(sd_bus_message_append(message, "s", "inputs"), "describe");
	must(sd_bus_message_open_container(message, 'v', "aa{sv}"), "describe");
	must(sd_bus_message_open_container(message, 'a', "a{sv}"), "describe");
	if (camera)
		must(sd_bus_message_append(message, "a{sv}", 5, "name", "s", "c", "media-type", "s", "video", "pixel-format",
					   "s", "YUYV", "width", "u", 320, "height", "u", 180),
		     "describe");
	if (microphone)
		must(add(message, "m", "audio", "media-type"), "describe");
	for (int level = 0; level < 3; level++)
		must(sd_bus_message_close_container(message), "describe");
	must(sd_bus_message_open_container(message, 'e', "sv"), "describe");
	must(sd_bus_message_append(message, "s", "outputs"), "describe");
	must(sd_bus_message_open_container(message, 'v', "aa{sv}"), "describe");
	must(sd_bus_message_open_container(message, 'a', "a{sv}"), "describe");
	if (camera)
		must(add(message, "pictures", "buffer", "kind"), "describe");
	if (microphone)
		must(add(message, "sounds", "buffer", "kind"), "describe");
	for (int level = 0; level < 3; level++)
		must(sd_bus_message_close_container(message), "describe");
	must(sd_bus_message_open_container(message, 'e', "sv"), "describe");
	must(sd_bus_message_append(message, "s", "connections"), "describe");
	must(sd_bus_message_open_container(message, 'v', "a(ss)"), "describe");
	must(sd_bus_message_open_container(message, 'a', "(ss)"), "describe");
	if (camera)
		must(sd_bus_message_append(message, "(ss)", "c", "pictures"), "describe");
	if (microphone)
		must(sd_bus_message_append(message, "(ss)", "m", "sounds"), "describe");
	for (int level = 0; level < 3; level++)
		must(sd_bus_message_close_container(message), "describe");
	must(sd_bus_message_append(message, "{sv}", "attached", "b", 1), "describe");
	must(sd_bus_message_close_container(message), "describe");
	must(sd_bus_message_append(message, "a{sh}", 0), "describe");
	return message;
}

static void look(void)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	char *text = NULL;
	if (sd_bus_get_property_string(bus, SERVICE, path, SESSION, "State", &error, &text) < 0) {
		is_gone = is_over = true;
		return;
	}
	snprintf(state, sizeof state, "%s", text);
	free(text);
	if (sd_bus_get_property_string(bus, SERVICE, path, SESSION, "Reason", &error, &text) >= 0) {
		snprintf(reason, sizeof reason, "%s", text);
		free(text);
	}
	is_over = !strcmp(state, "failed") || !strcmp(state, "stopped") || !strcmp(state, "interrupted");
	is_running = !strcmp(state, "running") || is_over;
}

static int changed(sd_bus_message *message, void *data, sd_bus_error *error)
{
	(void)message, (void)data, (void)error;
	look();
	return 0;
}

static int vanished(sd_bus_message *message, void *data, sd_bus_error *error)
{
	(void)message, (void)data, (void)error;
	is_gone = is_over = is_running = true;
	return 0;
}

static uint64_t digest(const uint8_t *bytes, size_t length)
{
	uint64_t sum = 1469598103934665603u;
	for (size_t i = 0; i + 8 <= length; i += 8)
		sum = (sum ^ *(const uint64_t *)(bytes + i)) * 1099511628211u;
	return sum;
}

static int keep_memory(bool camera)
{
	static const bool never;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *reply = NULL;
	struct stat status;
	int file;
	must(sd_bus_call_method(bus, SERVICE, path, SESSION, "OpenBuffer", &error, &reply, "s",
				camera ? "pictures" : "sounds"),
	     "have the buffer");
	must(sd_bus_message_read(reply, "h", &file), "have the buffer");
	must(fstat(file, &status), "look at the buffer");
	uint8_t *memory = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED)
		return 70;
	if (mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED) {
		printf("the memory is WRITABLE\n");
		return 1;
	}
	uint64_t before = digest(memory, status.st_size);
	do {
		serve_until(&is_over, 0.5);
		if (is_over)
			break;
	} while (digest(memory, status.st_size) == before);
	printf("mapped, and frames come\n");
	fflush(stdout);
	if (!serve_until(&is_over, 600))
		return 70;
	if (is_gone)
		printf("the daemon is gone\n");
	else
		printf("over: %s: %s\n", state, reason);
	fflush(stdout);
	before = digest(memory, status.st_size);
	for (int i = 0; i < 20; i++) {
		serve_until(&never, 0.1);
		if (digest(memory, status.st_size) != before) {
			printf("the memory CHANGED\n");
			return 1;
		}
	}
	printf("the memory is as it was\n");
	int result = sd_bus_call_method(bus, SERVICE, path, SESSION, "OpenBuffer", &error, NULL, "s",
					camera ? "pictures" : "sounds");
	return report("another look", result, &error) ? 0 : 1;
}

int session(int count, char **words)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *message, *reply = NULL;
	const char *made;
	if (count < 3)
		return 64;
	bool camera = !strcmp(words[1], "camera");
	message = describing("CreateSession", camera, !camera);
	int result = sd_bus_call(bus, message, 0, &error, &reply);
	if (result < 0)
		return report("create", result, &error) ? 77 : 70;
	must(sd_bus_message_read(reply, "o", &made), "have a session");
	path = strdup(made);
	must(sd_bus_match_signal(bus, NULL, SERVICE, path, "org.freedesktop.DBus.Properties", "PropertiesChanged", changed,
				 NULL),
	     "listen");
	must(sd_bus_add_match(bus, NULL,
			      "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" SERVICE "'",
			      vanished, NULL),
	     "listen");
	result = sd_bus_call_method(bus, SERVICE, path, SESSION, "Start", &error, NULL, "");
	if (result < 0)
		return report("start", result, &error) ? 77 : 70;
	look();
	if (!serve_until(&is_running, 60))
		return 70;
	if (is_over || !strcmp(words[2], "plain")) {
		printf("start ended %s: %s\n", state, reason);
		return is_over ? 0 : 1;
	}
	printf("running %s\n", path);
	fflush(stdout);
	if (!strcmp(words[2], "widen")) {
		result = sd_bus_call(bus, describing("Configure", true, true), 0, &error, NULL);
		return report("widen", result, &error) ? 0 : 1;
	}
	return keep_memory(camera);
}
