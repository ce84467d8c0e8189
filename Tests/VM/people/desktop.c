/* A desktop's part that shows dialogs: org.freedesktop.impl.portal.Access on the session's bus. Each is allowed as soon as
   that counts, as it stands, and printed on one line: `dialog TITLE | SUBTITLE | BODY`, a bar for each end of a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-result));
	exit(70);
}

static int show(sd_bus_message *message, void *data, sd_bus_error *error)
{
	const char *handle, *application, *window, *title, *subtitle, *body;
	(void)data, (void)error;
	must(sd_bus_message_read(message, "osssss", &handle, &application, &window, &title, &subtitle, &body),
	     "read a dialog");
	printf("dialog %s | %s | ", title, subtitle);
	for (; *body; body++)
		putchar(*body == '\n' ? '|' : *body);
	putchar('\n');
	fflush(stdout);
	/* No sooner than a person has seen it; nothing that comes before counts. */
	usleep(700000);
	/* Without choices: a yes to what was asked, for always. */
	return sd_bus_reply_method_return(message, "ua{sv}", 0u, 0);
}

static const sd_bus_vtable table[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("AccessDialog", "osssssa{sv}", "ua{sv}", show, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

int main(void)
{
	sd_bus *bus;
	must(sd_bus_open_user(&bus), "reach the session's bus");
	must(sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/portal/desktop", "org.freedesktop.impl.portal.Access",
				      table, NULL),
	     "show dialogs");
	must(sd_bus_request_name(bus, "org.freedesktop.impl.portal.desktop.suite", 0), "have the name");
	printf("there\n");
	fflush(stdout);
	for (;;) {
		int count = sd_bus_process(bus, NULL);
		must(count, "serve the bus");
		if (!count)
			must(sd_bus_wait(bus, UINT64_MAX), "wait for the bus");
	}
}
