/* Streams. A thread asks for the camera, waits for the person's answer, copies frames, and lets the camera go. So no
   caller waits inside of libcapture, and signals reach the caller as in a driver. */
#include "shim.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { look_ms = 250 };

int shim_error(int code) {
    switch (code < 0 ? -code : code) {
    case CAPTURE_BUSY: return EBUSY;
    case CAPTURE_NO_SUCH_FORMAT:
    case CAPTURE_INVALID_ARGUMENT: return EINVAL;
    case CAPTURE_NO_SUCH_DEVICE:
    case CAPTURE_DEVICE_LOST:
    case CAPTURE_UNREACHABLE: return ENODEV;
    case CAPTURE_DISMISSED:
    case CAPTURE_TIMED_OUT:
    case CAPTURE_UNDECIDED:
    case CAPTURE_NOBODY_TO_ASK:
    case CAPTURE_ASKED_TOO_OFTEN:
    case CAPTURE_DENIED:
    case CAPTURE_RESTRICTED:
    case CAPTURE_REVOKED:
    case CAPTURE_SWITCHED_OFF:
    case CAPTURE_USER_AWAY:
    case CAPTURE_NOT_PERMITTED:
    case CAPTURE_MISSING_USAGE_DESCRIPTION: return EACCES;
    default: return EIO;
    }
}

static const char *advice(int code) {
    switch (-code) {
    case CAPTURE_DENIED:
    case CAPTURE_REVOKED: return "; “capturectl auth” changes the answer";
    case CAPTURE_SWITCHED_OFF: return "; “capturectl switch camera on” turns cameras on";
    case CAPTURE_NOBODY_TO_ASK: return "; “capturectl agent” asks on a terminal";
    default: return "; “capturectl auth explain” says why";
    }
}

static void tell_refusal(struct file *file, int code, const char *why) {
    /* Sentences of the daemon's often say what to do already. */
    shim_tell(shim_notice_refused, "%s may not use the camera “%s”: %s%s", shim_program(), file->camera.device->name,
              why, strstr(why, "capturectl") ? "" : advice(code));
}

/* The stream ended by itself. */
static void fail_locked(struct file *file, int code, const char *why) {
    int number = shim_error(code);
    file->failure = number == EACCES ? EIO : number;
    /* What went away does not come back; a withdrawal can be taken back. */
    file->is_gone = number == ENODEV;
    file->phase = phase_ended;
    shim_tell(shim_notice_ended, "the camera “%s” was taken from %s: %s%s", file->camera.device->name, shim_program(),
              why, number == EACCES && code != -CAPTURE_DISMISSED ? advice(code) : "");
    shim_die_locked(file);
}

/* Whether the stream is as it was agreed on. */
static bool is_agreed(const struct choice *choice, const struct capture_format *format) {
    return format->pixel_format == choice->layout->code && format->width == choice->width &&
           format->height == choice->height && format->plane_count == 1;
}

static void deliver_locked(struct file *file, const struct capture_buffer *frame) {
    file->sequence += frame->missed + frame->lost;
    uint64_t sequence = file->sequence++;
    if (!file->queued_count) return;
    uint32_t index = file->queued[0];
    struct buffer *buffer = &file->buffers[index];
    buffer->state = buffer_filling;
    bool is_user = file->memory == V4L2_MEMORY_USERPTR;
    struct choice choice = file->choice;
    pthread_mutex_unlock(&file->lock);
    /* While it streams, buffers neither move nor go. */
    int error = shim_copy(&choice, frame, buffer, is_user);
    pthread_mutex_lock(&file->lock);
    if (error) {
        /* Overwritten meanwhile; the buffer takes the next frame. */
        buffer->state = buffer_queued;
        return;
    }
    buffer->sequence = (uint32_t)sequence;
    buffer->state = buffer_done;
    memmove(file->queued, file->queued + 1, --file->queued_count);
    file->done[file->done_count++] = (uint8_t)index;
    shim_settle_locked(file);
}

/* Whether the stream has to end, though no error ended it. */
static bool is_over_locked(struct file *file, struct capture_session *session, int64_t *looked_at) {
    int64_t now = shim_now();
    if (file->is_to_stop) return true;
    if (now - *looked_at < look_ms * INT64_C(1000000)) return false;
    *looked_at = now;
    pthread_mutex_unlock(&file->lock);
    bool is_suspended = lib.session_state(session) == CAPTURE_STATE_SUSPENDED;
    int code = is_suspended ? lib.session_reason(session) : 0;
    const char *why = code ? lib.message() : "";
    bool is_used = shim_users(file) > 0;
    pthread_mutex_lock(&file->lock);
    if (code == -CAPTURE_SWITCHED_OFF && !file->is_to_stop) fail_locked(file, code, why);
    /* Closed without our knowledge. */
    return file->is_to_stop || file->failure || !is_used;
}

static void run(struct file *file, struct capture_session *session) {
    int64_t looked_at = shim_now();
    pthread_mutex_lock(&file->lock);
    while (!is_over_locked(file, session, &looked_at)) {
        struct capture_buffer frame = {.size = sizeof frame};
        pthread_mutex_unlock(&file->lock);
        int result = lib.reader_next(file->reader, &frame, look_ms);
        const char *why = result < 0 ? lib.message() : "it was stopped";
        bool is_wrong = result == CAPTURE_BUFFER && !is_agreed(&file->choice, frame.format);
        pthread_mutex_lock(&file->lock);
        if (file->is_to_stop) break;
        if (is_wrong) fail_locked(file, -CAPTURE_BAD_DATA, "its format changed");
        else if (result == CAPTURE_BUFFER) deliver_locked(file, &frame);
        else if (result < 0 || result == CAPTURE_END) fail_locked(file, result < 0 ? result : -CAPTURE_DISMISSED, why);
    }
    pthread_mutex_unlock(&file->lock);
}

