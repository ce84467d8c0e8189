/* What a program gets of a camera: memory of its own, which nobody but this process can write. */
#include "bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { fewest_buffers = 3, usual_buffers = 4, most_tries = 4 };

static void describe_buffers(struct visit *visit) {
    uint8_t space[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
    const struct spa_pod *pods[2];
    pods[0] = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(usual_buffers, fewest_buffers, bridge_most_buffers), SPA_PARAM_BUFFERS_blocks,
        SPA_POD_Int(1), SPA_PARAM_BUFFERS_size, SPA_POD_Int((int)pictures_size(&visit->picture)), SPA_PARAM_BUFFERS_stride,
        SPA_POD_Int((int)pictures_stride(&visit->picture)), SPA_PARAM_BUFFERS_dataType,
        SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd));
    pods[1] = spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type,
                                         SPA_POD_Id(SPA_META_Header), SPA_PARAM_META_size,
                                         SPA_POD_Int(sizeof(struct spa_meta_header)));
    pw_stream_update_params(visit->stream, pods, 2);
}

static void param_changed(void *data, uint32_t id, const struct spa_pod *param) {
    if (id == SPA_PARAM_Format && param) describe_buffers(data);
}

/* Mapped for writing here, and then sealed: no other process can write it, or change its size. */
static int make_memory(uint32_t size, void **map) {
    int fd = memfd_create("captured", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -errno;
    int seals = F_SEAL_FUTURE_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
    *map = MAP_FAILED;
    if (ftruncate(fd, size) == 0) *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (*map != MAP_FAILED && fcntl(fd, F_ADD_SEALS, seals) == 0) return fd;
    int result = -errno;
    if (*map != MAP_FAILED) munmap(*map, size);
    close(fd);
    return result;
}

static void add_buffer(void *data, struct pw_buffer *buffer) {
    struct visit *visit = data;
    struct spa_data *block = &buffer->buffer->datas[0];
    uint32_t size = pictures_size(&visit->picture);
    void *map = NULL;
    size_t place = 0;
    while (place < BRIDGE_COUNT(visit->buffers) && visit->buffers[place]) place++;
    buffer->user_data = NULL;
    /* What has no place there would not be looked after, and gets no picture. */
    if (place == BRIDGE_COUNT(visit->buffers)) return;
    int fd = buffer->buffer->n_datas == 1 ? make_memory(size, &map) : -EINVAL;
    if (fd < 0) {
        bridge_say("cannot make memory for pictures: %s", strerror(-fd));
        return;
    }
    proof_anew(visit);
    block->type = SPA_DATA_MemFd;
    block->flags = SPA_DATA_FLAG_READABLE;
    block->fd = fd;
    block->mapoffset = 0;
    block->maxsize = size;
    block->data = map;
    buffer->user_data = map;
    visit->buffers[place] = buffer;
}

static void remove_buffer(void *data, struct pw_buffer *buffer) {
    struct visit *visit = data;
    if (visit->spare == buffer) visit->spare = NULL;
    for (size_t i = 0; i < BRIDGE_COUNT(visit->buffers); i++)
        if (visit->buffers[i] == buffer) visit->buffers[i] = NULL;
    if (!buffer->user_data) return;
    struct spa_data *block = &buffer->buffer->datas[0];
    munmap(buffer->user_data, block->maxsize);
    close((int)block->fd);
    buffer->user_data = NULL;
}

const struct pw_stream_events video_events = {
    .version = PW_VERSION_STREAM_EVENTS,
    .state_changed = node_state_changed,
    .param_changed = param_changed,
    .add_buffer = add_buffer,
    .remove_buffer = remove_buffer,
    .io_changed = peers_io_changed,
};

void video_wipe(struct visit *visit) {
    for (size_t i = 0; i < BRIDGE_COUNT(visit->buffers); i++)
        if (visit->buffers[i]) memset(visit->buffers[i]->user_data, 0, visit->buffers[i]->buffer->datas[0].maxsize);
}

/* Copies the newest frame; again if captured wrote over it meanwhile. Returns its size, 0 for none. */
static uint32_t copy_newest(struct visit *visit, struct capture_buffer *frame, void *to, uint32_t room) {
    for (int i = 0; i < most_tries; i++) {
        uint32_t size = pictures_copy(&visit->picture, frame, to, room);
        if (!size || capture_buffer_is_intact(frame)) return size;
        if (capture_reader_newest(visit->reader, frame, 0) != CAPTURE_BUFFER) return 0;
    }
    return 0;
}

static void send_frame(struct visit *visit, struct capture_buffer *frame) {
    struct pw_buffer *buffer = visit->spare ? visit->spare : pw_stream_dequeue_buffer(visit->stream);
    visit->spare = NULL;
    /* The program still has them all: this frame is lost to it. */
    if (!buffer) return;
    struct spa_data *block = &buffer->buffer->datas[0];
    uint32_t size = buffer->user_data ? copy_newest(visit, frame, buffer->user_data, block->maxsize) : 0;
    if (!size) {
        /* Programs show an empty buffer as a picture: it waits for the next frame. */
        visit->spare = buffer;
        return;
    }
    *block->chunk = (struct spa_chunk){.size = size, .stride = (int32_t)pictures_stride(&visit->picture)};
    struct spa_meta_header *header = spa_buffer_find_meta_data(buffer->buffer, SPA_META_Header, sizeof *header);
    if (header)
        *header = (struct spa_meta_header){.pts = frame->timestamp, .seq = frame->sequence};
    pw_stream_queue_buffer(visit->stream, buffer);
    pw_stream_trigger_process(visit->stream);
}

bool video_fits(const struct visit *visit, const struct capture_format *format) {
    const struct picture *picture = &visit->picture;
    return format->pixel_format == picture->kind->code && format->width == picture->width &&
           format->height == picture->height;
}

void video_take(struct visit *visit, struct capture_buffer *frame) {
    if (!atomic_load(&visit->peers.has_stranger) &&
        pw_stream_get_state(visit->stream, NULL) == PW_STREAM_STATE_STREAMING && proof_holds(visit))
        send_frame(visit, frame);
}

int video_connect(struct visit *visit) {
    const struct capture_format *given = capture_reader_format(visit->reader);
    if (!given || pictures_take(given, (const struct spa_pod *const *)visit->pods, visit->pod_count,
                                &visit->picture) < 0)
        return -EBUSY;
    uint8_t space[512];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
    const struct spa_pod *format = pictures_pod(&visit->picture, &builder, SPA_PARAM_EnumFormat);
    return pw_stream_connect(visit->stream, PW_DIRECTION_OUTPUT, PW_ID_ANY,
                             PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_ALLOC_BUFFERS, &format, 1);
}
