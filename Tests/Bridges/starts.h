/* A program that starts and stops a capture again and again, in one process. */
#ifndef STARTS_H
#define STARTS_H

#include "../Support/say.h"

enum { most_ms = 60000 };

/* Ends the program and says why. */
void failed(const char *what, const char *why) __attribute__((noreturn));
/* Opens, captures something and closes; number: how often it has been done. */
void start_and_stop(int number);

#endif
