/* Sessions: what they are made of, how they start and end, and what the daemon says of them. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

bool cap_state_is_final(enum capture_state state) { return state >= CAPTURE_STATE_INTERRUPTED; }

int capture_session_new(struct capture_client *client, struct capture_session **made) {
    if (!made) return cap_fail(CAPTURE_INVALID_ARGUMENT, "there is no place for the session");
    *made = NULL;
    int result = cap_lock(client);
    if (result) return result;
    struct capture_session *session = calloc(1, sizeof *session);
    if (session) {
        session->references = 1;
        session->client = cap_client_keep(client);
        session->next = client->sessions;
        client->sessions = session;
        *made = session;
    }
    cap_unlock(client);
    return session ? 0 : cap_fail_errno(CAPTURE_INTERNAL, ENOMEM, "make a session");
}

int capture_session_for_process(struct capture_session *session, uint32_t process, uint64_t start_time,
                                uint32_t said, const struct capture_connections *connections, size_t count,
                                const char *bridge) {
    if (!process || !bridge) return cap_fail(CAPTURE_INVALID_ARGUMENT, "a process and a bridge are needed");
    int result = cap_lock(session->client);
    if (result) return result;
    struct capture_connections *copy = calloc(count ? count : 1, sizeof *copy);
    if (session->path || !copy) {
        free(copy);
        result = copy ? cap_fail(CAPTURE_WRONG_STATE, "the session has started; say before that whose it is")
                      : cap_fail_errno(CAPTURE_INTERNAL, ENOMEM, "capture for another process");
    } else {
        if (count) memcpy(copy, connections, count * sizeof *copy);
        free(session->connections);
        session->process = process;
        session->process_start = start_time;
        session->process_said = said;
        session->connections = copy;
        session->connection_count = count;
        cap_copy_text(session->bridge, sizeof session->bridge, bridge);
    }
    cap_unlock(session->client);
    return result;
}

int capture_session_check_memory(struct capture_session *session, const uint64_t *inodes, size_t count) {
    sd_bus_message *message = NULL;
    int result = cap_lock(session->client);
    if (result) return result;
    result = cap_call_new_locked(session->client, CAP_ROOT, CAP_MANAGER, "CheckMemory", &message);
    if (result == 0 && sd_bus_message_append_array(message, 't', inodes, count * sizeof *inodes) < 0) {
        sd_bus_message_unref(message);
        result = cap_fail_errno(CAPTURE_INTERNAL, ENOMEM, "check memory");
    } else if (result == 0) {
        result = cap_call_locked(session->client, message, NULL);
    }
    cap_unlock(session->client);
    return result;
}

struct cap_input *cap_session_input(struct capture_session *session, const char *name) {
    for (size_t i = 0; i < session->input_count; i++)
        if (!strcmp(session->inputs[i].name, name)) return &session->inputs[i];
    return NULL;
}

static int add_input(struct capture_session *session, struct cap_input input, const char *name, const char *device) {
    if (!name || !*name || strlen(name) > 64)
        return cap_fail(CAPTURE_INVALID_ARGUMENT, "an input has a name of 1 to 64 characters");
    int result = cap_lock(session->client);
    if (result) return result;
    if (session->path) {
        result = cap_fail(CAPTURE_WRONG_STATE, "the session has started; add inputs before that");
    } else if (cap_session_input(session, name)) {
        result = cap_fail(CAPTURE_INVALID_ARGUMENT, "the session has an input named '%s' already", name);
    } else if (session->input_count == cap_most_inputs) {
        result = cap_fail(CAPTURE_INVALID_ARGUMENT, "a session has at most %d inputs", cap_most_inputs);
    } else {
        input.name = strdup(name);
        input.device = device ? strdup(device) : NULL;
        if (!input.name || (device && !input.device)) {
            free(input.name);
            free(input.device);
            result = cap_fail_errno(CAPTURE_INTERNAL, ENOMEM, "add an input");
        } else {
            session->inputs[session->input_count++] = input;
        }
    }
    cap_unlock(session->client);
    return result;
}

int capture_session_add_camera(struct capture_session *session, const char *name, const char *device,
                               const struct capture_video_request *request) {
    struct cap_input input = {.media = CAPTURE_VIDEO};
    if (request && request->size < sizeof request->size)
        return cap_fail(CAPTURE_INVALID_ARGUMENT, "set the size of the request");
    if (request) cap_import(&input.video, sizeof input.video, request, request->size);
    return add_input(session, input, name, device);
}

int capture_session_add_microphone(struct capture_session *session, const char *name, const char *device,
                                   const struct capture_audio_request *request) {
    struct cap_input input = {.media = CAPTURE_AUDIO};
    if (request && request->size < sizeof request->size)
        return cap_fail(CAPTURE_INVALID_ARGUMENT, "set the size of the request");
    if (request) cap_import(&input.audio, sizeof input.audio, request, request->size);
    if (input.audio.sample_format > CAPTURE_FLOAT_LE)
        return cap_fail(CAPTURE_INVALID_ARGUMENT, "there is no sample format %u", input.audio.sample_format);
    return add_input(session, input, name, device);
}

/* Notes the state and why it is so; the end's reason may come later. */
static void set_state(struct capture_session *session, enum capture_state state, const char *code,
                      const char *message) {
    if (cap_state_is_final(session->state) && !session->needs_reason) return;
    session->code = *code ? cap_code_named(code) : 0;
    cap_copy_text(session->message, sizeof session->message, message);
    session->needs_reason = !session->code && (state == CAPTURE_STATE_FAILED || state == CAPTURE_STATE_INTERRUPTED);
    /* After a pause the stream stays in its ring, and nobody else could capture. */
    if (state == CAPTURE_STATE_SUSPENDED && session->code != CAPTURE_TIMED_OUT && session->code != CAPTURE_NO_SIGNAL)
        session->interruptions++;
    session->state = state;
    if (cap_state_is_final(state) && !session->ended_at) session->ended_at = cap_now();
    session->changes++;
    cap_raise_locked(session->client);
}

