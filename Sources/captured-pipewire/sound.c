/* What a program gets of a microphone. PipeWire runs at a clock of its own, at which a resampler takes what has come. */
#include "bridge.h"

#include <errno.h>
#include <spa/param/audio/format-utils.h>
#include <spa/utils/dll.h>
#include <spa/utils/ringbuffer.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* How much may wait, and how much is to wait: captured's periods come at once. */
enum { longest_ms = 500, usual_ms = 40 };
enum { usual_rate = 48000, most_rate = 768000, usual_channels = 2, usual_period = 1024 };

struct sound {
    /* Filled by the loop's thread, emptied by PipeWire's. */
    uint8_t *data;
    uint32_t size; /* a power of two */
    struct spa_ringbuffer ring;
    atomic_bool is_stale; /* what waits is from before a pause */
    uint32_t frame_size, rate, channels, sample_format;
    /* Of PipeWire's thread. */
    bool has_begun; /* enough has waited once */
    struct spa_dll dll;
    struct spa_io_rate_match *match;
    struct pw_proxy *node; /* to have its ports made */
    int sequence;          /* of the round trip before that */
};

static const uint32_t formats[] = {
    [CAPTURE_S16_LE] = SPA_AUDIO_FORMAT_S16_LE,
    [CAPTURE_S24_3LE] = SPA_AUDIO_FORMAT_S24_LE,
    [CAPTURE_S32_LE] = SPA_AUDIO_FORMAT_S32_LE,
    [CAPTURE_FLOAT_LE] = SPA_AUDIO_FORMAT_F32_LE,
};
static const uint32_t widths[] = {[CAPTURE_S16_LE] = 2, [CAPTURE_S24_3LE] = 3, [CAPTURE_S32_LE] = 4,
                                  [CAPTURE_FLOAT_LE] = 4};

static uint32_t within(const struct capture_range *range, uint32_t wish) {
    return SPA_CLAMP(wish, range->least, range->most);
}

/* What a microphone's node has: two channels at 48 kHz, or as near as the microphone comes. */
void sound_shape(const struct capture_device *device, uint32_t *rate, uint32_t *channels) {
    const struct capture_audio_offer *best = NULL;
    *rate = usual_rate;
    *channels = usual_channels;
    for (const struct capture_audio_offer *const *offer = device->audio; offer && *offer; offer++) {
        uint32_t own = within(&(*offer)->rate, usual_rate);
        if (best && abs((int)own - usual_rate) >= abs((int)*rate - usual_rate)) continue;
        best = *offer;
        *rate = own;
        *channels = SPA_MIN(within(&best->channels, usual_channels), (uint32_t)bridge_most_channels);
    }
}

static void set_positions(struct spa_audio_info_raw *info) {
    if (info->channels == 1) {
        info->position[0] = SPA_AUDIO_CHANNEL_MONO;
    } else if (info->channels == 2) {
        info->position[0] = SPA_AUDIO_CHANNEL_FL;
        info->position[1] = SPA_AUDIO_CHANNEL_FR;
    } else {
        for (uint32_t i = 0; i < info->channels; i++) info->position[i] = SPA_AUDIO_CHANNEL_AUX0 + i;
    }
}

const struct spa_pod *sound_pod(uint32_t rate, uint32_t channels, uint32_t sample_format,
                                struct spa_pod_builder *builder) {
    struct spa_audio_info_raw info = {.format = formats[sample_format], .rate = rate, .channels = channels};
    set_positions(&info);
    return spa_format_audio_raw_build(builder, SPA_PARAM_EnumFormat, &info);
}

static uint32_t usual_level(const struct sound *sound) { return sound->rate * usual_ms / 1000; }

bool sound_fits(const struct visit *visit, const struct capture_format *format) {
    const struct sound *sound = visit->sound;
    return format->rate == sound->rate && format->channels == sound->channels &&
           format->sample_format == sound->sample_format;
}