static int begin(struct file *file, struct capture_session *session) {
    const struct choice *choice = &file->choice;
    struct capture_video_request request = {.size = sizeof request,
                                            .pixel_format = choice->layout->code,
                                            .width = choice->width,
                                            .height = choice->height,
                                            .exact = 1};
    if (choice->has_rates && choice->interval.numerator)
        request.frames_per_second = (double)choice->interval.denominator / choice->interval.numerator;
    int result = lib.session_add_camera(session, "camera", file->camera.device->id, &request);
    if (result == 0) result = lib.session_start(session, shim_question_ms, file->cancel_fd);
    if (result == 0) result = lib.reader_new(session, "camera", &file->reader);
    return result;
}

/* What only the device itself says. */
static void note_format(struct file *file) {
    const struct capture_format *format = lib.reader_format(file->reader);
    if (!file->choice.has_rates && format->interval.numerator)
        file->choice.interval = (struct v4l2_fract){format->interval.numerator, format->interval.denominator};
    if (format->color_space) {
        file->choice.color_space = format->color_space;
        file->choice.transfer = format->transfer;
        file->choice.encoding = format->encoding;
        file->choice.quantization = format->quantization;
    }
    shim_share(file);
}

static void *stream(void *context) {
    struct file *file = context;
    struct capture_session *session = NULL;
    int result = lib.session_new(file->camera.client, &session);
    if (result == 0) result = begin(file, session);
    if (result == 0 && !is_agreed(&file->choice, lib.reader_format(file->reader))) result = -CAPTURE_NO_SUCH_FORMAT;
    pthread_mutex_lock(&file->lock);
    if (result < 0) {
        file->start_result = shim_error(result);
        if (!file->is_to_stop && file->start_result == EACCES) tell_refusal(file, result, lib.message());
        file->phase = phase_idle;
    } else {
        note_format(file);
        file->phase = phase_running;
    }
    shim_settle_locked(file);
    pthread_mutex_unlock(&file->lock);
    if (result == 0) run(file, session);
    pthread_mutex_lock(&file->lock);
    if (file->phase == phase_running && !file->is_to_stop) {
        /* Closed while callers wait: nothing comes for them any more. */
        file->failure = EBADF;
        file->phase = phase_ended;
        shim_settle_locked(file);
    }
    struct capture_reader *reader = file->reader;
    file->reader = NULL;
    pthread_mutex_unlock(&file->lock);
    if (result == 0) lib.session_stop(session);
    lib.reader_free(reader ? reader : NULL);
    lib.session_free(session);
    return NULL;
}

static int start_thread(struct file *file) {
    sigset_t every, before;
    /* The program's signals are for its own threads. */
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    int error = pthread_create(&file->thread, NULL, stream, file);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) return error;
    pthread_setname_np(file->thread, "captured-v4l2");
    file->has_thread = true;
    return 0;
}

/* Ends the thread. With the lock, which it lets go of meanwhile. */
static void join_locked(struct file *file) {
    while (file->is_in_transition) shim_sleep_locked(file);
    if (!file->has_thread) return;
    uint64_t one = 1;
    file->is_to_stop = file->is_in_transition = true;
    ssize_t written = write(file->cancel_fd, &one, sizeof one);
    (void)written;
    if (file->reader) lib.reader_cancel(file->reader);
    pthread_mutex_unlock(&file->lock);
    pthread_join(file->thread, NULL);
    pthread_mutex_lock(&file->lock);
    ssize_t got = read(file->cancel_fd, &one, sizeof one);
    (void)got;
    file->has_thread = file->is_to_stop = file->is_in_transition = false;
    shim_settle_locked(file);
}

int shim_stream_on(struct file *file) {
    if (file->is_gone) return ENODEV;
    if (file->phase == phase_running || file->phase == phase_ended) return 0;
    if (file->phase == phase_starting) return EBUSY;
    if (!file->count) return EINVAL;
    if (!shim_claim(file)) return EBUSY;
    file->phase = phase_starting;
    join_locked(file);
    file->sequence = file->failure = 0;
    file->start_result = 0;
    int error = start_thread(file);
    if (error) file->phase = phase_idle;
    while (!error && file->phase == phase_starting) error = shim_sleep_locked(file);
    if (error || file->phase == phase_idle) {
        join_locked(file);
        file->phase = phase_idle;
        /* Firefox tries with another open, and never closes the one that did not start. */
        shim_unclaim(file);
    }
    if (!error && file->start_result == ENODEV) file->is_gone = true;
    return error ? error : file->start_result;
}

int shim_stream_off(struct file *file) {
    pthread_mutex_lock(&file->lock);
    join_locked(file);
    for (uint32_t i = 0; i < file->count; i++) file->buffers[i].state = buffer_idle;
    file->queued_count = file->done_count = 0;
    file->current = -1;
    file->phase = phase_idle;
    file->failure = 0;
    if (file->is_dead && !file->is_gone) shim_renew_locked(file);
    shim_settle_locked(file);
    pthread_mutex_unlock(&file->lock);
    return 0;
}

void shim_lose(struct file *file) {
    shim_stream_off(file);
    shim_watch_end(file);
    pthread_mutex_lock(&file->lock);
    file->is_gone = true;
    shim_die_locked(file);
    if (file->camera.client) lib.disconnect(file->camera.client);
    file->camera.client = NULL;
    pthread_mutex_unlock(&file->lock);
}
