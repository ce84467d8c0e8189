/* evil agent|request|session|terminal|handed|steal|forged|set|reset|switch|open ...: one attack of each kind; see the suite. */
#include "evil.h"
#include <string.h>
#include <time.h>

sd_bus *bus;

void must(int result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-result));
	exit(70);
}

const char *word(const sd_bus_error *error)
{
	const char *dot = error->name ? strrchr(error->name, '.') : NULL;
	return dot ? dot + 1 : "no error";
}

bool report(const char *what, int result, const sd_bus_error *error)
{
	if (result >= 0)
		printf("%s ACCEPTED\n", what);
	else
		printf("%s refused: %s: %.300s\n", what, word(error), error->message ? error->message : "");
	fflush(stdout);
	return result < 0;
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

bool serve_until(const bool *flag, double seconds)
{
	double end = now() + seconds;
	while (!*flag && now() < end) {
		int count = sd_bus_process(bus, NULL);
		must(count, "serve the bus");
		if (!count)
			must(sd_bus_wait(bus, 100000), "wait for the bus");
	}
	return *flag;
}

/* set USER PROGRAM SERVICE ANSWER; reset PROGRAM; switch SERVICE; answer COOKIE SERVICE; dismiss COOKIE; inline;
   long COOKIE-BYTES; open SESSION OUTPUT. Exits 0 when it was refused. */
static int settings(int count, char **words)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	const char *what = words[0];
	int result = -1;
	if (!strcmp(what, "set") && count == 5) {
		result = sd_bus_call_method(bus, SERVICE, ROOT, AUTHORIZATION, "Set", &error, NULL, "ssssa{sv}", words[1],
					    words[2], words[3], words[4], 0);
	} else if (!strcmp(what, "reset") && count == 2) {
		result = sd_bus_call_method(bus, SERVICE, ROOT, AUTHORIZATION, "Reset", &error, NULL, "sss", "", words[1], "");
	} else if (!strcmp(what, "switch") && count == 2) {
		result = sd_bus_call_method(bus, SERVICE, ROOT, AUTHORIZATION, "SetSwitch", &error, NULL, "sb", words[1], 1);
	} else if (!strcmp(what, "answer") && count == 3) {
		result = sd_bus_call_method(bus, SERVICE, ROOT, AUTHORIZATION, "Answer", &error, NULL, "sa{sa{sv}}", words[1],
					    1, words[2], 1, "allowed", "b", 1);
	} else if (!strcmp(what, "dismiss") && count == 2) {
		result = sd_bus_call_method(bus, SERVICE, ROOT, AUTHORIZATION, "Dismiss", &error, NULL, "s", words[1]);
	} else if (!strcmp(what, "open") && count == 3) {
		result = sd_bus_call_method(bus, SERVICE, words[1], SESSION, "OpenBuffer", &error, NULL, "s", words[2]);
	} else if (!strcmp(what, "inline") && count == 1) {
		result = register_agent(true, &error);
	} else if (!strcmp(what, "long") && count == 2) {
		size_t length = strtoul(words[1], NULL, 10);
		char *text = malloc(length + 1);
		if (!text)
			return 70;
		memset(text, '\033', length);
		text[length] = 0;
		result = sd_bus_call_method(bus, SERVICE, ROOT, AUTHORIZATION, "Answer", &error, NULL, "sa{sa{sv}}", text, 1,
					    "camera", 1, "allowed", "b", 1);
		free(text);
	} else {
		fprintf(stderr, "unknown: %s\n", what);
		return 64;
	}
	return report(what, result, &error) ? 0 : 1;
}

int main(int count, char **words)
{
	if (count < 2)
		return 64;
	if (!strcmp(words[1], "terminal"))
		return terminal(count - 1, words + 1);
	if (!strcmp(words[1], "handed") || !strcmp(words[1], "steal"))
		return connections(count - 1, words + 1);
	if (!strcmp(words[1], "forged"))
		return forged(count - 1, words + 1);
	must(sd_bus_open_system(&bus), "reach the bus");
	if (!strcmp(words[1], "agent"))
		return agent(count - 1, words + 1);
	if (!strcmp(words[1], "request"))
		return request(count - 1, words + 1);
	if (!strcmp(words[1], "session"))
		return session(count - 1, words + 1);
	return settings(count - 1, words + 1);
}
