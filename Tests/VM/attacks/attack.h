/* What the attacks share: how they speak with captured, and how they tell what came of it.

   An attack exits by `refused` (77) with the error that it was told, by 0 when it got what it may not have, and by
   `not_tried` (70) when it never came so far: then it has shown nothing. */
#pragma once
#include <stddef.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

enum { taken = 0, not_tried = 70, refused = 77 };

#define SERVICE "org.capturekit.Capture1"
/* The type of a session's files: a descriptor's ticket for each output. */
#ifndef FILES
#define FILES "a{ss}"
#endif
#define ROOT "/org/capturekit/Capture1"

/* Ends the program: what could not be done, and why by errno. */
void give_up(const char *what) __attribute__((noreturn));

/* Calls one method; types and arguments as for sd_bus_message_append. Prints what came of it. True when it was answered
   with something other than an error. */
int gets(sd_bus *bus, const char *path, const char *interface, const char *member, sd_bus_message **reply,
         const char *types, ...);

/* Tries all that there is to have with a connection that is taken for an allowed program's: a session with the camera,
   started, and its frames' memory. Returns `taken` or `refused`. */
int capture(sd_bus *bus);

/* The same for an allowed program. Returns a descriptor of the frames' memory, or -1. */
int capture_memory(sd_bus *bus);

/* The ticket of a descriptor that is passed through a door. */
void pass(sd_bus *bus, int file, char ticket[64]);

/* Follows a session until it runs, or is over, which is printed with the reason: `taken` or `refused`. */
int follow(sd_bus *bus, const char *session);

/* A text property of a session; NULL when it is refused, which is printed. To be freed. */
char *session_text(sd_bus *bus, const char *session, const char *property);

/* A connection of this process, and a socket that is connected to the bus and has not said a word yet. */
sd_bus *connect_bus(void);
int connect_socket(void);
/* Speaks the bus's protocol on such a socket from its beginning. */
sd_bus *speak(int socket);

/* A descriptor through a socket. */
void send_descriptor(int socket, int descriptor);
int receive_descriptor(int socket);

/* Runs a program in this process's place. */
void become(char *const command[]) __attribute__((noreturn));
/* Waits until a process runs another file than this one. */
void wait_until_it_runs_another(pid_t process);
/* Whether two processes run the same file. */
int runs_the_same(pid_t one, pid_t other);
