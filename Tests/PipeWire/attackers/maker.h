/* Connections to PipeWire that another process made. */
#pragma once

/* A connection that another process made, by one of the ways of taker.c. COMMAND... is what that process, or who has its
   number afterwards, runs; `other`: what is left to it for `swapped` and `portal-left`. Ends the program when that cannot be had. */
int connection_by(const char *way, char **command, int other);
