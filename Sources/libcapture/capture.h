/* libcapture: cameras and microphones through captured, for programs in C and for other languages.

   captured owns the capture devices of a machine. A person is asked once for each program and kind of device. Frames
   and sound then come through shared memory, without a copy.

   Results. A function that can fail returns a number below 0: minus one of `enum capture_code`. Until the next call
   of the same thread, capture_message() has a sentence about it. Otherwise it returns 0 or what it says.

   Threads. A client and a session may be used by several threads at once. A reader belongs to one thread at a time,
   but for capture_reader_cancel. Calls wait for the daemon's answer, 25 seconds at most; those that wait for a person
   or for media say how long.

   Forks. After a fork, handles work in the parent alone. In the child, each call that can fail does so with WrongState, and
   the functions that free a handle say nothing to the daemon. The child can connect anew.

   Structures. One that the caller fills or provides begins with its size: set it to sizeof. The library allocates the
   others, and newer versions may add members at their end: do not copy those. Fractions, ranges, choices and planes
   never change.

   libcapture(3) has an example. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CAPTURE_API __attribute__((visibility("default")))
#else
#define CAPTURE_API
#endif

/* Errors, by the names that captured's D-Bus errors have. */

enum capture_code {
    CAPTURE_USAGE = 1,
    CAPTURE_INVALID_ARGUMENT, /* a value is out of range or of the wrong form */
    CAPTURE_BAD_DATA,         /* the daemon said, or shared, what cannot be */
    CAPTURE_NO_SUCH_DEVICE,
    CAPTURE_NO_SUCH_SESSION,
    CAPTURE_NO_SUCH_ASSET,
    CAPTURE_NO_SUCH_ALBUM,
    CAPTURE_STALE_TOKEN,
    CAPTURE_OVER_QUOTA,
    CAPTURE_NO_SUCH_FORMAT, /* an exact request that the device cannot fulfil */
    CAPTURE_UNREACHABLE,    /* the daemon or the bus is not there, or went away */
    CAPTURE_INTERNAL,
    CAPTURE_INPUT_OUTPUT,
    CAPTURE_DEVICE_LOST,
    CAPTURE_NO_SIGNAL,
    CAPTURE_RECORDER_LOST,
    CAPTURE_BUSY,
    CAPTURE_DISMISSED, /* the prompt was closed, or the caller cancelled */
    CAPTURE_TIMED_OUT,
    CAPTURE_UNDECIDED,
    CAPTURE_NOBODY_TO_ASK,
    CAPTURE_ASKED_TOO_OFTEN,
    CAPTURE_DENIED,
    CAPTURE_RESTRICTED,
    CAPTURE_REVOKED,
    CAPTURE_SWITCHED_OFF,
    CAPTURE_USER_AWAY,
    CAPTURE_NOT_PERMITTED,
    CAPTURE_MISSING_USAGE_DESCRIPTION,
    CAPTURE_WRONG_STATE, /* not now; also any call on a handle from before a fork */
    CAPTURE_UNKNOWN      /* a code of a newer daemon */
};

/* The library's version, such as "1.0.0". */
CAPTURE_API const char *capture_version(void);
/* The sentence about this thread's last failure; "" before any. Valid until the thread's next call. */
CAPTURE_API const char *capture_message(void);
/* A code's name, such as "Denied". Takes codes with and without their minus, as the next two do. */
CAPTURE_API const char *capture_code_name(int code);
/* A sentence about a code. */
CAPTURE_API const char *capture_strerror(int code);
/* The exit code that capturectl has for it, as in sysexits.h: 77 for Denied; 0 for 0 and more. */
CAPTURE_API int capture_exit_code(int code);

/* The connection to the daemon. */

struct capture_client;

enum capture_bus {
    CAPTURE_BUS_DEFAULT, /* the system bus, or what CAPTURED_BUS says: session or system */
    CAPTURE_BUS_SYSTEM,
    CAPTURE_BUS_SESSION
};

/* Connects to a bus. The first call that needs the daemon has the bus start it. */
CAPTURE_API int capture_connect(enum capture_bus bus, struct capture_client **client);
/* Ends the connection, and with it its sessions, which then fail with Unreachable. Their handles stay valid until
   they are freed. NULL does nothing, here and in all functions that free. */
CAPTURE_API void capture_disconnect(struct capture_client *client);
/* A descriptor to poll for input: readable when capture_dispatch has something to do. Do not read or close it. */
CAPTURE_API int capture_fd(struct capture_client *client);
/* Takes in what the daemon said, without waiting. Session states are up to date afterwards. Returns how many events
   are there for capture_next_event. Waiting calls and readers do this, too. */
CAPTURE_API int capture_dispatch(struct capture_client *client);

