/* What the files of captured-pipewire share.

   captured-pipewire is a client of PipeWire and of captured. For each device it has one public node, the decoy, which is
   never active: it has no memory, and nothing to leak. A program's link to it is a visit. captured asks the person about
   the program. On a yes, the program gets a private node with memory of its own.

   All runs on one thread but for what waits for captured: device lists (devices.c) and questions (asking.c).
   What PipeWire tells of other clients can be anything, but for their process, and which client has which node. */
#ifndef BRIDGE_H
#define BRIDGE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <capture.h>
#include <pipewire/pipewire.h>
#include <pthread.h>
#include <spa/pod/builder.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BRIDGE_COUNT(array) (sizeof(array) / sizeof *(array))

/* A private class, so that no session manager takes such a node for a target. */
#define BRIDGE_PRIVATE_CLASS "Captured/Source"

enum {
    bridge_most_visits = 128,      /* programs that wait or capture */
    bridge_most_of_process = 48,   /* of these of one process: PulseAudio's clients are in one */
    bridge_most_askings = 128,     /* threads that wait for captured, for programs that left, too */
    bridge_most_pods = 64,         /* formats that a program's port names */
    bridge_most_pod_size = 16384,  /* bytes of one of them */
    bridge_most_channels = 8,      /* links of a program to one microphone */
    bridge_most_buffers = 8,       /* of a program's private node */
    bridge_most_peers = 8,         /* of a private node, beside the program */
    bridge_answer_ms = 25000,      /* programs give up by themselves after 30 s */
    bridge_check_ms = 2000,        /* for connections that are being made */
    bridge_most_tries = 4,
};

/* What the loop's thread is to do, from other threads. */
struct bridge_post {
    void (*run)(struct bridge_post *post);
    struct bridge_post *next;
};

struct bridge {
    struct pw_main_loop *main_loop;
    struct pw_loop *loop;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_registry *registry;
    struct spa_hook core_listener, registry_listener;
    /* For what the server does not take over the connection that has the nodes. */
    struct pw_core *helper_core;
    struct pw_registry *helper_registry;
    struct spa_hook helper_listener;
    struct spa_list globals, decoys, visits;
    size_t visit_count, asking_count, report_count;
    uint64_t client_changes; /* how often clients came and went */
    enum capture_bus bus;
    int result; /* what the program ends with */
    struct spa_source *posts_source, *strangers_source, *decoys_source, *check_source;
    pthread_mutex_t posts_lock;
    struct bridge_post *first_post, **last_post;
};

void bridge_post(struct bridge *bridge, struct bridge_post *post);
void bridge_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* globals.c: the objects of PipeWire's server. */

enum global_kind { global_client, global_node, global_port, global_link };

struct global {
    struct spa_list link;
    uint32_t id;
    enum global_kind kind;
    uint32_t owner;   /* of a node its client, of a port its node */
    int pid;          /* of a client */
    bool is_output;   /* of a port */
    bool is_camera;   /* of a node */
    char channel[16]; /* of a port */
    uint32_t output_node, output_port, input_node, input_port; /* of a link */
};

struct global *globals_find(struct bridge *bridge, uint32_t id, enum global_kind kind);
/* The port of a node for a channel; any if the channel is empty. */
struct global *globals_port(struct bridge *bridge, uint32_t node, bool is_output, const char *channel);
/* How many connections a process made, by the server. */
uint32_t globals_connections(struct bridge *bridge, int pid);
/* The same of every process that made some. Returns NULL if there is no memory. */
struct capture_connections *globals_makers(struct bridge *bridge, size_t *count);
/* How many clients came through a socket. */
uint32_t globals_clients(struct bridge *bridge);
int globals_begin(struct bridge *bridge);

/* decoys.c and devices.c: the public node of each device. */

struct decoy {
    struct spa_list link;
    struct bridge *bridge;
    const struct capture_device *device;
    struct device_list *list; /* what the device belongs to */
    struct pw_stream *stream;
    struct spa_hook listener;
    bool is_listed;
    bool is_destroyed; /* by somebody else */
};

struct device_list {
    struct bridge_post post;
    struct bridge *bridge;
    const struct capture_device *const *devices; /* NULL: captured is not there */
    size_t users; /* decoys */
};

struct decoy *decoys_find(struct bridge *bridge, uint32_t node);
/* Makes the decoys those of a list, and takes the list. */
void decoys_update(struct device_list *list);
/* Makes those anew that others destroyed, as any client of PipeWire 0.3.65 can. */
void decoys_mend(struct bridge *bridge);
int devices_begin(struct bridge *bridge);

/* pictures.c: formats of cameras. */

