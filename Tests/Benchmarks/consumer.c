/* Readers of a camera that PipeWire serves, to compare with capture-bench-reader.

       cc -O2 -o consumer consumer.c $(pkg-config --cflags --libs libpipewire-0.3)
       consumer NODE WIDTHxHEIGHT@RATE READERS copy|look

   NODE is the name of the camera's node. Each reader is a stream on a thread and a connection of its own, and links
   itself to the node, so no session manager is needed. With `copy` each reader copies each YUYV frame into memory of
   its own; with `look` it only takes note of it. Prints `running` when each reader has had a frame, and one line of
   JSON when it is sent SIGTERM: how many frames readers got, how many were overwritten while they read, how many bytes
   each copied, and how long after a frame's DQBUF they were awake, in µs. camera.c says what each frame begins with. */
#include <errno.h>
#include <inttypes.h>
#include <pipewire/pipewire.h>
#include <signal.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>
#include <spa/utils/result.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { most_readers = 64, most_delays = 120, second = 1000000000 };

struct reader {
    struct pw_thread_loop *thread;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_stream *stream;
    struct spa_hook listener;
    char *own;
    _Atomic uint64_t frames;
    uint64_t torn, bytes;
    int64_t delays[most_delays]; /* of the last frames */
    size_t delay_count, delay_next;
};

static struct reader readers[most_readers];
static int reader_count, copies;
static struct spa_video_info_raw format = {.format = SPA_VIDEO_FORMAT_YUY2};
static struct pw_main_loop *loop;
static struct pw_core *core;
static const char *camera_name;
static uint32_t camera_node = SPA_ID_INVALID, camera_port = SPA_ID_INVALID;
static char own_name[32]; /* of the nodes of this program's readers */
static uint32_t own_nodes[most_readers];
static int own_count;

static void fail(const char *what, int reason) {
    fprintf(stderr, "consumer: %s: %s\n", what, strerror(reason));
    exit(1);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * second + (uint64_t)time.tv_nsec;
}

static size_t frame_size(void) { return (size_t)format.size.width * format.size.height * 2; }

/* DMA buffers are not mapped by the library. */
static void on_add_buffer(void *data, struct pw_buffer *buffer) {
    (void)data;
    struct spa_data *memory = &buffer->buffer->datas[0];
    if (memory->data) return;
    void *mapped = mmap(NULL, memory->maxsize + memory->mapoffset, PROT_READ, MAP_SHARED, (int)memory->fd, 0);
    if (mapped == MAP_FAILED) fail("a frame cannot be mapped", errno);
    buffer->user_data = mapped;
}

static void on_remove_buffer(void *data, struct pw_buffer *buffer) {
    (void)data;
    struct spa_data *memory = &buffer->buffer->datas[0];
    if (buffer->user_data) munmap(buffer->user_data, memory->maxsize + memory->mapoffset);
    buffer->user_data = NULL;
}

static void take(struct reader *reader, const char *frame, size_t size, uint64_t awake) {
    uint64_t stamps[2];
    memcpy(stamps, frame, sizeof stamps);
    reader->delays[reader->delay_next] = (int64_t)(awake - stamps[1]);
    reader->delay_next = (reader->delay_next + 1) % most_delays;
    if (reader->delay_count < most_delays) reader->delay_count++;
    if (copies) {
        memcpy(reader->own, frame, size);
        reader->bytes += size;
    }
    atomic_thread_fence(memory_order_acquire);
    /* A frame that was overwritten meanwhile is one that this reader missed. */
    if (((const volatile uint64_t *)frame)[1] == stamps[1])
        atomic_fetch_add_explicit(&reader->frames, 1, memory_order_relaxed);
    else
        reader->torn++;
}

static void on_process(void *data) {
    struct reader *reader = data;
    uint64_t awake = now();
    struct pw_buffer *buffer;
    while ((buffer = pw_stream_dequeue_buffer(reader->stream))) {
        const struct spa_data *memory = &buffer->buffer->datas[0];
        const struct spa_chunk *chunk = memory->chunk;
        const char *mapped = memory->data ? memory->data : (char *)buffer->user_data + memory->mapoffset;
        if (chunk->size == frame_size()) take(reader, mapped + chunk->offset, chunk->size, awake);
        pw_stream_queue_buffer(reader->stream, buffer);
    }
}