enum capture_event_kind {
    CAPTURE_EVENT_DEVICE_ADDED = 1, /* device */
    CAPTURE_EVENT_DEVICE_REMOVED,   /* device */
    CAPTURE_EVENT_CONTROL_CHANGED,  /* device, name, value */
    CAPTURE_EVENT_CONTROLS_ENDED,   /* device, code: no more changes are told */
    CAPTURE_EVENT_DAEMON_GONE,      /* device lists and watches of controls begin anew with the next daemon */
    CAPTURE_EVENTS_LOST             /* there were too many; list again */
};

struct capture_event {
    uint32_t size;
    uint32_t kind;
    int32_t code;
    int64_t value;
    char device[256];
    char name[64];
};

/* Takes the oldest event. Returns 1, or 0 if there is none. */
CAPTURE_API int capture_next_event(struct capture_client *client, struct capture_event *event);

/* Devices. */

enum capture_media { CAPTURE_VIDEO = 1, CAPTURE_AUDIO, CAPTURE_METADATA };

/* As in the ring. */
enum capture_sample_format { CAPTURE_S16_LE = 1, CAPTURE_S24_3LE, CAPTURE_S32_LE, CAPTURE_FLOAT_LE };

struct capture_fraction { uint32_t numerator, denominator; };
struct capture_range { uint32_t least, most, step; };

/* A frame size, or a range of them. Intervals are seconds from frame to frame. */
struct capture_frame_size {
    struct capture_range width, height;      /* least equals most for a single size */
    size_t interval_count;                   /* 0: a range, below */
    const struct capture_fraction *intervals;
    struct capture_fraction shortest, longest, step; /* step 0/1: any between */
};

struct capture_video_offer {
    uint32_t pixel_format; /* four-character code, as in linux/videodev2.h */
    const char *name;
    int is_emulated;
    const struct capture_frame_size *const *sizes; /* ends with NULL, as all arrays of pointers here */
};

struct capture_audio_offer {
    uint32_t sample_formats; /* 1 << enum capture_sample_format, or-ed */
    struct capture_range rate, channels;
};

struct capture_device {
    const char *id;
    const char *name;
    enum capture_media media;
    const char *driver, *bus;
    const char *device_type; /* built-in, external, capture-card, virtual, synthetic */
    const char *position;    /* unspecified, front, back, external */
    const char *const *aliases;
    const struct capture_video_offer *const *video;
    const struct capture_audio_offer *const *audio;
};

/* Lists the devices that are there. Asks nobody. */
CAPTURE_API int capture_devices(struct capture_client *client, const struct capture_device *const **devices);
CAPTURE_API void capture_devices_free(const struct capture_device *const *devices);
/* Begins (1) or ends (0) events about devices. To miss none, begin before you list. */
CAPTURE_API int capture_devices_watch(struct capture_client *client, int on);

/* Consent. A service is "camera", "microphone", "library-add" or "library-read-write". */

enum capture_status {
    CAPTURE_STATUS_NOT_DETERMINED,
    CAPTURE_STATUS_RESTRICTED,
    CAPTURE_STATUS_DENIED,
    CAPTURE_STATUS_AUTHORIZED,
    CAPTURE_STATUS_LIMITED
};

/* This program's status, of enum capture_status. Never asks. */
CAPTURE_API int capture_consent_status(struct capture_client *client, const char *service);
/* Says why this program captures, for a program without metadata. The question shows it. Holds for this client. A library
   in a program that was not written for captured says "bridge", and "v4l2", "alsa", "pipewire" or "pulse" for the reason. */
CAPTURE_API int capture_consent_explain(struct capture_client *client, const char *service, const char *reason);
/* Asks for the services that were never answered, in one question, and waits. Returns 0 if all are allowed.
   services: ends with NULL. timeout_ms: -1 waits until there is an answer. cancel_fd: as soon as it is readable the
   question is withdrawn (Dismissed); -1 for none. */
CAPTURE_API int capture_consent_request(struct capture_client *client, const char *const *services, int timeout_ms,
                                        int cancel_fd);

/* Sessions. */

struct capture_session;

enum capture_state {
    CAPTURE_STATE_CONFIGURED,
    CAPTURE_STATE_AUTHORIZING,
    CAPTURE_STATE_STARTING,
    CAPTURE_STATE_RUNNING,
    CAPTURE_STATE_SUSPENDED,   /* nothing comes for a while; it goes on by itself */
    CAPTURE_STATE_INTERRUPTED, /* over, from outside */
    CAPTURE_STATE_STOPPED,     /* over, as asked */
    CAPTURE_STATE_FAILED       /* over */
};

/* What is wished of a camera. 0: no wish; everything 0: a good picture. */
struct capture_video_request {
    uint32_t size;
    uint32_t pixel_format;
    uint32_t width, height;
    double frames_per_second;
    int exact; /* exactly this, or the start fails with NoSuchFormat; else the nearest */
};