struct picture_kind {
    uint32_t code; /* V4L2's */
    uint32_t subtype, format; /* SPA's; format of raw video only */
    uint8_t bits;  /* of a pixel in the first plane; 0: compressed */
    uint8_t chroma_planes, across, down; /* how often chroma is thinner */
    bool is_joined; /* both chroma values in one plane */
};

struct picture {
    const struct picture_kind *kind;
    uint32_t width, height;
    struct spa_fraction rate;
};

/* The formats of a camera, as a node lists them. Returns how many were built. */
uint32_t pictures_list(const struct capture_device *device, struct spa_pod_builder *builder, const struct spa_pod **pods,
                       uint32_t most);
/* Chooses what a program takes; pods: its port's formats. Returns 0, or -1 if it takes nothing of the camera's. */
int pictures_choose(const struct capture_device *device, const struct spa_pod *const *pods, size_t count,
                    struct picture *picture);
/* Takes the format that captured gives. Returns 0, or -1 if the program does not take it. */
int pictures_take(const struct capture_format *format, const struct spa_pod *const *pods, size_t count,
                  struct picture *picture);
const struct spa_pod *pictures_pod(const struct picture *picture, struct spa_pod_builder *builder, uint32_t id);
uint32_t pictures_stride(const struct picture *picture);
uint32_t pictures_size(const struct picture *picture);
/* Copies a frame as PipeWire has it in memory. Returns its size; 0 if it is not what it should be. */
uint32_t pictures_copy(const struct picture *picture, const struct capture_buffer *buffer, void *to, uint32_t room);

/* wishes.c: what a program's port says. */

/* Whether it takes a picture. */
bool wishes_fit(const struct spa_pod *format, const struct picture *picture);
/* Whether its size is the one that the program likes best. */
bool wishes_name(const struct spa_pod *format, const struct picture *picture);

/* peers.c: who is connected to a private node. */

struct visit;

struct peers {
    struct pw_proxy *proxy; /* of the node that the stream made */
    struct spa_hook proxy_listener, node_listener;
    uint32_t driver;        /* at whose clock it runs */
    uint32_t nodes[bridge_most_peers];
    size_t count;
    uint32_t stranger;
    atomic_bool has_stranger; /* its memory is not written any more */
};

/* Connects a visit's stream, and follows who is connected to its node. */
int peers_connect(struct visit *visit, int connect(struct visit *));
void peers_forget(struct visit *visit);
/* For the events of its stream; data: the visit. */
void peers_io_changed(void *data, uint32_t id, void *area, uint32_t size);

/* visits.c: from a program's link to the end of its capture. */

enum visit_state {
    visit_looking, /* PipeWire is asked about the program */
    visit_asking,  /* captured asks the person */
    visit_checking, /* it may capture, if nobody connected meanwhile */
    visit_leading, /* its private node comes to be */
    visit_capturing,
    visit_over     /* refused or ended; it has been told */
};

struct visit {
    struct spa_list link;
    struct bridge *bridge;
    enum visit_state state;
    enum capture_media media;
    char device[256], device_name[128];
    uint32_t node, client_id, input_port, decoy_node;
    int pid, pidfd;
    uint64_t start_time;
    bool is_pulse;
    bool is_portal;    /* its client says that the camera portal connected it */
    bool is_by_portal; /* it said so when captured was asked */
    uint32_t said_pid; /* which process its client says that it is */
    struct proof *proof;
    bool is_proven; /* its program has the memory of its pictures, and nobody else */
    int64_t proven_at, look_after; /* milliseconds */
    bool is_lingering; /* its node is the server's, and only says that it is the client's */
    int sequence; /* of the round trip after which the client must still be there */
    uint32_t connections; /* of its process, as captured was told */
    uint64_t client_changes; /* until then */
    uint32_t tries;
    int64_t check_end; /* CLOCK_MONOTONIC, in ms */
    struct pw_proxy *client, *input, *port;
    struct spa_hook client_listener, input_listener, port_listener;
    struct spa_pod *pods[bridge_most_pods];
    size_t pod_count;
    struct asking *asking;
    struct capture_client *capture;
    struct capture_session *session;
    struct capture_reader *reader;
    struct spa_source *reader_source;
    struct picture picture;
    uint32_t sound_rate, sound_channels; /* of the decoy */
    struct sound *sound;
    /* Its private node. */
    struct pw_stream *stream;
    struct spa_hook stream_listener;
    struct pw_buffer *spare; /* taken, and not filled yet */
    struct pw_buffer *buffers[bridge_most_buffers];
    struct peers peers;
    uint32_t private_node;
    struct pw_proxy *links[bridge_most_channels];
    bool is_led;     /* its links were made */
    bool is_broken;  /* its link is gone; whether the program is, too, a round trip tells */
    unsigned breaks;
    bool has_failed; /* PipeWire says so */
};