void sound_take(struct visit *visit, struct capture_buffer *buffer) {
    struct sound *sound = visit->sound;
    if (pw_stream_get_state(visit->stream, NULL) != PW_STREAM_STATE_STREAMING) return;
    uint32_t index, count = (uint32_t)(buffer->planes[0].used - buffer->planes[0].used % sound->frame_size);
    int32_t fill = spa_ringbuffer_get_write_index(&sound->ring, &index);
    /* PipeWire has stopped for a while: it goes on with what waits. */
    if (buffer->plane_count != 1 || fill < 0 || count > sound->size - (uint32_t)fill) return;
    uint32_t start = index & (sound->size - 1), first = SPA_MIN(count, sound->size - start);
    memcpy(sound->data + start, buffer->planes[0].data, first);
    memcpy(sound->data, (const uint8_t *)buffer->planes[0].data + first, count - first);
    /* Written over while it was copied: silence. */
    if (!capture_buffer_is_intact(buffer)) {
        memset(sound->data + start, 0, first);
        memset(sound->data, 0, count - first);
    }
    spa_ringbuffer_write_update(&sound->ring, (int32_t)(index + count));
}

/* Has the resampler take a little more or less, so that always about as much waits; less than one hears. */
static void keep_pace(struct sound *sound, uint32_t level, uint32_t usual) {
    if (!sound->match) return;
    double error = (double)usual - level, most = sound->rate / 100.0;
    double correction = spa_dll_update(&sound->dll, SPA_CLAMP(error, -most, most));
    SPA_FLAG_SET(sound->match->flags, SPA_IO_RATE_MATCH_FLAG_ACTIVE);
    sound->match->rate = 1.0 / SPA_CLAMP(correction, 0.998, 1.002);
}

/* Begins anew. It is asked once for each of PipeWire's usual periods. */
static void set_pace(struct sound *sound) {
    spa_dll_init(&sound->dll);
    spa_dll_set_bw(&sound->dll, SPA_DLL_BW_MIN, usual_period, usual_rate);
}

/* How much of what waits is given now: none before enough has waited, and nothing old. */
static uint32_t ready(struct sound *sound, uint32_t *index, uint32_t wanted) {
    int32_t fill = spa_ringbuffer_get_read_index(&sound->ring, index);
    uint32_t usual = usual_level(sound) + wanted;
    uint32_t level = fill > 0 ? (uint32_t)fill / sound->frame_size : 0, most = usual + usual_level(sound);
    if (atomic_exchange(&sound->is_stale, false) || level > most) {
        uint32_t kept = level > most ? usual : 0;
        *index += (level - kept) * sound->frame_size;
        spa_ringbuffer_read_update(&sound->ring, (int32_t)*index);
        level = kept;
        set_pace(sound);
    }
    if (level >= usual) sound->has_begun = true;
    if (!sound->has_begun) return 0;
    keep_pace(sound, level, usual);
    return level;
}

/* On PipeWire's thread. */
static void process(void *data) {
    struct visit *visit = data;
    struct sound *sound = visit->sound;
    struct pw_buffer *buffer = pw_stream_dequeue_buffer(visit->stream);
    if (!buffer) return;
    struct spa_data *block = &buffer->buffer->datas[0];
    uint8_t *to = block->data;
    uint32_t room = to ? block->maxsize / sound->frame_size : 0, index;
    uint32_t wanted = buffer->requested ? (uint32_t)SPA_MIN(buffer->requested, room) : SPA_MIN(room, (uint32_t)usual_period);
    uint32_t level = ready(sound, &index, wanted);
    if (atomic_load(&visit->peers.has_stranger)) level = 0;
    uint32_t count = SPA_MIN(level, wanted) * sound->frame_size;
    if (room) {
        spa_ringbuffer_read_data(&sound->ring, sound->data, sound->size, index & (sound->size - 1), to, count);
        memset(to + count, 0, wanted * sound->frame_size - count);
        spa_ringbuffer_read_update(&sound->ring, (int32_t)(index + count));
    }
    if (level < wanted) sound->has_begun = false;
    *block->chunk = (struct spa_chunk){.size = wanted * sound->frame_size, .stride = (int32_t)sound->frame_size};
    buffer->size = wanted;
    pw_stream_queue_buffer(visit->stream, buffer);
}