/* What is wished of a microphone. */
struct capture_audio_request {
    uint32_t size;
    uint32_t sample_format, rate, channels;
    int exact;
};

CAPTURE_API int capture_session_new(struct capture_client *client, struct capture_session **session);
/* Has it capture for another process, and checks who has memory. For captured-pipewire; NotPermitted to others. said: who it
   says it is, or 0. all: who made how many of PipeWire's connections. bridge: "pipewire", "pulse" or "portal". */
struct capture_connections { uint32_t process, count; };
CAPTURE_API int capture_session_for_process(struct capture_session *session, uint32_t process, uint64_t start_time,
                                            uint32_t said, const struct capture_connections *all, size_t count,
                                            const char *bridge);
CAPTURE_API int capture_session_check_memory(struct capture_session *session, const uint64_t *inodes, size_t count);
/* Stops it without waiting. Readers end. */
CAPTURE_API void capture_session_free(struct capture_session *session);
/* Add an input, before the start. name: 1 to 64 of A-Z a-z 0-9 _ -. device: an id or alias; NULL for the first of its
   kind. request: NULL for no wish. */
CAPTURE_API int capture_session_add_camera(struct capture_session *session, const char *name, const char *device,
                                           const struct capture_video_request *request);
CAPTURE_API int capture_session_add_microphone(struct capture_session *session, const char *name, const char *device,
                                               const struct capture_audio_request *request);
/* Asks the daemon to start and returns at once. The state tells how it goes. */
CAPTURE_API int capture_session_begin(struct capture_session *session);
/* Starts and waits until media flows, which includes the person's answer. A session that is over starts again.
   timeout_ms and cancel_fd as in capture_consent_request; giving up stops the session. */
CAPTURE_API int capture_session_start(struct capture_session *session, int timeout_ms, int cancel_fd);
/* Stops it and waits until the devices are released. Returns 0 if it is over already. */
CAPTURE_API int capture_session_stop(struct capture_session *session);
/* Where it stands, as enum capture_state; as capture_dispatch and waiting calls have heard. */
CAPTURE_API int capture_session_state(struct capture_session *session);
/* Why it is suspended, interrupted or failed: minus a code, and capture_message(); 0 for no fault. */
CAPTURE_API int capture_session_reason(struct capture_session *session);

/* Media. */

struct capture_reader;

enum capture_next { CAPTURE_NOTHING, CAPTURE_BUFFER, CAPTURE_END };

struct capture_format_plane {
    uint32_t offset; /* from the start of the buffer */
    uint32_t stride; /* bytes from row to row; 0 if compressed */
    uint64_t size;
};

struct capture_format {
    enum capture_media media;
    /* Video, and the code of metadata. The last five as in linux/videodev2.h. */
    uint32_t pixel_format, width, height;
    struct capture_fraction interval; /* 0/1: unknown */
    uint32_t color_space, transfer, encoding, quantization;
    uint32_t field; /* 0 progressive, 1 interlaced with the top field first, 2 with the bottom field first */
    uint32_t plane_count; /* memory planes, 1 to 4; sound and metadata have one */
    struct capture_format_plane planes[4];
    /* Sound. */
    uint32_t sample_format, rate, channels;
    uint32_t period_frames; /* most sample frames of a buffer */
};

enum capture_buffer_flags {
    CAPTURE_KEYFRAME = 1,
    CAPTURE_MONOTONIC = 2,          /* stamped by CLOCK_MONOTONIC */
    CAPTURE_STAMPED_ON_ARRIVAL = 4, /* stamped by captured, on arrival */
    CAPTURE_START_OF_EXPOSURE = 8,
    CAPTURE_SILENCE = 16,      /* sound that was lost, as silence */
    CAPTURE_DISCONTINUITY = 32 /* something before it was lost */
};

struct capture_plane {
    const void *data;
    size_t used; /* bytes in use */
    size_t stride;
};

/* A frame, or a period of sound, in the shared memory itself. The memory stays mapped until the reader's next call,
   or until capture_buffer_release after capture_buffer_hold. Its content is captured's: it may be overwritten at any
   time. Use it, then ask capture_buffer_is_intact. */
struct capture_buffer {
    uint32_t size;
    uint32_t flags; /* enum capture_buffer_flags */
    const struct capture_format *format;
    uint64_t sequence;        /* counts the buffers of a ring, without gaps */
    int64_t timestamp;        /* ns on CLOCK_MONOTONIC */
    int64_t published;        /* when captured published it, on the same clock */
    uint64_t device_sequence; /* the device's own count, losses included */
    uint64_t position;        /* sound: sample frames before it, since the stream began */
    uint64_t missed;          /* buffers just before it that were overwritten unread, or passed over for a newer one */
    uint32_t lost;            /* frames or periods just before it that the device lost */
    uint32_t moves;           /* how often the stream moved to another ring; the format may differ then */
    uint32_t plane_count;
    struct capture_plane planes[4];
    /* The library's. */
    struct capture_ring *ring;
    uint64_t generation;
    const uint64_t *generation_word;
};

