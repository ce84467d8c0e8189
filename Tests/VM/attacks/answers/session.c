/* evil session camera|microphone memory|through|widen|plain: a session that hands out its ring.
   plain: starts it and tells how that ended. widen: once it runs, adds a microphone. memory, through: see memory.c.
   Exits 0 when nothing was got that was not given. */
#include "evil.h"
#include <string.h>

struct session own;

static int add(sd_bus_message *message, const char *name, const char *kind, const char *type)
{
	return sd_bus_message_append(message, "a{sv}", 2, "name", "s", name, type, "s", kind);
}

/* A part of the description, whose type is that of a list. */
static void begin_part(sd_bus_message *message, const char *name, const char *type)
{
	must(sd_bus_message_open_container(message, 'e', "sv"), "describe");
	must(sd_bus_message_append(message, "s", name), "describe");
	must(sd_bus_message_open_container(message, 'v', type), "describe");
	must(sd_bus_message_open_container(message, 'a', type + 1), "describe");
}

static void end_part(sd_bus_message *message)
{
	for (int level = 0; level < 3; level++)
		must(sd_bus_message_close_container(message), "describe");
}

static sd_bus_message *describing(const char *member, bool camera, bool microphone)
{
	sd_bus_message *message = NULL;
	const char *object = own.path ? own.path : ROOT, *interface = own.path ? SESSION : SERVICE ".Manager";
	must(sd_bus_message_new_method_call(bus, &message, SERVICE, object, interface, member), "describe");
	must(sd_bus_message_open_container(message, 'a', "{sv}"), "describe");
	begin_part(message, "inputs", "aa{sv}");
	if (camera)
		must(sd_bus_message_append(message, "a{sv}", 5, "name", "s", "c", "media-type", "s", "video", "pixel-format",
					   "s", "YUYV", "width", "u", 320, "height", "u", 180),
		     "describe");
	if (microphone)
		must(add(message, "m", "audio", "media-type"), "describe");
	end_part(message);
	begin_part(message, "outputs", "aa{sv}");
	if (camera)
		must(add(message, "pictures", "buffer", "kind"), "describe");
	if (microphone)
		must(add(message, "sounds", "buffer", "kind"), "describe");
	end_part(message);
	begin_part(message, "connections", "a(ss)");
	if (camera)
		must(sd_bus_message_append(message, "(ss)", "c", "pictures"), "describe");
	if (microphone)
		must(sd_bus_message_append(message, "(ss)", "m", "sounds"), "describe");
	end_part(message);
	must(sd_bus_message_append(message, "{sv}", "attached", "b", 1), "describe");
	must(sd_bus_message_close_container(message), "describe");
	must(sd_bus_message_append(message, "a{ss}", 0), "describe");
	return message;
}

static void look(void)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	char *text = NULL;
	if (sd_bus_get_property_string(bus, SERVICE, own.path, SESSION, "State", &error, &text) < 0) {
		own.is_gone = own.is_over = own.is_settled = true;
		return;
	}
	snprintf(own.state, sizeof own.state, "%s", text);
	free(text);
	if (sd_bus_get_property_string(bus, SERVICE, own.path, SESSION, "Reason", &error, &text) >= 0) {
		snprintf(own.reason, sizeof own.reason, "%s", text);
		free(text);
	}
	own.is_over = !strcmp(own.state, "failed") || !strcmp(own.state, "stopped") || !strcmp(own.state, "interrupted");
	own.runs = !strcmp(own.state, "running");
	own.is_settled = own.runs || own.is_over;
	own.rests = !own.runs;
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
	own.is_gone = own.is_over = own.is_settled = own.rests = true;
	return 0;
}

/* A session that was started, and runs or is over; else what to exit with. */
static int begin(bool camera)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *message, *reply = NULL;
	const char *made;
	message = describing("CreateSession", camera, !camera);
	int result = sd_bus_call(bus, message, 0, &error, &reply);
	if (result < 0)
		return report("create", result, &error) ? 77 : 70;
	must(sd_bus_message_read(reply, "o", &made), "have a session");
	own.path = strdup(made);
	must(sd_bus_match_signal(bus, NULL, SERVICE, own.path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
				 changed, NULL),
	     "listen");
	must(sd_bus_add_match(bus, NULL,
			      "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" SERVICE "'",
			      vanished, NULL),
	     "listen");
	result = sd_bus_call_method(bus, SERVICE, own.path, SESSION, "Start", &error, NULL, "");
	if (result < 0)
		return report("start", result, &error) ? 77 : 70;
	look();
	return serve_until(&own.is_settled, 60) ? 0 : 70;
}

const char *begin_session(bool camera)
{
	int status = begin(camera);
	if (status || own.is_over)
		exit(status ? status : 70);
	return own.path;
}

int session(int count, char **words)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	if (count < 3)
		return 64;
	bool camera = !strcmp(words[1], "camera");
	int result = begin(camera);
	if (result)
		return result;
	if (own.is_over || !strcmp(words[2], "plain")) {
		printf("start ended %s: %s\n", own.state, own.reason);
		return own.is_over ? 0 : 1;
	}
	printf("running %s\n", own.path);
	fflush(stdout);
	if (!strcmp(words[2], "widen")) {
		result = sd_bus_call(bus, describing("Configure", true, true), 0, &error, NULL);
		return report("widen", result, &error) ? 0 : 1;
	}
	return keep_memory(camera ? "pictures" : "sounds", !strcmp(words[2], "through"));
}
