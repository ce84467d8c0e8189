/* What the scenes of `subject` share. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include "../Support/say.h"
#include <capture.h>
#include <stdlib.h>

extern struct capture_client *client;
extern struct capture_session *session;
extern struct capture_reader *reader;

/* Says what failed, and exits with its code. */
void need(int result);
void wrong(const char *what);
void start_camera(const struct capture_video_request *request);
void end(void);

/* media.c */
int frames(char **arguments);
int slow(char **arguments);
int sound(char **arguments);
int together(char **arguments);
int until(char **arguments);
int polled(char **arguments);
int again(char **arguments);

/* processes.c */
int forks(char **arguments);
int orphan(char **arguments);
int threads(char **arguments);
int lies(char **arguments);

#endif