struct capture_counters {
    uint32_t size;
    uint32_t moves;
    uint64_t missed;    /* overwritten unread, or passed over */
    uint64_t published; /* in this ring */
    uint64_t pending;   /* published and not read */
    uint64_t drops[8];  /* by cause, as in docs/ring.md: sequence gap, device error, no slot, overrun, revocation,
                           paused, no signal */
};

/* A reader of an input of a running session, from what is captured now. An input may have several. */
CAPTURE_API int capture_reader_new(struct capture_session *session, const char *input, struct capture_reader **reader);
CAPTURE_API void capture_reader_free(struct capture_reader *reader);
/* The present format. The pointer is good until the next capture_reader_next or capture_reader_free. */
CAPTURE_API const struct capture_format *capture_reader_format(struct capture_reader *reader);
/* Waits for the next buffer. timeout_ms: 0 only looks, -1 waits without limit. Returns CAPTURE_BUFFER;
   CAPTURE_NOTHING if none came in time or capture_reader_cancel was called; CAPTURE_END after a stop that was asked
   for; or why it ended: Revoked, SwitchedOff, DeviceLost, Unreachable and others. While the session is suspended
   nothing comes. */
CAPTURE_API int capture_reader_next(struct capture_reader *reader, struct capture_buffer *buffer, int timeout_ms);
/* The same, but passes over everything except the newest buffer. */
CAPTURE_API int capture_reader_newest(struct capture_reader *reader, struct capture_buffer *buffer, int timeout_ms);
/* Ends the present wait of capture_reader_next, or else its next one. From any thread. */
CAPTURE_API void capture_reader_cancel(struct capture_reader *reader);
/* A descriptor to poll for input: readable when capture_reader_next has a buffer or an end. A thread of the
   library's watches from the first call on. Do not read or close it; dup is fine. */
CAPTURE_API int capture_reader_fd(struct capture_reader *reader);
CAPTURE_API int capture_reader_counters(struct capture_reader *reader, struct capture_counters *counters);
/* Whether the bytes are still those that were published: if so, all that was read until now was whole. Any thread. */
CAPTURE_API int capture_buffer_is_intact(const struct capture_buffer *buffer);
/* Keeps the memory mapped beyond the reader's next call, and its end. Counts. Any thread. */
CAPTURE_API void capture_buffer_hold(const struct capture_buffer *buffer);
CAPTURE_API void capture_buffer_release(const struct capture_buffer *buffer);

/* Controls of a device, for authorized programs. device: its id. */

enum capture_control_kind {
    CAPTURE_CONTROL_INTEGER = 1,
    CAPTURE_CONTROL_BOOLEAN,
    CAPTURE_CONTROL_MENU,
    CAPTURE_CONTROL_BUTTON,
    CAPTURE_CONTROL_RECTANGLE, /* left, top, width, height, with 16 bits each, left in the highest */
    CAPTURE_CONTROL_OTHER      /* of a newer daemon */
};

enum capture_control_flags {
    CAPTURE_CONTROL_READ_ONLY = 1,
    CAPTURE_CONTROL_VOLATILE = 2,
    CAPTURE_CONTROL_INACTIVE = 4,
    CAPTURE_CONTROL_IN_USE = 8,
    CAPTURE_CONTROL_RESTRICTED = 16
};

struct capture_choice { int64_t value; const char *name; };

struct capture_control {
    uint32_t id;       /* V4L2's number; 0 for none */
    const char *name;  /* as in exposure_auto */
    const char *label; /* the driver's words */
    enum capture_control_kind kind;
    int64_t minimum, maximum, step, default_value, value;
    const char *unit; /* "" for none */
    uint32_t flags;
    int is_writable; /* now */
    size_t choice_count;
    const struct capture_choice *choices;
};

CAPTURE_API int capture_controls(struct capture_client *client, const char *device,
                                 const struct capture_control *const **controls);
CAPTURE_API void capture_controls_free(const struct capture_control *const *controls);
CAPTURE_API int capture_control_get(struct capture_client *client, const char *device, const char *name,
                                    int64_t *value);
CAPTURE_API int capture_control_set(struct capture_client *client, const char *device, const char *name,
                                    int64_t value);
/* Begins (1) or ends (0) events about the controls of a camera. */
CAPTURE_API int capture_controls_watch(struct capture_client *client, const char *device, int on);

#ifdef __cplusplus
}
#endif

#endif