static void on_param_changed(void *data, uint32_t id, const struct spa_pod *param) {
    struct reader *reader = data;
    if (!param || id != SPA_PARAM_Format) return;
    char room[512];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(room, sizeof room);
    const struct spa_pod *wanted = spa_pod_builder_add_object(&builder,
        SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers,
        SPA_PARAM_BUFFERS_buffers, SPA_POD_CHOICE_RANGE_Int(8, 2, 16),
        SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_DmaBuf | 1 << SPA_DATA_MemFd));
    pw_stream_update_params(reader->stream, &wanted, 1);
}

static void on_state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    (void)data, (void)old;
    if (state == PW_STREAM_STATE_ERROR) {
        fprintf(stderr, "consumer: the stream failed: %s\n", error);
        exit(1);
    }
}

static const struct pw_stream_events stream_events = {
    PW_VERSION_STREAM_EVENTS,
    .state_changed = on_state_changed,
    .param_changed = on_param_changed,
    .add_buffer = on_add_buffer,
    .remove_buffer = on_remove_buffer,
    .process = on_process,
};

static void start(struct reader *reader) {
    reader->own = malloc(frame_size());
    reader->thread = pw_thread_loop_new("reader", NULL);
    if (!reader->own || !reader->thread) fail("no reader can be made", errno);
    memset(reader->own, 0, frame_size());
    reader->context = pw_context_new(pw_thread_loop_get_loop(reader->thread), NULL, 0);
    reader->core = reader->context ? pw_context_connect(reader->context, NULL, 0) : NULL;
    if (!reader->core) fail("there is no PipeWire", errno);
    struct pw_properties *properties = pw_properties_new(
        PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE, "Camera",
        PW_KEY_NODE_NAME, own_name, NULL);
    reader->stream = pw_stream_new(reader->core, "bench-reader", properties);
    if (!reader->stream) fail("no stream can be made", errno);
    pw_stream_add_listener(reader->stream, &reader->listener, &stream_events, reader);
    char room[512];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(room, sizeof room);
    const struct spa_pod *offered = spa_format_video_raw_build(&builder, SPA_PARAM_EnumFormat, &format);
    int result =
        pw_stream_connect(reader->stream, PW_DIRECTION_INPUT, PW_ID_ANY, PW_STREAM_FLAG_RT_PROCESS, &offered, 1);
    if (result < 0) fail("the stream cannot connect", -result);
    if (pw_thread_loop_start(reader->thread) < 0) fail("no thread can be started", errno);
}

static int is_own(uint32_t node) {
    for (int i = 0; i < own_count; i++)
        if (own_nodes[i] == node) return 1;
    return 0;
}

static uint32_t number(const struct spa_dict *properties, const char *key) {
    const char *text = spa_dict_lookup(properties, key);
    return text ? (uint32_t)strtoul(text, NULL, 10) : SPA_ID_INVALID;
}

/* With the camera's port the readers are started; each of their ports is linked to it when it comes. */
static void on_global(void *data, uint32_t id, uint32_t permissions, const char *type, uint32_t version,
                      const struct spa_dict *properties) {
    (void)data, (void)permissions, (void)version;
    if (!properties) return;
    const char *name = spa_dict_lookup(properties, PW_KEY_NODE_NAME);
    if (strcmp(type, PW_TYPE_INTERFACE_Node) == 0 && name) {
        if (strcmp(name, camera_name) == 0) camera_node = id;
        if (strcmp(name, own_name) == 0 && own_count < most_readers) own_nodes[own_count++] = id;
    }
    if (strcmp(type, PW_TYPE_INTERFACE_Port) != 0) return;
    uint32_t node = number(properties, PW_KEY_NODE_ID);
    if (node == camera_node && camera_port == SPA_ID_INVALID) {
        camera_port = id;
        for (int i = 0; i < reader_count; i++) start(&readers[i]);
    }
    if (!is_own(node)) return;
    struct pw_properties *link = pw_properties_new(NULL, NULL);
    pw_properties_setf(link, PW_KEY_LINK_OUTPUT_NODE, "%u", camera_node);
    pw_properties_setf(link, PW_KEY_LINK_OUTPUT_PORT, "%u", camera_port);
    pw_properties_setf(link, PW_KEY_LINK_INPUT_NODE, "%u", node);
    pw_properties_setf(link, PW_KEY_LINK_INPUT_PORT, "%u", id);
    if (!pw_core_create_object(core, "link-factory", PW_TYPE_INTERFACE_Link, PW_VERSION_LINK, &link->dict, 0))
        fail("no link can be made", errno);
    pw_properties_free(link);
}

