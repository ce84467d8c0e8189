/* A program of bad will: what its parts share. Each part is one kind of attack, and prints what came of it. */
#ifndef EVIL_H
#define EVIL_H
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>

#define SERVICE "org.capturekit.Capture1"
#define ROOT "/org/capturekit/Capture1"
#define AUTHORIZATION SERVICE ".Authorization"
#define SESSION SERVICE ".Session"
#define OBJECT_OF_AGENT ROOT "/agent"

extern sd_bus *bus;

/* Ends with 70 when a call of our own failed that had to work. */
void must(int result, const char *what);
/* The last word of an error's name, as in NotPermitted. */
const char *word(const sd_bus_error *error);
/* Prints `ACCEPTED` or the error's word and message, and returns whether it was refused. */
bool report(const char *what, int result, const sd_bus_error *error);
/* Handles what arrives until *flag; false when so many seconds have passed before. */
bool serve_until(const bool *flag, double seconds);

int agent(int count, char **words);
int request(int count, char **words);
int session(int count, char **words);
int terminal(int count, char **words);
int connections(int count, char **words);
int forged(int count, char **words);
/* The session that this program has made, as it was last told of it: it `rests` when it does not run, and is_settled when it
   runs or is over. */
extern struct session {
	char *path;
	char state[32], reason[256];
	bool runs, rests, is_settled, is_over, is_gone;
} own;
/* A session that runs; its path. Ends the program where it does not. */
const char *begin_session(bool camera);
/* Keeps the ring of a session's output mapped; see memory.c. */
int keep_memory(const char *output, bool goes_on);
/* Calls a method with one text, `s` or `as`, on somebody's connection, and prints what came of it as `report` does. */
bool raw_call(int socket, const char *object, const char *interface, const char *member, const char *signature,
	      const char *argument);
/* Registers an agent on this connection. */
int register_agent(bool is_inline, sd_bus_error *error);
/* Begins a request for a service; its number, or what sd_bus_call returned. */
int begin_request(const char *service, sd_bus_error *error);
#endif
