/* A fake V4L2 capture driver below the daemon's own code, which says what a test tells it to say. The nodes
   /dev/video-lies-0 to -255 exist only in this process. It replaces the program's open, ioctl and mmap; calls on any
   other file go to the kernel. Everything else is real. A node is the reading end of a pipe that contains a byte for
   each waiting frame, so poll(2) and hang-ups come from the kernel. It is linked into the tests, and can be preloaded
   as a shared library (LD_PRELOAD). */
#pragma once
#include <stdint.h>

enum { lying_most_drivers = 256, lying_oldest = 0xffffffff };

struct lying_format {
    uint32_t pixelformat, width, height, stride, size;
};

struct lying_rectangle {
    int32_t left, top;
    uint32_t width, height;
};

/* What DQBUF says about a buffer. */
struct lying_frame {
    uint32_t index; /* lying_oldest: the buffer that was queued first, as it should be */
    uint32_t used, flags, sequence;
    int64_t seconds, microseconds;
};

/* What the other calls say. Change it only while no call is running. */
struct lying_answers {
    struct lying_format format;  /* of S_FMT, TRY_FMT and G_FMT */
    struct lying_format late;    /* of G_FMT after STREAMON, unless its width is 0 */
    uint32_t numerator, denominator; /* of G_PARM and S_PARM */
    uint32_t granted; /* of REQBUFS, more than were asked for included; 0: what was asked for */
    uint32_t mapped;  /* the length of a buffer, of QUERYBUF; 0: the format's size */
    int refuses_user_pointers;
    int has_no_memory; /* for buffers of its own */
    int is_fruitless;      /* poll finds a frame and DQBUF none */
    int has_endless_lists; /* every index of every enumeration has an entry, each another one */
    int has_stuck_controls; /* the control behind any control is the first one, which has no single value */
    int has_no_terminators; /* strings fill their arrays */
    uint32_t status;        /* of ENUMINPUT: V4L2_IN_ST_* */
    uint32_t signal_height; /* of QUERY_DV_TIMINGS, where the format's is that of G_DV_TIMINGS; 0: it has no such */
    uint64_t pixel_clock;   /* of QUERY_DV_TIMINGS; 0: that of G_DV_TIMINGS */
    int has_endless_events; /* DQEVENT always has one */
    int stop_error;         /* errno of STREAMOFF, unless 0 */
    int64_t least, most;   /* the range of the menu that each of the endless controls is */
    int has_crop;          /* G_SELECTION and S_SELECTION are there */
    struct lying_rectangle crop, bounds, standard; /* of G_SELECTION; S_SELECTION changes the first */
    struct lying_rectangle taken;                  /* what S_SELECTION makes of any, unless its width is 0 */
    int crop_error;                                /* errno of S_SELECTION, unless 0 */
    int is_metadata;       /* of a camera's frames: the format's code and size */
};

/* Makes a driver and returns its number, or -1 if there are too many. */
int lying_driver_new(const struct lying_answers *answers);
void lying_driver_answer(int driver, const struct lying_answers *answers);
/* Queues a frame and wakes pollers. */
void lying_driver_deliver(int driver, const struct lying_frame *frame);
/* Unplugs the camera: ENODEV from now on. */
void lying_driver_unplug(int driver);
/* The number of ioctls so far. */
uint64_t lying_driver_calls(int driver);
/* The buffers that the driver holds, one bit for each index. */
uint32_t lying_driver_queued(int driver);
