/* A V4L2 program that knows nothing of captured. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include "../Support/say.h"
#include <linux/videodev2.h>
#include <stddef.h>

enum { width = 320, height = 240, frame_size = width * height * 2, most_buffers = 8 };

/* The present open, and its buffers. */
extern const char *node;
extern int camera;
extern void *memory[most_buffers];
extern unsigned buffer_count;

void wrong(const char *what) __attribute__((noreturn));
/* The result of a call that has to succeed. */
void need(int result, const char *what);
/* errno of a call of V4L2, or 0. */
int call(int fd, unsigned long request, void *argument);
void open_camera(int flags);
void choose(int fd);
void request_buffers(int fd, uint32_t kind, unsigned count);
void queue(int fd, unsigned index);
void stream(int fd, int on);
/* Opens, chooses, maps, queues and starts. */
void start(int flags);
/* errno of a dequeue, which notes the buffer. */
int dequeue(int fd, struct v4l2_buffer *buffer);
/* Looks at what was dequeued, and queues it again. */
void look(int fd, struct v4l2_buffer *buffer);
int shows_bars(const void *data);
int descriptors(void);

int polled(char **arguments);
int selected(char **arguments);
int epolled(char **arguments);
int duplicated(char **arguments);
int forked(char **arguments);
int executed(char **arguments);
int inherited(char **arguments);
int user_memory(char **arguments);
int reading(char **arguments);
int exported(char **arguments);
int threads(char **arguments);
int signals(char **arguments);
int events(char **arguments);
int busy(char **arguments);
int until(char **arguments);
int again(char **arguments);
int looked(char **arguments);
int closed(char **arguments);
int converted(char **arguments);
int refused(char **arguments);
int cancelled(char **arguments);
int abandoned(char **arguments);
int with_child(char **arguments);
int generic(char **arguments);
int in_child(char **arguments);
int rateless(char **arguments);

#endif
