/* A microphone for benchmarks on a machine that has none. A program that is started with this file as a shared object
   in LD_PRELOAD finds a sound card with one capture stream, hw:0,0, and so do its children. All of alsa-lib is the
   program's own: only the kernel's side of /dev/snd is here.

       gcc -O2 -Wall -Wextra -fPIC -shared -o microphone.so microphone.c -ldl -lpthread

   BENCH_MICROPHONE      without it there is no microphone
   BENCH_CAMERA_LOG      a file that gets a line at the start and one at the end of each stream: "pid 1 began 12345", in
                         nanoseconds of CLOCK_MONOTONIC, and "pid 1 delivered 48000 lost 0", in sample frames

   It runs in real time: two channels of 16 bits at 48000 Hz, in periods and buffers as they are asked for. Sound comes
   in packets of a millisecond, as from USB microphones. The descriptor is a timer that goes off when as many sample
   frames as the program waits for are there, so poll works by itself. Nothing is copied but what a program reads by
   READI: the buffer is filled once, with a tone and noise, and the clock tells where in it the hardware is. Stamps are
   the clock's at that place.

   Status and control cannot be mapped, as on many machines, so alsa-lib asks by SYNC_PTR. For machines of 64 bits. */
#include "preload.h"

#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <sound/asound.h>

enum { most_descriptors = 4096, rate = 48000, channels = 2, frame_bytes = 4, second = 1000000000 };
enum { packet = 48, fewest_period = packet, most_period = 24000, most_buffer = 96000 };

enum kind { control = 1, stream };

struct node {
    enum kind kind;
    int state, stamps, runs; /* runs: whether a line is owed to the log */
    uint64_t start, period, buffer, avail_min, start_threshold, stop_threshold, boundary;
    uint64_t hardware, application, passed, delivered, lost, at;
    char *memory;
    size_t size;
};

static struct node *nodes[most_descriptors];
static int is_there;

static uint64_t clock_of(int which) {
    struct timespec time;
    clock_gettime(which, &time);
    return (uint64_t)time.tv_sec * second + (uint64_t)time.tv_nsec;
}

static uint64_t duration(uint64_t frames) { return frames * second / rate + (frames * second % rate > 0); }

/* Where the hardware is: as of the last packet, or as of the end of the last period, of which the kernel hears by
   itself. */
static void look(struct node *node, int exactly) {
    if (node->state != SNDRV_PCM_STATE_RUNNING) return;
    uint64_t now = clock_of(CLOCK_MONOTONIC), frames = (now - node->start) / 1000 * rate / (second / 1000);
    uint64_t step = exactly ? packet : node->period;
    frames = frames / step * step;
    if (frames <= node->hardware) return;
    node->hardware = frames;
    node->at = node->start + duration(frames);
    if (frames - node->application >= node->stop_threshold) {
        node->lost += frames - node->application;
        node->state = SNDRV_PCM_STATE_XRUN;
    }
}

/* The timer goes off at the end of the first period by which enough is there. */
static uint64_t wake_time(const struct node *node, uint64_t frames) {
    return node->start + duration((node->application + frames + node->period - 1) / node->period * node->period);
}