static void io_changed(void *data, uint32_t id, void *area, uint32_t size) {
    struct visit *visit = data;
    peers_io_changed(data, id, area, size);
    if (id == SPA_IO_RateMatch) visit->sound->match = size >= sizeof(struct spa_io_rate_match) ? area : NULL;
}

/* A node of a private class has no ports before somebody says how they are to be: over another connection, since the
   server reads nothing from this one before its node has answered. */
void sound_synced(struct visit *visit, int sequence) {
    struct sound *sound = visit->sound;
    if (!sound || sound->node || sound->sequence != sequence) return;
    uint8_t space[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
    struct spa_audio_info_raw info = {
        .format = SPA_AUDIO_FORMAT_F32P, .rate = visit->sound_rate, .channels = visit->sound_channels};
    set_positions(&info);
    struct spa_pod *format = spa_format_audio_raw_build(&builder, SPA_PARAM_Format, &info);
    struct spa_pod *config = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamPortConfig, SPA_PARAM_PortConfig, SPA_PARAM_PORT_CONFIG_direction,
        SPA_POD_Id(SPA_DIRECTION_OUTPUT), SPA_PARAM_PORT_CONFIG_mode, SPA_POD_Id(SPA_PARAM_PORT_CONFIG_MODE_dsp),
        SPA_PARAM_PORT_CONFIG_format, SPA_POD_Pod(format));
    sound->node = pw_registry_bind(visit->bridge->helper_registry, visit->private_node, PW_TYPE_INTERFACE_Node,
                                   PW_VERSION_NODE, 0);
    if (sound->node && config) pw_node_set_param((struct pw_node *)sound->node, SPA_PARAM_PortConfig, 0, config);
}

static void state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    struct visit *visit = data;
    node_state_changed(data, old, state, error);
    /* By then, that connection has been shown the node. */
    if (state == PW_STREAM_STATE_PAUSED && !visit->sound->sequence)
        visit->sound->sequence = pw_core_sync(visit->bridge->helper_core, PW_ID_CORE, 0);
    /* What waited while nobody listened is not new any more. */
    if (state != PW_STREAM_STATE_STREAMING) atomic_store(&visit->sound->is_stale, true);
}

const struct pw_stream_events sound_events = {
    .version = PW_VERSION_STREAM_EVENTS,
    .state_changed = state_changed,
    .io_changed = io_changed,
    .process = process,
};

int sound_connect(struct visit *visit) {
    const struct capture_format *format = capture_reader_format(visit->reader);
    if (!format || !format->rate || !format->channels || format->channels > SPA_AUDIO_MAX_CHANNELS ||
        format->sample_format < CAPTURE_S16_LE || format->sample_format > CAPTURE_FLOAT_LE)
        return -EINVAL;
    struct sound *sound = visit->sound = calloc(1, sizeof *sound);
    if (!sound) return -ENOMEM;
    sound->rate = format->rate;
    sound->channels = format->channels;
    sound->sample_format = format->sample_format;
    sound->frame_size = widths[format->sample_format] * format->channels;
    if (format->rate > most_rate) return -EINVAL;
    sound->size = 1;
    while (sound->size < (uint64_t)format->rate * longest_ms / 1000 * sound->frame_size) sound->size *= 2;
    sound->data = malloc(sound->size);
    if (!sound->data) return -ENOMEM;
    spa_ringbuffer_init(&sound->ring);
    set_pace(sound);
    uint8_t space[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
    const struct spa_pod *pod = sound_pod(format->rate, format->channels, format->sample_format, &builder);
    return pw_stream_connect(visit->stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_RT_PROCESS, &pod, 1);
}

void sound_close(struct visit *visit) {
    struct sound *sound = visit->sound;
    if (!sound) return;
    if (sound->node) pw_proxy_destroy(sound->node);
    free(sound->data);
    free(sound);
    visit->sound = NULL;
}