void cap_session_lost_locked(struct capture_session *session, int code, const char *why) {
    set_state(session, CAPTURE_STATE_FAILED, capture_code_name(code), why);
}

struct properties {
    const char *state, *code, *reason;
};

static int property(void *context, const char *key, const char *type, sd_bus_message *message) {
    struct properties *properties = context;
    if (strcmp(type, "s")) return 0;
    const char **place = !strcmp(key, "State")        ? &properties->state
                         : !strcmp(key, "ReasonCode") ? &properties->code
                         : !strcmp(key, "Reason")     ? &properties->reason
                                                      : NULL;
    return place ? sd_bus_message_read_basic(message, 's', place) : 0;
}

static void take_properties(struct capture_session *session, const struct properties *properties) {
    static const char *const names[] = {"configured", "authorizing", "starting", "running",
                                        "suspended",  "interrupted", "stopped",  "failed"};
    enum capture_state state = session->state;
    for (unsigned i = 0; properties->state && i < CAP_COUNT(names); i++)
        if (!strcmp(properties->state, names[i])) state = (enum capture_state)i;
    const char *code = properties->code ? properties->code : session->code ? capture_code_name(session->code) : "";
    char reason[sizeof session->message];
    cap_copy_text(reason, sizeof reason, properties->reason ? properties->reason : session->message);
    if (state != session->state || properties->code || properties->reason) set_state(session, state, code, reason);
}