static void arm(int fd, const struct node *node) {
    uint64_t at = node->state == SNDRV_PCM_STATE_XRUN ? 1
        : node->state == SNDRV_PCM_STATE_RUNNING      ? wake_time(node, node->avail_min)
                                                      : 0;
    struct itimerspec when = {{0, 0}, {(time_t)(at / second), (long)(at % second)}};
    timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void halt(struct node *node) {
    look(node, 1);
    if (node->runs) {
        /* What the buffer still holds is not lost. */
        if (node->hardware > node->application + node->buffer)
            node->lost += node->hardware - node->application - node->buffer;
        node->delivered += node->application - node->passed;
        node->lost += node->passed;
    }
    node->runs = 0;
    node->state = SNDRV_PCM_STATE_SETUP;
}

static void finish(struct node *node) {
    halt(node);
    if (node->delivered) tell("pid %d delivered %lu lost %lu\n", (int)getpid(), node->delivered, node->lost);
}

/* A range of whole numbers, and whether anything is left of it. */
struct range {
    uint64_t least, most;
};

static int narrow(struct range *range, uint64_t least, uint64_t most) {
    int changed = least > range->least || most < range->most;
    if (least > range->least) range->least = least;
    if (most < range->most) range->most = most;
    return changed;
}

static struct snd_interval *interval(struct snd_pcm_hw_params *params, int name) {
    return &params->intervals[name - SNDRV_PCM_HW_PARAM_FIRST_INTERVAL];
}

static uint64_t up(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

/* Sample frames that an interval allows of which `many` are `few` of its unit. */
static struct range frames_in(const struct snd_interval *from, uint64_t many, uint64_t few) {
    uint64_t least = from->openmin ? from->min * many / few + 1 : up(from->min * many, few);
    uint64_t most = from->openmax ? up(from->max * many, few) - 1 : from->max * many / few;
    return (struct range){least, from->max ? most : 0};
}

static void put(struct snd_interval *to, struct range frames, uint64_t many, uint64_t few) {
    uint64_t least = frames.least * few, most = frames.most * few;
    *to = (struct snd_interval){.min = (unsigned)(least / many), .max = (unsigned)up(most, many)};
    to->openmin = least % many > 0;
    to->openmax = most % many > 0;
    to->integer = many == 1;
}

static int fix(struct snd_interval *of, unsigned value) {
    if (value < of->min || value > of->max || (of->openmin && value == of->min) || (of->openmax && value == of->max))
        return 0;
    *of = (struct snd_interval){.min = value, .max = value, .integer = 1};
    return 1;
}

static int restrict_mask(struct snd_pcm_hw_params *params, int name, uint32_t allowed) {
    struct snd_mask *mask = &params->masks[name - SNDRV_PCM_HW_PARAM_FIRST_MASK];
    uint32_t left = mask->bits[0] & allowed;
    memset(mask, 0, sizeof *mask);
    return (mask->bits[0] = left) != 0;
}

/* What is left of what a program can take. */
static int refine(struct snd_pcm_hw_params *params) {
    static const uint32_t access = 1u << SNDRV_PCM_ACCESS_MMAP_INTERLEAVED | 1u << SNDRV_PCM_ACCESS_RW_INTERLEAVED;
    if (!restrict_mask(params, SNDRV_PCM_HW_PARAM_ACCESS, access) ||
        !restrict_mask(params, SNDRV_PCM_HW_PARAM_FORMAT, 1u << SNDRV_PCM_FORMAT_S16_LE) ||
        !restrict_mask(params, SNDRV_PCM_HW_PARAM_SUBFORMAT, 1u << SNDRV_PCM_SUBFORMAT_STD) ||
        !fix(interval(params, SNDRV_PCM_HW_PARAM_SAMPLE_BITS), 16) ||
        !fix(interval(params, SNDRV_PCM_HW_PARAM_FRAME_BITS), 32) ||
        !fix(interval(params, SNDRV_PCM_HW_PARAM_CHANNELS), channels) ||
        !fix(interval(params, SNDRV_PCM_HW_PARAM_RATE), rate))
        return fail(EINVAL);
    struct snd_interval *times[] = {interval(params, SNDRV_PCM_HW_PARAM_PERIOD_TIME),
                                    interval(params, SNDRV_PCM_HW_PARAM_BUFFER_TIME)};
    struct snd_interval *sizes[] = {interval(params, SNDRV_PCM_HW_PARAM_PERIOD_SIZE),
                                    interval(params, SNDRV_PCM_HW_PARAM_BUFFER_SIZE)};
    struct snd_interval *bytes[] = {interval(params, SNDRV_PCM_HW_PARAM_PERIOD_BYTES),
                                    interval(params, SNDRV_PCM_HW_PARAM_BUFFER_BYTES)};
    struct snd_interval *count = interval(params, SNDRV_PCM_HW_PARAM_PERIODS);
    struct range found[] = {{fewest_period, most_period}, {2 * fewest_period, most_buffer}};
    struct range periods = frames_in(count, 1, 1);
    for (int i = 0; i < 2; i++) {
        struct range asked[] = {frames_in(times[i], rate / 1000, 1000), frames_in(sizes[i], 1, 1),
                                frames_in(bytes[i], 1, frame_bytes)};
        for (int j = 0; j < 3; j++) narrow(&found[i], asked[j].least, asked[j].most);
    }
    narrow(&periods, 2, most_buffer);
    /* A buffer is a whole number of periods. */
    for (int changed = 1; changed;) {
        struct range *period = &found[0], *buffer = &found[1];
        if (period->least > period->most || buffer->least > buffer->most || periods.least > periods.most)
            return fail(EINVAL);
        changed = narrow(&periods, up(buffer->least, period->most), buffer->most / period->least);
        if (periods.least > periods.most) return fail(EINVAL);
        changed |= narrow(buffer, period->least * periods.least, period->most * periods.most);
        changed |= narrow(period, up(buffer->least, periods.most), buffer->most / periods.least);
    }
    for (int i = 0; i < 2; i++) {
        put(times[i], found[i], rate / 1000, 1000);
        put(sizes[i], found[i], 1, 1);
        put(bytes[i], found[i], 1, frame_bytes);
    }
    put(count, periods, 1, 1);
    params->cmask = params->rmask;
    params->rmask = 0;
    params->info = SNDRV_PCM_INFO_MMAP | SNDRV_PCM_INFO_MMAP_VALID | SNDRV_PCM_INFO_INTERLEAVED |
                   SNDRV_PCM_INFO_BLOCK_TRANSFER;
    params->msbits = 16;
    params->rate_num = rate;
    params->rate_den = 1;
    params->fifo_size = 0;
    return 0;
}

/* A tone under noise, the same for every program. */
static void fill(char *memory, uint64_t frames) {
    uint32_t noise = 1;
    int32_t wave = 0, speed = 900;
    for (uint64_t i = 0; i < frames; i++) {
        wave += speed;
        speed -= wave / 300;
        for (int channel = 0; channel < channels; channel++) {
            noise = noise * 1664525 + 1013904223;
            ((int16_t *)memory)[i * channels + (uint64_t)channel] = (int16_t)(wave / 4 + (int32_t)(noise >> 22) - 512);
        }
    }
}

static int set_hardware(struct node *node, struct snd_pcm_hw_params *params) {
    if (refine(params) < 0) return -1;
    if (node->memory) munmap(node->memory, node->size);
    node->memory = NULL;
    node->period = interval(params, SNDRV_PCM_HW_PARAM_PERIOD_SIZE)->min;
    node->buffer = interval(params, SNDRV_PCM_HW_PARAM_BUFFER_SIZE)->min;
    node->size = (node->buffer * frame_bytes + 4095) / 4096 * 4096;
    char *memory = mmap(NULL, node->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return fail(ENOMEM);
    fill(memory, node->buffer);
    node->memory = memory;
    node->avail_min = node->period;
    node->start_threshold = 1;
    node->stop_threshold = node->buffer;
    for (node->boundary = node->buffer; node->boundary * 2 <= LONG_MAX - node->buffer;) node->boundary *= 2;
    node->state = SNDRV_PCM_STATE_SETUP;
    return 0;
}

static int set_software(struct node *node, struct snd_pcm_sw_params *params) {
    if (node->state == SNDRV_PCM_STATE_OPEN) return fail(EBADFD);
    node->avail_min = params->avail_min ? params->avail_min : 1;
    node->start_threshold = params->start_threshold;
    node->stop_threshold = params->stop_threshold;
    node->stamps = params->proto >= SNDRV_PROTOCOL_VERSION(2, 0, 12) ? (int)params->tstamp_type : node->stamps;
    params->boundary = node->boundary;
    return 0;
}

static struct timespec stamp(const struct node *node) {
    uint64_t at = node->at;
    if (node->stamps == SNDRV_PCM_TSTAMP_TYPE_GETTIMEOFDAY)
        at += clock_of(CLOCK_REALTIME) - clock_of(CLOCK_MONOTONIC);
    return (struct timespec){(time_t)(at / second), (long)(at % second)};
}

static void begin(struct node *node) {
    node->state = SNDRV_PCM_STATE_RUNNING;
    node->start = node->at = clock_of(CLOCK_MONOTONIC);
    node->runs = 1;
    tell("pid %d began %lu\n", (int)getpid(), node->start);
}

static int synchronize(int fd, struct node *node, struct snd_pcm_sync_ptr *pointers) {
    look(node, pointers->flags & SNDRV_PCM_SYNC_PTR_HWSYNC);
    int is_news = 0;
    if (pointers->flags & SNDRV_PCM_SYNC_PTR_APPL) {
        pointers->c.control.appl_ptr = node->application;
    } else {
        is_news = node->application != pointers->c.control.appl_ptr;
        node->application = pointers->c.control.appl_ptr;
    }
    if (pointers->flags & SNDRV_PCM_SYNC_PTR_AVAIL_MIN) {
        pointers->c.control.avail_min = node->avail_min;
    } else {
        node->avail_min = pointers->c.control.avail_min;
    }
    if (is_news || node->state == SNDRV_PCM_STATE_XRUN) arm(fd, node);
    struct timespec time = stamp(node);
    memset(&pointers->s.status, 0, sizeof pointers->s.status);
    pointers->s.status.state = node->state;
    pointers->s.status.hw_ptr = node->hardware;
    pointers->s.status.tstamp.tv_sec = time.tv_sec;
    pointers->s.status.tstamp.tv_nsec = time.tv_nsec;
    return 0;
}

static int describe_status(struct node *node, struct snd_pcm_status *out) {
    look(node, 1);
    struct timespec time = stamp(node);
    *out = (struct snd_pcm_status){.state = node->state, .appl_ptr = node->application, .hw_ptr = node->hardware};
    out->tstamp.tv_sec = time.tv_sec;
    out->tstamp.tv_nsec = time.tv_nsec;
    out->avail = out->avail_max = node->hardware - node->application;
    out->delay = (snd_pcm_sframes_t)out->avail;
    return 0;
}

/* With the lock held, which a wait lets go. */
static int transfer(int fd, struct node *node, struct snd_xferi *what) {
    uint64_t done = 0;
    int is_patient = !(fcntl(fd, F_GETFL) & O_NONBLOCK);
    what->result = 0;
    if (node->state == SNDRV_PCM_STATE_PREPARED && what->frames >= node->start_threshold) begin(node);
    while (done < what->frames) {
        look(node, 1);
        if (node->state == SNDRV_PCM_STATE_XRUN) return done ? 0 : fail(EPIPE);
        if (node->state != SNDRV_PCM_STATE_RUNNING) return done ? 0 : fail(EBADFD);
        uint64_t available = node->hardware - node->application, wanted = what->frames - done;
        if (available == 0) {
            if (!is_patient) break;
            uint64_t until = wake_time(node, wanted < node->avail_min ? wanted : node->avail_min);
            struct timespec time = {(time_t)(until / second), (long)(until % second)};
            pthread_mutex_unlock(&lock);
            int interrupted = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
            pthread_mutex_lock(&lock);
            if (interrupted) return done ? 0 : fail(interrupted);
            continue;
        }
        uint64_t place = node->application % node->buffer, count = available < wanted ? available : wanted;
        if (count > node->buffer - place) count = node->buffer - place;
        memcpy((char *)what->buf + done * frame_bytes, node->memory + place * frame_bytes, count * frame_bytes);
        done += count;
        node->application += count;
        what->result = (snd_pcm_sframes_t)done;
    }
    if (done == 0) return fail(EAGAIN);
    return arm(fd, node), 0;
}

static int answer_stream(int fd, struct node *node, uint32_t request, void *argument) {
    int *number = argument;
    snd_pcm_uframes_t *frames = argument;
    switch (_IOC_NR(request)) {
    case _IOC_NR(SNDRV_PCM_IOCTL_PVERSION): return *number = SNDRV_PCM_VERSION, 0;
    case _IOC_NR(SNDRV_PCM_IOCTL_USER_PVERSION): return 0;
    case _IOC_NR(SNDRV_PCM_IOCTL_INFO):
        *(struct snd_pcm_info *)argument = (struct snd_pcm_info){
            .stream = SNDRV_PCM_STREAM_CAPTURE, .id = "Bench", .name = "Bench Microphone", .subname = "subdevice #0",
            .subdevices_count = 1};
        return 0;
    case _IOC_NR(SNDRV_PCM_IOCTL_TTSTAMP): return node->stamps = *number, 0;
    case _IOC_NR(SNDRV_PCM_IOCTL_HW_REFINE): return refine(argument);
    case _IOC_NR(SNDRV_PCM_IOCTL_HW_PARAMS): return set_hardware(node, argument);
    case _IOC_NR(SNDRV_PCM_IOCTL_SW_PARAMS): return set_software(node, argument);
    case _IOC_NR(SNDRV_PCM_IOCTL_STATUS):
    case _IOC_NR(SNDRV_PCM_IOCTL_STATUS_EXT): return describe_status(node, argument);
    case _IOC_NR(SNDRV_PCM_IOCTL_SYNC_PTR): return synchronize(fd, node, argument);
    case _IOC_NR(SNDRV_PCM_IOCTL_HWSYNC): return look(node, 1), 0;
    case _IOC_NR(SNDRV_PCM_IOCTL_DELAY):
        look(node, 1);
        return *(snd_pcm_sframes_t *)argument = (snd_pcm_sframes_t)(node->hardware - node->application), 0;
    case _IOC_NR(SNDRV_PCM_IOCTL_CHANNEL_INFO): {
        struct snd_pcm_channel_info *channel = argument;
        channel->offset = 0;
        channel->first = channel->channel * 16;
        channel->step = frame_bytes * 8;
        return 0;
    }
    case _IOC_NR(SNDRV_PCM_IOCTL_PREPARE):
        if (node->state == SNDRV_PCM_STATE_OPEN) return fail(EBADFD);
        halt(node);
        node->hardware = node->application = node->passed = 0;
        node->state = SNDRV_PCM_STATE_PREPARED;
        return 0;
    case _IOC_NR(SNDRV_PCM_IOCTL_START):
        if (node->state != SNDRV_PCM_STATE_PREPARED) return fail(EBADFD);
        return begin(node), arm(fd, node), 0;
    case _IOC_NR(SNDRV_PCM_IOCTL_DROP):
    case _IOC_NR(SNDRV_PCM_IOCTL_DRAIN):
    case _IOC_NR(SNDRV_PCM_IOCTL_HW_FREE):
        if (node->state == SNDRV_PCM_STATE_OPEN) return fail(EBADFD);
        return halt(node), arm(fd, node), 0;
    case _IOC_NR(SNDRV_PCM_IOCTL_FORWARD):
        look(node, 1);
        if (*frames > node->hardware - node->application) *frames = node->hardware - node->application;
        node->application += *frames;
        node->passed += *frames;
        return arm(fd, node), 0;
    case _IOC_NR(SNDRV_PCM_IOCTL_READI_FRAMES): return transfer(fd, node, argument);
    default: return fail(ENOTTY);
    }
}

static int answer_control(uint32_t request, void *argument) {
    int *number = argument;
    switch (_IOC_NR(request)) {
    case _IOC_NR(SNDRV_CTL_IOCTL_PVERSION): return *number = SNDRV_CTL_VERSION, 0;
    case _IOC_NR(SNDRV_CTL_IOCTL_CARD_INFO):
        *(struct snd_ctl_card_info *)argument = (struct snd_ctl_card_info){
            .id = "Bench", .driver = "Bench", .name = "Bench Microphone", .longname = "Bench Microphone",
            .mixername = "Bench"};
        return 0;
    case _IOC_NR(SNDRV_CTL_IOCTL_ELEM_LIST):
        ((struct snd_ctl_elem_list *)argument)->used = ((struct snd_ctl_elem_list *)argument)->count = 0;
        return 0;
    case _IOC_NR(SNDRV_CTL_IOCTL_SUBSCRIBE_EVENTS):
    case _IOC_NR(SNDRV_CTL_IOCTL_PCM_PREFER_SUBDEVICE): return 0;
    case _IOC_NR(SNDRV_CTL_IOCTL_PCM_NEXT_DEVICE): return *number = *number < 0 ? 0 : -1, 0;
    case _IOC_NR(SNDRV_CTL_IOCTL_HWDEP_NEXT_DEVICE):
    case _IOC_NR(SNDRV_CTL_IOCTL_RAWMIDI_NEXT_DEVICE): return *number = -1, 0;
    case _IOC_NR(SNDRV_CTL_IOCTL_PCM_INFO): {
        struct snd_pcm_info *info = argument;
        if (info->device != 0 || info->subdevice != 0) return fail(ENXIO);
        if (info->stream != SNDRV_PCM_STREAM_CAPTURE) return fail(ENOENT);
        return answer_stream(-1, NULL, SNDRV_PCM_IOCTL_INFO, argument);
    }
    default: return fail(ENOTTY);
    }
}

static struct node *node_at(int fd) { return fd >= 0 && fd < most_descriptors ? nodes[fd] : NULL; }

static enum kind kind_of(const char *path) {
    return !is_there || !path                          ? 0
        : strcmp(path, "/dev/snd/controlC0") == 0      ? control
        : strcmp(path, "/dev/snd/pcmC0D0c") == 0       ? stream
                                                       : 0;
}

static int open_node(enum kind kind, int flags) {
    int fd = timerfd_create(CLOCK_MONOTONIC, flags & (O_NONBLOCK | O_CLOEXEC));
    struct node *node = fd < 0 || fd >= most_descriptors ? NULL : calloc(1, sizeof *node);
    if (!node) return close(fd), fail(EMFILE);
    node->kind = kind;
    pthread_mutex_lock(&lock);
    nodes[fd] = node;
    pthread_mutex_unlock(&lock);
    return fd;
}

__attribute__((constructor)) static void prepare(void) {
    is_there = getenv("BENCH_MICROPHONE") != NULL;
    log_file = getenv("BENCH_CAMERA_LOG");
}

__attribute__((destructor)) static void end(void) {
    for (int fd = 0; fd < most_descriptors; fd++)
        if (nodes[fd] && nodes[fd]->kind == stream) finish(nodes[fd]);
}

/* From here on stands what programs call. */

int openat(int at, const char *path, int flags, ...) {
    REAL(openat);
    LAST_ARGUMENT(mode_t, mode, flags);
    enum kind kind = kind_of(path);
    return kind ? open_node(kind, flags) : real(at, path, flags, mode);
}

int close(int fd) {
    REAL(close);
    struct node *node = node_at(fd);
    if (node) {
        pthread_mutex_lock(&lock);
        nodes[fd] = NULL;
        finish(node);
        pthread_mutex_unlock(&lock);
        if (node->memory) munmap(node->memory, node->size);
        free(node);
    }
    return real(fd);
}

int ioctl(int fd, unsigned long request, ...) {
    REAL(ioctl);
    LAST_ARGUMENT(void *, argument, request);
    if (!node_at(fd) || (_IOC_TYPE(request) != 'A' && _IOC_TYPE(request) != 'U')) return real(fd, request, argument);
    pthread_mutex_lock(&lock);
    struct node *node = node_at(fd);
    int result = !node              ? fail(EBADF)
        : node->kind == control ? answer_control((uint32_t)request, argument)
                                : answer_stream(fd, node, (uint32_t)request, argument);
    pthread_mutex_unlock(&lock);
    return result;
}

/* The sound itself; status and control are not to be mapped. */
void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    REAL(mmap);
    struct node *node = node_at(fd);
    if (!node) return real(address, length, protection, flags, fd, offset);
    if (offset != 0 || node->kind != stream || !node->memory || length > node->size) return errno = ENXIO, MAP_FAILED;
    /* A second place for the same pages. */
    return mremap(node->memory, 0, length, MREMAP_MAYMOVE);
}

ALSO(mmap, mmap64);
