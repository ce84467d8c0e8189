/* A call that is written byte by byte, on a connection that somebody else has greeted the bus on: no library takes one over. */
#include "evil.h"
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { SERIAL = 0x7a000001, PATH = 1, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SIGNATURE = 8 };

struct bytes {
	uint8_t at[4096];
	size_t count;
};

static void pad(struct bytes *b, size_t to)
{
	while (b->count % to)
		b->at[b->count++] = 0;
}

static void number(struct bytes *b, uint32_t value)
{
	pad(b, 4);
	memcpy(b->at + b->count, &value, 4);
	b->count += 4;
}

static void text(struct bytes *b, const char *value)
{
	number(b, strlen(value));
	memcpy(b->at + b->count, value, strlen(value) + 1);
	b->count += strlen(value) + 1;
}

static void kind(struct bytes *b, const char *signature)
{
	b->at[b->count++] = strlen(signature);
	memcpy(b->at + b->count, signature, strlen(signature) + 1);
	b->count += strlen(signature) + 1;
}

static void field(struct bytes *b, uint8_t code, const char *signature, const char *value)
{
	pad(b, 8);
	b->at[b->count++] = code;
	kind(b, signature);
	if (*signature == 'g')
		kind(b, value);
	else
		text(b, value);
}

/* The text or the number of a header's field; NULL where there is none. */
static const char *found(const uint8_t *message, uint8_t code)
{
	uint32_t length, skipped;
	memcpy(&length, message + 12, 4);
	for (size_t at = 16; at < 16 + length;) {
		at = (at + 7) & ~7ul;
		uint8_t own = message[at], type = message[at + 2];
		at += 4;
		if (own == code)
			return (const char *)message + at + (type == 'u' ? 0 : type == 'g' ? 1 : 4);
		memcpy(&skipped, message + at, 4);
		at += type == 'u' ? 4 : type == 'g' ? 2u + message[at] : 5 + skipped;
	}
	return NULL;
}

/* The answer to our call among what comes; false when the connection ends or nothing comes for a minute. */
static bool answer(int socket, uint8_t *message, size_t room)
{
	size_t have = 0;
	for (;;) {
		uint32_t body, fields, serial;
		if (have >= 16) {
			memcpy(&body, message + 4, 4);
			memcpy(&fields, message + 12, 4);
			size_t whole = ((16ul + fields + 7) & ~7ul) + body;
			if (whole > room)
				return false;
			if (have >= whole) {
				const char *to = found(message, REPLY_SERIAL);
				if (to && (memcpy(&serial, to, 4), serial == SERIAL))
					return true;
				memmove(message, message + whole, have -= whole);
				continue;
			}
		}
		struct pollfd ready = { .fd = socket, .events = POLLIN };
		if (poll(&ready, 1, 60000) <= 0)
			return false;
		ssize_t count = read(socket, message + have, room - have);
		if (count <= 0)
			return false;
		have += count;
	}
}

bool raw_call(int socket, const char *object, const char *interface, const char *member, const char *signature,
	      const char *argument)
{
	static uint8_t message[1 << 20];
	struct bytes head = { .at = { 'l', 1, 0, 1 }, .count = 12 }, body = { .count = 0 };
	const uint32_t serial = SERIAL;
	uint32_t length;
	/* An array of texts is its length before its one text. */
	if (*signature == 'a')
		number(&body, strlen(argument) + 5);
	text(&body, argument);
	length = body.count;
	memcpy(head.at + 4, &length, 4);
	memcpy(head.at + 8, &serial, 4);
	number(&head, 0);
	field(&head, PATH, "o", object);
	field(&head, INTERFACE, "s", interface);
	field(&head, MEMBER, "s", member);
	field(&head, DESTINATION, "s", SERVICE);
	field(&head, SIGNATURE, "g", signature);
	length = head.count - 16;
	memcpy(head.at + 12, &length, 4);
	pad(&head, 8);
	memcpy(head.at + head.count, body.at, body.count);
	head.count += body.count;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	if (write(socket, head.at, head.count) != (ssize_t)head.count || !answer(socket, message, sizeof message)) {
		perror("a call on another's connection");
		exit(70);
	}
	if (message[1] == 2)
		return report(member, 0, &error);
	memcpy(&length, message + 12, 4);
	sd_bus_error_set(&error, found(message, ERROR_NAME), (const char *)message + ((16ul + length + 7) & ~7ul) + 4);
	return report(member, -1, &error);
}
