/* What the person allows this program. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int capture_consent_status(struct capture_client *client, const char *service) {
    sd_bus_message *reply = NULL;
    if (!service) return cap_fail(CAPTURE_INVALID_ARGUMENT, "a service is needed, such as camera");
    int result = cap_lock(client);
    if (result) return result;
    result = cap_need_daemon_locked(client);
    if (result == 0) result = cap_ask_locked(client, CAP_ROOT, CAP_CONSENT, "GetStatus", &reply, "s", service);
    if (result == 0) {
        uint32_t status;
        if (sd_bus_message_read_basic(reply, 'u', &status) <= 0 || status > CAPTURE_STATUS_LIMITED)
            result = cap_malformed("GetStatus");
        else result = (int)status;
        sd_bus_message_unref(reply);
    }
    cap_unlock(client);
    return result;
}

/* Once for each daemon: it forgets them when it goes. */
int cap_tell_usages_locked(struct capture_client *client) {
    if (!client->usages || client->told_usages == client->life) return 0;
    sd_bus_message *message = NULL;
    uint64_t life = client->life;
    int result = cap_call_new_locked(client, CAP_ROOT, CAP_CONSENT, "SetUsageDescriptions", &message);
    if (result < 0) return result;
    result = sd_bus_message_open_container(message, 'a', "{ss}");
    for (struct cap_usage *usage = client->usages; usage && result >= 0; usage = usage->next)
        result = sd_bus_message_append(message, "{ss}", usage->service, usage->reason);
    if (result >= 0) result = sd_bus_message_close_container(message);
    if (result < 0) {
        sd_bus_message_unref(message);
        return cap_fail_errno(CAPTURE_INVALID_ARGUMENT, -result, "write a reason into a call");
    }
    result = cap_call_locked(client, message, NULL);
    if (result == 0) client->told_usages = life;
    return result;
}

static int put_usage(struct capture_client *client, const char *service, const char *reason) {
    struct cap_usage *usage = client->usages;
    while (usage && strcmp(usage->service, service)) usage = usage->next;
    char *copy = strdup(reason);
    if (!copy) return -ENOMEM;
    if (!usage) {
        usage = calloc(1, sizeof *usage);
        if (usage) usage->service = strdup(service);
        if (!usage || !usage->service) {
            free(usage);
            free(copy);
            return -ENOMEM;
        }
        usage->next = client->usages;
        client->usages = usage;
    }
    free(usage->reason);
    usage->reason = copy;
    return 0;
}

static void drop_usage(struct capture_client *client, const char *service) {
    for (struct cap_usage **at = &client->usages; *at; at = &(*at)->next)
        if (!strcmp((*at)->service, service)) {
            struct cap_usage *usage = *at;
            *at = usage->next;
            free(usage->service);
            free(usage->reason);
            free(usage);
            return;
        }
}

int capture_consent_explain(struct capture_client *client, const char *service, const char *reason) {
    if (!service || !reason) return cap_fail(CAPTURE_INVALID_ARGUMENT, "a service and a reason are needed");
    int result = cap_lock(client);
    if (result) return result;
    if (put_usage(client, service, reason) < 0) {
        result = cap_fail_errno(CAPTURE_INTERNAL, ENOMEM, "keep a reason");
    } else {
        client->told_usages = 0;
        result = cap_need_daemon_locked(client);
        /* One that the daemon refuses must not stand in the way of later calls. */
        if (result < 0 && result != -CAPTURE_UNREACHABLE) drop_usage(client, service);
    }
    cap_unlock(client);
    return result;
}

static void decide(struct cap_request *request, int code, const char *message) {
    request->is_done = true;
    request->code = code;
    cap_copy_text(request->message, sizeof request->message, message);
}