static const struct pw_registry_events registry_events = {PW_VERSION_REGISTRY_EVENTS, .global = on_global};

static void on_error(void *data, uint32_t id, int sequence, int result, const char *message) {
    (void)data, (void)id, (void)sequence;
    fprintf(stderr, "consumer: %s: %s\n", message, spa_strerror(result));
    exit(1);
}

static const struct pw_core_events core_events = {PW_VERSION_CORE_EVENTS, .error = on_error};

static void on_signal(void *data, int number) {
    (void)data, (void)number;
    pw_main_loop_quit(loop);
}

static void on_tick(void *data, uint64_t expirations) {
    (void)expirations;
    for (int i = 0; i < reader_count; i++)
        if (!atomic_load_explicit(&readers[i].frames, memory_order_relaxed)) return;
    printf("running\n");
    fflush(stdout);
    pw_loop_destroy_source(pw_main_loop_get_loop(loop), *(struct spa_source **)data);
}

static int compare(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void tell(void) {
    static int64_t delays[most_readers * most_delays];
    size_t count = 0;
    uint64_t frames = 0, fewest = UINT64_MAX, most = 0, torn = 0, bytes = UINT64_MAX;
    for (int i = 0; i < reader_count; i++) {
        const struct reader *reader = &readers[i];
        frames += reader->frames;
        if (reader->frames < fewest) fewest = reader->frames;
        if (reader->frames > most) most = reader->frames;
        if (reader->torn > torn) torn = reader->torn;
        if (reader->bytes < bytes) bytes = reader->bytes;
        memcpy(delays + count, reader->delays, reader->delay_count * sizeof *delays);
        count += reader->delay_count;
    }
    qsort(delays, count, sizeof *delays, compare);
    size_t last = count ? count - 1 : 0;
    printf("{\"frames\": %" PRIu64 ", \"fewest\": %" PRIu64 ", \"most\": %" PRIu64 ", ", frames, fewest, most);
    printf("\"torn\": %" PRIu64 ", \"bytes\": %" PRIu64 ", ", torn, bytes);
    printf("\"delays\": %zu, \"delayP50\": %.3f, \"delayP99\": %.3f}\n", count, (double)delays[last / 2] / 1000,
           (double)delays[(last * 99 + 50) / 100] / 1000);
    fflush(stdout);
}

int main(int count, char **words) {
    /* No thread that the library starts may be ended by it. */
    sigset_t asked;
    sigemptyset(&asked);
    sigaddset(&asked, SIGTERM);
    sigprocmask(SIG_BLOCK, &asked, NULL);
    snprintf(own_name, sizeof own_name, "bench-reader-%d", (int)getpid());
    pw_init(&count, &words);
    struct spa_fraction *rate = &format.framerate;
    if (count != 5 || sscanf(words[2], "%ux%u@%u", &format.size.width, &format.size.height, &rate->num) != 3 ||
        rate->num == 0 || (reader_count = atoi(words[3])) < 1 || reader_count > most_readers) {
        fprintf(stderr, "usage: consumer NODE WIDTHxHEIGHT@RATE READERS copy|look\n");
        return 64;
    }
    rate->denom = 1;
    camera_name = words[1];
    copies = strcmp(words[4], "copy") == 0;
    loop = pw_main_loop_new(NULL);
    struct pw_loop *events = pw_main_loop_get_loop(loop);
    struct pw_context *context = pw_context_new(events, NULL, 0);
    core = context ? pw_context_connect(context, NULL, 0) : NULL;
    if (!core) fail("there is no PipeWire", errno);
    struct spa_hook core_hook, registry_hook;
    pw_core_add_listener(core, &core_hook, &core_events, NULL);
    struct pw_registry *registry = pw_core_get_registry(core, PW_VERSION_REGISTRY, 0);
    pw_registry_add_listener(registry, &registry_hook, &registry_events, NULL);
    pw_loop_add_signal(events, SIGTERM, on_signal, NULL);
    struct spa_source *tick = pw_loop_add_timer(events, on_tick, &tick);
    struct timespec step = {0, second / 100};
    pw_loop_update_timer(events, tick, &step, &step, false);
    pw_main_loop_run(loop);
    for (int i = 0; i < reader_count; i++)
        if (readers[i].context) pw_data_loop_stop(pw_context_get_data_loop(readers[i].context));
    tell();
    return 0;
}
