/* evil request SERVICE [COUNT]: asks for access so often at once, and prints how many were taken in and refused, then what
   became of each kind. Exits as the last decision: 0 granted, 77 denied, 75 nobody answered. */
#include "evil.h"
#include <string.h>

static int taken, refused, granted, denied, unanswered;
static bool is_done;

static void look(void) { is_done = taken == granted + denied + unanswered; }

static int decided(sd_bus_message *message, void *data, sd_bus_error *error)
{
	unsigned number;
	const char *code, *text;
	(void)data, (void)error;
	must(sd_bus_message_read(message, "uss", &number, &code, &text), "read a decision");
	if (!*code)
		granted++;
	else if (!strcmp(code, "Denied"))
		denied++;
	else
		unanswered++;
	if (granted + denied + unanswered == 1) {
		printf("decision: %s %.300s\n", *code ? code : "granted", text);
		fflush(stdout);
	}
	look();
	return 0;
}

static int begun(sd_bus_message *message, void *data, sd_bus_error *error)
{
	int *open = data;
	(void)error;
	(*open)--;
	const sd_bus_error *failure = sd_bus_message_get_error(message);
	if (!failure) {
		taken++;
		/* 0 is granted already, and no signal follows. */
		unsigned number;
		must(sd_bus_message_read(message, "u", &number), "read an answer");
		granted += !number;
	} else if (!refused++) {
		report("request", -1, failure);
	}
	return 0;
}

int begin_request(const char *service, sd_bus_error *error)
{
	sd_bus_message *message = NULL;
	int result = sd_bus_call_method(bus, SERVICE, ROOT, AUTHORIZATION, "RequestAccess", error, &message, "as", 1,
					service);
	sd_bus_message_unref(message);
	return result;
}

int request(int count, char **words)
{
	int most = count > 2 ? atoi(words[2]) : 1, open = most;
	if (count < 2)
		return 64;
	must(sd_bus_match_signal(bus, NULL, SERVICE, ROOT, AUTHORIZATION, "AccessDecided", decided, NULL), "listen");
	static const bool never;
	for (int i = 0; i < most; i++) {
		must(sd_bus_call_method_async(bus, NULL, SERVICE, ROOT, AUTHORIZATION, "RequestAccess", begun, &open, "as", 1,
					      words[1]),
		     "request");
		/* The bus lets 128 calls wait for their answers and refuses more by itself. */
		while (i + 1 - (most - open) >= 100)
			serve_until(&never, 0.1);
	}
	while (open)
		serve_until(&never, 0.1);
	printf("taken %d, refused %d\n", taken, refused);
	fflush(stdout);
	look();
	while (!is_done)
		serve_until(&is_done, 60);
	printf("granted %d, denied %d, unanswered %d\n", granted, denied, unanswered);
	return granted ? 0 : denied ? 77 : 75;
}