void cap_session_heard_locked(struct capture_session *session, sd_bus_message *message) {
    const char *text;
    if (sd_bus_message_is_signal(message, "org.freedesktop.DBus.Properties", "PropertiesChanged")) {
        struct properties properties = {0};
        if (sd_bus_message_read_basic(message, 's', &text) <= 0 || strcmp(text, CAP_SESSION)) return;
        if (cap_read_table(message, property, &properties) >= 0) take_properties(session, &properties);
    } else if (sd_bus_message_is_signal(message, CAP_SESSION, "BufferMoved")) {
        if (sd_bus_message_read_basic(message, 's', &text) <= 0) return;
        struct cap_input *input = cap_session_input(session, text);
        if (!input) return;
        input->moves++;
        session->changes++;
    }
}

void cap_session_settle_locked(struct capture_session *session) {
    if (!session->needs_reason || !session->path) return;
    sd_bus_message *reply = NULL;
    struct properties properties = {0};
    int result = cap_ask_locked(session->client, session->path, "org.freedesktop.DBus.Properties", "GetAll", &reply,
                                "s", CAP_SESSION);
    if (result == 0) {
        if (cap_read_table(reply, property, &properties) >= 0) take_properties(session, &properties);
        sd_bus_message_unref(reply);
    }
    /* Asked once: a daemon that gives no reason has none. */
    session->needs_reason = false;
}

int cap_session_fault_locked(const struct capture_session *session) {
    static const char *const words[] = {"configured", "authorizing", "starting", "running",
                                        "suspended",  "interrupted", "stopped",  "failed"};
    if (session->code) {
        const char *message = *session->message ? session->message : capture_strerror(session->code);
        return cap_fail(session->code, "%s", message);
    }
    return cap_fail(CAPTURE_INTERNAL, "the session is %s, and the daemon does not say why", words[session->state]);
}

int cap_session_open_ring_locked(struct capture_session *session, const char *input) {
    sd_bus_message *reply = NULL;
    int fd, result = cap_ask_locked(session->client, session->path, CAP_SESSION, "OpenBuffer", &reply, "s", input);
    if (result < 0) return result;
    if (sd_bus_message_read_basic(reply, 'h', &fd) <= 0) result = cap_malformed("OpenBuffer");
    /* The message's own goes with the message. */
    else if ((result = fcntl(fd, F_DUPFD_CLOEXEC, 3)) < 0)
        result = cap_fail_errno(CAPTURE_INTERNAL, errno, "keep a ring");
    sd_bus_message_unref(reply);
    return result;
}

/* Stops it without waiting for the answer. */
static void tell_stop_locked(struct capture_session *session) {
    struct capture_client *client = session->client;
    sd_bus_message *message = NULL;
    if (!session->path || cap_state_is_final(session->state) || client->is_closed) return;
    if (cap_call_new_locked(client, session->path, CAP_SESSION, "Stop", &message) < 0) return;
    sd_bus_message_set_expect_reply(message, 0);
    sd_bus_send(client->bus, message, NULL);
    sd_bus_message_unref(message);
    session->is_stopping = true;
}

static bool has_started(void *context) {
    struct capture_session *session = context;
    return session->state == CAPTURE_STATE_RUNNING || cap_state_is_final(session->state);
}

static bool has_ended(void *context) {
    struct capture_session *session = context;
    return cap_state_is_final(session->state);
}

static bool has_begun(void *context) {
    struct capture_session *session = context;
    return !session->is_beginning;
}

static int wait_for_end_locked(struct capture_session *session) {
    int64_t deadline = cap_now() + cap_call_seconds * CAP_SECOND;
    int result = cap_wait_locked(session->client, has_ended, session, deadline, -1, NULL);
    return result < 0 ? cap_fail(CAPTURE_TIMED_OUT, "the session did not stop in time") : 0;
}

/* Makes and starts it. */
static int start_anew_locked(struct capture_session *session) {
    int result = cap_need_daemon_locked(session->client);
    if (result < 0) return result;
    free(session->path);
    session->path = NULL;
    session->state = CAPTURE_STATE_CONFIGURED;
    session->code = 0;
    session->needs_reason = session->is_stopping = false;
    session->ended_at = 0;
    session->changes++;
    session->starts++;
    result = cap_session_make_locked(session);
    if (result == 0) result = cap_ask_locked(session->client, session->path, CAP_SESSION, "Start", NULL, "");
    if (result == 0) return 0;
    tell_stop_locked(session);
    cap_session_lost_locked(session, -result, capture_message());
    return result;
}