void cap_access_decided_locked(struct capture_client *client, sd_bus_message *message) {
    uint32_t number;
    const char *code, *sentence;
    if (sd_bus_message_read(message, "uss", &number, &code, &sentence) <= 0 || !number) return;
    int value = *code ? cap_code_named(code) : 0;
    bool is_one_unnumbered = false;
    for (struct cap_request *request = client->requests; request; request = request->next) {
        if (request->is_done) continue;
        if (request->number == number) {
            decide(request, value, sentence);
            return;
        }
        if (!request->number) is_one_unnumbered = true;
    }
    if (!is_one_unnumbered) return;
    /* It was decided before the call returned that says its number. */
    struct cap_request *early = calloc(1, sizeof *early);
    if (!early) return;
    early->number = number;
    decide(early, value, sentence);
    early->next = client->early;
    client->early = early;
}

/* The number is known now: takes a decision that came before it. */
static void number_locked(struct capture_client *client, struct cap_request *request, uint32_t number) {
    request->number = number;
    bool is_one_unnumbered = false;
    for (struct cap_request *other = client->requests; other; other = other->next)
        if (!other->number) is_one_unnumbered = true;
    for (struct cap_request **at = &client->early; *at;) {
        struct cap_request *early = *at;
        if (early->number == number && !request->is_done) decide(request, early->code, early->message);
        else if (is_one_unnumbered) {
            at = &early->next;
            continue;
        }
        *at = early->next;
        free(early);
    }
}

static bool is_decided(void *context) { return ((struct cap_request *)context)->is_done; }

static int append_services(sd_bus_message *message, const char *const *services) {
    int result = sd_bus_message_open_container(message, 'a', "s");
    for (; *services && result >= 0; services++) result = sd_bus_message_append_basic(message, 's', *services);
    return result < 0 ? result : sd_bus_message_close_container(message);
}

/* Asks, and puts the number into the request; 0 if all is allowed already. */
static int ask_locked(struct capture_client *client, const char *const *services, uint32_t *number) {
    sd_bus_message *message = NULL, *reply = NULL;
    int result = cap_call_new_locked(client, CAP_ROOT, CAP_CONSENT, "RequestAccess", &message);
    if (result < 0) return result;
    result = append_services(message, services);
    if (result < 0) {
        sd_bus_message_unref(message);
        return cap_fail_errno(CAPTURE_INVALID_ARGUMENT, -result, "write services into a call");
    }
    result = cap_call_locked(client, message, &reply);
    if (result < 0) return result;
    if (sd_bus_message_read_basic(reply, 'u', number) <= 0) result = cap_malformed("RequestAccess");
    sd_bus_message_unref(reply);
    return result;
}

static int request_locked(struct capture_client *client, const char *const *services, int64_t deadline, int cancel_fd) {
    struct cap_request request = {.next = client->requests};
    client->requests = &request;
    uint32_t number = 0;
    int result = ask_locked(client, services, &number);
    if (result == 0) number_locked(client, &request, number);
    if (result == 0 && number) {
        result = cap_wait_locked(client, is_decided, &request, deadline, cancel_fd, NULL);
        if (result < 0) {
            int given_up = result;
            /* The answer that came just then is stored, and the next call finds it. */
            cap_ask_locked(client, CAP_ROOT, CAP_CONSENT, "CancelAccess", NULL, "u", number);
            result = cap_fail(-given_up, given_up == -CAPTURE_DISMISSED ? "the request was cancelled"
                                                                        : "nobody answered in time");
        } else if (request.code) {
            result = cap_fail(request.code, "%s", request.message);
        }
    }
    for (struct cap_request **at = &client->requests; *at; at = &(*at)->next)
        if (*at == &request) {
            *at = request.next;
            break;
        }
    return result;
}

int capture_consent_request(struct capture_client *client, const char *const *services, int timeout_ms,
                            int cancel_fd) {
    if (!services || !*services)
        return cap_fail(CAPTURE_INVALID_ARGUMENT, "at least one service is needed: camera or microphone");
    int64_t deadline = cap_deadline(timeout_ms);
    int result = cap_lock(client);
    if (result) return result;
    result = cap_need_daemon_locked(client);
    if (result == 0) result = request_locked(client, services, deadline, cancel_fd);
    cap_unlock(client);
    return result;
}
