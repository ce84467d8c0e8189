/* A V4L2 capture driver that says what a test tells it to say, below the daemon's own code: the nodes
   /dev/video-lies-0 to -255 exist for this process alone. open, ioctl and mmap of the program are replaced; calls on any
   other file go to the kernel. Everything else is real: a node is the reading end of a pipe, with a byte in it for each
   frame that waits, so that poll(2) and hang-ups are the kernel's. Linked into the tests; as a shared library it serves
   LD_PRELOAD. */
#pragma once
#include <stdint.h>

enum { lying_most_drivers = 256, lying_oldest = 0xffffffff };

struct lying_format {
    uint32_t pixelformat, width, height, stride, size;
};

/* What DQBUF says of a buffer. */
struct lying_frame {
    uint32_t index; /* lying_oldest: the buffer that was queued first, as it should be */
    uint32_t used, flags, sequence;
    int64_t seconds, microseconds;
};

/* What the other calls say. To be changed while nobody calls. */
struct lying_answers {
    struct lying_format format;  /* of S_FMT, TRY_FMT and G_FMT */
    struct lying_format late;    /* of G_FMT after STREAMON, unless its width is 0 */
    uint32_t numerator, denominator; /* of G_PARM and S_PARM */
    uint32_t granted; /* of REQBUFS, more than were asked for included; 0: what was asked for */
    uint32_t mapped;  /* the length of a buffer, of QUERYBUF; 0: the format's size */
    int refuses_user_pointers;
    int is_fruitless;      /* poll finds a frame and DQBUF none */
    int has_endless_lists; /* every index of every enumeration has an entry, each another one */
    int has_stuck_controls; /* the control behind any control is the first one, which has no single value */
    int has_no_terminators; /* strings fill their arrays */
    int64_t least, most;   /* the range of the menu that each of the endless controls is */
};

/* Makes a driver and returns its number, -1 when there are too many. */
int lying_driver_new(const struct lying_answers *answers);
void lying_driver_answer(int driver, const struct lying_answers *answers);
/* Puts a frame in line, and wakes who polls. */
void lying_driver_deliver(int driver, const struct lying_frame *frame);
/* The camera is pulled out: ENODEV from now on. */
void lying_driver_unplug(int driver);
/* How many ioctls there were. */
uint64_t lying_driver_calls(int driver);
/* Buffers in the driver's hands, a bit an index. */
uint32_t lying_driver_queued(int driver);