static int begin_locked(struct capture_session *session) {
    if (!session->input_count) return cap_fail(CAPTURE_INVALID_ARGUMENT, "the session has no input");
    bool is_there = session->path && !cap_state_is_final(session->state);
    if (session->is_beginning || (is_there && !session->is_stopping))
        return cap_fail(CAPTURE_WRONG_STATE, "the session has started already");
    session->is_beginning = true;
    int result = is_there ? wait_for_end_locked(session) : 0;
    if (result == 0) result = start_anew_locked(session);
    session->is_beginning = false;
    /* Who stops it waits for that. */
    cap_wake_locked(session->client);
    return result;
}

int capture_session_begin(struct capture_session *session) {
    int result = cap_lock(session->client);
    if (result) return result;
    result = begin_locked(session);
    cap_unlock(session->client);
    return result;
}

int capture_session_start(struct capture_session *session, int timeout_ms, int cancel_fd) {
    int64_t deadline = cap_deadline(timeout_ms);
    int result = cap_lock(session->client);
    if (result) return result;
    result = begin_locked(session);
    if (result == 0) {
        result = cap_wait_locked(session->client, has_started, session, deadline, cancel_fd, NULL);
        if (result < 0) {
            tell_stop_locked(session);
            result = cap_fail(-result, result == -CAPTURE_DISMISSED ? "the start was cancelled"
                                                                    : "the session did not start in time");
        } else if (session->state != CAPTURE_STATE_RUNNING) {
            cap_session_settle_locked(session);
            result = cap_session_fault_locked(session);
        }
    }
    cap_unlock(session->client);
    return result;
}

int capture_session_stop(struct capture_session *session) {
    int result = cap_lock_open_or_not(session->client);
    if (result) return result;
    /* Another thread may be about to make it, and would start it after this. Each of its calls has a limit. */
    cap_wait_locked(session->client, has_begun, session, CAP_FOREVER, -1, NULL);
    if (session->path && !cap_state_is_final(session->state)) {
        tell_stop_locked(session);
        result = wait_for_end_locked(session);
    }
    cap_unlock(session->client);
    return result;
}

int capture_session_state(struct capture_session *session) {
    int result = cap_lock_open_or_not(session->client);
    if (result) return result;
    result = (int)session->state;
    cap_unlock(session->client);
    return result;
}

int capture_session_reason(struct capture_session *session) {
    int result = cap_lock_open_or_not(session->client);
    if (result) return result;
    cap_session_settle_locked(session);
    bool is_fault = session->code || session->state == CAPTURE_STATE_FAILED;
    result = is_fault ? cap_session_fault_locked(session) : 0;
    cap_unlock(session->client);
    return result;
}

void cap_session_release(struct capture_session *session) {
    if (atomic_fetch_sub(&session->references, 1) != 1) return;
    struct capture_client *client = session->client;
    bool is_here = !cap_is_forked(client);
    if (is_here) pthread_mutex_lock(&client->lock);
    for (struct capture_session **at = &client->sessions; *at; at = &(*at)->next)
        if (*at == session) {
            *at = session->next;
            break;
        }
    if (is_here) pthread_mutex_unlock(&client->lock);
    for (size_t i = 0; i < session->input_count; i++) {
        free(session->inputs[i].name);
        free(session->inputs[i].device);
    }
    free(session->connections);
    free(session->path);
    free(session);
    cap_client_release(client);
}

void capture_session_free(struct capture_session *session) {
    if (!session) return;
    if (!cap_is_forked(session->client)) {
        pthread_mutex_lock(&session->client->lock);
        tell_stop_locked(session);
        pthread_mutex_unlock(&session->client->lock);
    }
    cap_session_release(session);
}
