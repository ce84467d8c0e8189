/* evil agent yes|no|close|hold|twice|late [SERVICE]: an agent that says yes at once, or no; that closes the question; that
   tells the cookie and waits; that says no, then yes; that says yes when the question was taken back. It answers for the
   microphone, unless said. Prints `asked COOKIE PROGRAM` for each question, and `taken back`. */
#include "evil.h"
#include <string.h>

static const char *mode, *service;
static char cookie[128];
static bool is_asked, is_cancelled;

static int asked(sd_bus_message *message, void *data, sd_bus_error *error)
{
	const char *text, *key, *program = "?";
	(void)data, (void)error;
	must(sd_bus_message_read(message, "s", &text), "read the cookie");
	snprintf(cookie, sizeof cookie, "%s", text);
	must(sd_bus_message_enter_container(message, 'a', "{sv}"), "read the question");
	while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
		must(sd_bus_message_read(message, "s", &key), "read the question");
		if (!strcmp(key, "program"))
			must(sd_bus_message_read(message, "v", "s", &program), "read the program");
		else
			must(sd_bus_message_skip(message, "v"), "read the question");
		must(sd_bus_message_exit_container(message), "read the question");
	}
	printf("asked %s %s\n", cookie, program);
	fflush(stdout);
	is_asked = true;
	return sd_bus_reply_method_return(message, NULL);
}

static int cancelled(sd_bus_message *message, void *data, sd_bus_error *error)
{
	(void)data, (void)error;
	is_cancelled = true;
	printf("taken back\n");
	fflush(stdout);
	return sd_bus_reply_method_return(message, NULL);
}

static const sd_bus_vtable table[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("Ask", "sa{sv}", "", asked, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Cancel", "s", "", cancelled, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

int register_agent(bool is_inline, sd_bus_error *error)
{
	must(sd_bus_add_object_vtable(bus, NULL, OBJECT_OF_AGENT, SERVICE ".Agent", table, NULL), "be an agent");
	return sd_bus_call_method(bus, SERVICE, ROOT, AUTHORIZATION, "RegisterAgent", error, NULL, "oa{sv}",
				  OBJECT_OF_AGENT, is_inline ? 1 : 0, "inline", "b", 1);
}

static void answer(const char *what, int yes)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int result = sd_bus_call_method(bus, SERVICE, ROOT, AUTHORIZATION, "Answer", &error, NULL, "sa{sa{sv}}", cookie,
					1, service, 1, "allowed", "b", yes);
	report(what, result, &error);
	sd_bus_error_free(&error);
}

static void dismiss(void)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int result = sd_bus_call_method(bus, SERVICE, ROOT, AUTHORIZATION, "Dismiss", &error, NULL, "s", cookie);
	report("dismiss", result, &error);
	sd_bus_error_free(&error);
}

int agent(int count, char **words)
{
	static const bool never;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	mode = count > 1 ? words[1] : "yes";
	service = count > 2 ? words[2] : "microphone";
	if (register_agent(false, &error) < 0)
		return report("register", -1, &error) ? 77 : 70;
	printf("registered\n");
	fflush(stdout);
	while (serve_until(&is_asked, 3600)) {
		is_asked = false;
		if (!strcmp(mode, "yes") || !strcmp(mode, "no"))
			answer("answer", !strcmp(mode, "yes"));
		if (!strcmp(mode, "close"))
			dismiss();
		if (!strcmp(mode, "twice")) {
			answer("first", 0);
			answer("second", 1);
		}
		if (!strcmp(mode, "late") && serve_until(&is_cancelled, 3600)) {
			is_cancelled = false;
			answer("late", 1);
		}
		if (!strcmp(mode, "hold"))
			serve_until(&never, 3600);
	}
	return 0;
}