void visits_linked(struct bridge *bridge, const struct global *link);
/* A node, a client, a port or a link is gone. */
void visits_gone(struct bridge *bridge, const struct global *global);
void visits_synced(struct bridge *bridge, int sequence);
/* Ends what strangers are connected to. */
void visits_meet_strangers(struct bridge *bridge);
/* When a process started, as field 22 of /proc/PID/stat has it; 0 if it has ended. pidfd: of it, or -1. */
uint64_t process_start_time(int pid, int pidfd);
/* The device of a decoy is gone. */
void visits_end(struct visit *visit, int code, const char *sentence);
void visits_free(struct visit *visit);
/* A port of a private node may have come. */
void visits_lead(struct bridge *bridge, uint32_t node);

/* sockets.c */

/* Connections to PipeWire's server that it shows no client for; 0 where the kernel does not list sockets. */
uint32_t sockets_silent(struct bridge *bridge);

/* checking.c: that captured looked at the process that has the client's connection. */

void checking_begin(struct visit *visit);
/* Asks captured again if clients came or went while it looked for the one that the portal connected. */
bool checking_retry(struct visit *visit);
/* PipeWire has told of all clients that there are. */
void checking_look(struct visit *visit);
/* Some wait for connections that are being made. */
void checking_again(void *data, uint64_t expirations);
void visit_checked(struct visit *visit);
/* Lets go of all that it captures with. */
void visits_let_go(struct visit *visit);

/* proof.c: that a program which the portal connected is the one that was asked about. */

/* Whether its memory may be written; asks captured, if that is not known yet. */
bool proof_holds(struct visit *visit);
/* It has other memory. */
void proof_anew(struct visit *visit);
void proof_forget(struct visit *visit);

/* strangers.c */

/* Tells captured who connected itself to what a visit's program gets; pid: 0 if PipeWire does not show it. */
void strangers_report(struct visit *visit, int pid);

/* asking.c: the threads that wait for captured. */

struct asking {
    struct bridge_post post;
    struct bridge *bridge;
    struct visit *visit; /* NULL: gone meanwhile. Only for the loop's thread. */
    int cancel_fd;
    char device[256], bridge_name[16];
    enum capture_media media;
    uint32_t pid, said_pid;
    struct capture_connections *connections;
    size_t connection_count;
    uint64_t start_time;
    struct capture_video_request video;
    struct capture_audio_request audio;
    struct capture_client *client;
    struct capture_session *session;
    struct capture_reader *reader;
    int code; /* 0: it captures */
    char sentence[400];
};

/* Begins to ask; `visit_answered` brings the outcome. */
int asking_begin(struct visit *visit);
void asking_forget(struct visit *visit);
void visit_answered(struct asking *asking);

/* permission.c: what the desktop's camera portal may do without asking. */

void permission_begin(void);
/* A camera may have come or gone. */
void permission_look(struct bridge *bridge);
/* Takes back what it was allowed. */
void permission_end(void);

/* hiding.c: who sees private nodes. */

/* Hides a private node and its ports from all clients that there are, once it has a port. */
void hiding_node(struct bridge *bridge, uint32_t node);
/* Hides the private nodes from a new client. */
void hiding_client(struct bridge *bridge, const struct global *client);
/* Hides a new port, if it is a private node's. */
void hiding_port(struct bridge *bridge, const struct global *port);

/* node.c, video.c and sound.c: the private nodes. */

int node_open(struct visit *visit);
void node_close(struct visit *visit);
void node_state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error);

extern const struct pw_stream_events video_events, sound_events;
int video_connect(struct visit *visit);
/* Whether what comes now is still in the format that the program was given. */
bool video_fits(const struct visit *visit, const struct capture_format *format);
bool sound_fits(const struct visit *visit, const struct capture_format *format);
void video_take(struct visit *visit, struct capture_buffer *frame);
/* Clears the pictures that are in its memory. */
void video_wipe(struct visit *visit);
int sound_connect(struct visit *visit);
void sound_take(struct visit *visit, struct capture_buffer *buffer);
void sound_close(struct visit *visit);
/* The other connection has made a round trip. */
void sound_synced(struct visit *visit, int sequence);
/* The form in which a microphone's node shows it. */
void sound_shape(const struct capture_device *device, uint32_t *rate, uint32_t *channels);
const struct spa_pod *sound_pod(uint32_t rate, uint32_t channels, uint32_t sample_format,
                                struct spa_pod_builder *builder);

#endif
