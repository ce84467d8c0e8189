/* camera [OPTION]... SOCKET             a USB camera, plugged into this machine until `quit` or SIGTERM
   camera --tell SOCKET COMMAND [WORD]   a command for it, of those in faults.c. Exits 1 for a refusal

   --name NAME       "Test Camera"
   --serial SERIAL   none
   --port N          of vhci-hcd; the first free one, and the same again at each plug
   --unplugged       waits for `plug` */
#include "camera.h"
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { get_status, clear_feature, set_feature = 3, set_address = 5, get_descriptor, get_configuration = 8,
       set_configuration, get_interface, set_interface };

double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

bool plug(struct camera *camera) {
    if (camera->usb >= 0) return true;
    /* The port that it had is free once the kernel has let go of the old connection. */
    for (double end = now() + 10; camera->usb < 0 && now() < end; poll(NULL, 0, 20)) {
        camera->usb = usb_attach(camera->port, &camera->port);
        if (camera->usb >= 0 || errno != EBUSY) break;
    }
    return camera->usb >= 0;
}

void unplug(struct camera *camera) {
    if (camera->usb >= 0) close(camera->usb);
    camera->usb = -1;
    camera->pending_count = camera->status_count = 0;
    camera->configuration = 0;
    stream_stop(&camera->stream);
    controls_reset(&camera->control);
}

bool take_pending(struct camera *camera, uint8_t endpoint, struct pending *taken) {
    for (int i = 0; i < camera->pending_count; i++) {
        if (camera->pending[i].endpoint != endpoint) continue;
        *taken = camera->pending[i];
        memmove(&camera->pending[i], &camera->pending[i + 1], sizeof *taken * (--camera->pending_count - i));
        return true;
    }
    return false;
}

static bool unlink_pending(struct camera *camera, uint32_t number) {
    for (int i = 0; i < camera->pending_count; i++) {
        if (camera->pending[i].number != number) continue;
        memmove(&camera->pending[i], &camera->pending[i + 1], sizeof *camera->pending * (--camera->pending_count - i));
        return true;
    }
    return false;
}

/* The answer's length, or -1 for a stall. */
static int standard_request(struct camera *camera, const struct request *request, uint8_t *answer, size_t room) {
    const uint8_t *setup = request->setup;
    switch (setup[1]) {
        case get_status: return memset(answer, 0, 2), 2;
        case clear_feature:
            /* uvcvideo says by this that it wants no more. */
            if ((setup[0] & 31) == 2 && (setup[4] & 15) == endpoint_video) stream_stop(&camera->stream);
            return 0;
        case set_feature: case set_address: return 0;
        case get_configuration: return *answer = camera->configuration, 1;
        case set_configuration: return camera->configuration = setup[2], 0;
        case get_interface: return *answer = 0, 1;
        case set_interface:
            if (setup[2] || setup[4] >= interfaces) return -1;
            if (setup[4] == interface_streaming) stream_stop(&camera->stream);
            return 0;
        case get_descriptor: break;
        default: return -1;
    }
    size_t length = 0;
    switch (setup[3]) {
        case 1: length = device_descriptor(answer, camera); break;
        case 2: length = setup[2] ? 0 : configuration_descriptor(answer, room, camera->faults.descriptors); break;
        case 3: length = string_descriptor(answer, room, setup[2], camera); break;
        case 6: length = qualifier_descriptor(answer); break;
    }
    return length ? (int)length : -1;
}

static bool keep(struct camera *camera, const struct request *request, uint8_t endpoint) {
    if (camera->pending_count == most_pending) return usb_answer(camera->usb, request->number, -ENOMEM, NULL, 0);
    camera->pending[camera->pending_count++] = (struct pending){request->number, request->length, endpoint};
    return true;
}

static bool serve_control(struct camera *camera, const struct request *request) {
    static uint8_t answer[8192];
    const uint8_t *setup = request->setup;
    int length = -1, kind = setup[0] & 0x7f;
    bool is_class = kind == 0x21;
    camera->requests++;
    /* The settings are what the host writes to controls. */
    struct faults *faults = &camera->faults;
    bool is_setting = is_class && !request->is_in && setup[4] == interface_control;
    if ((is_class && use_up(&faults->hang_requests)) || (is_setting && use_up(&faults->hang_settings)))
        return keep(camera, request, 0);
    if ((is_class && use_up(&faults->stall_requests)) || (is_setting && use_up(&faults->stall_settings))) {
        length = -1;
    } else if (is_class && setup[4] == interface_control) {
        length = control_request(camera, request, answer);
    } else if (is_class && setup[4] == interface_streaming) {
        length = stream_request(camera, request, answer);
    } else if (!(kind & 0x60)) {
        length = standard_request(camera, request, answer, sizeof answer);
    }
    if (length < 0) return usb_answer(camera->usb, request->number, -EPIPE, NULL, 0);
    if (!request->is_in) return usb_acknowledge(camera->usb, request->number, request->length);
    size_t wanted = setup[6] | setup[7] << 8;
    if (wanted > request->length) wanted = request->length;
    return usb_answer(camera->usb, request->number, 0, answer, (size_t)length < wanted ? (size_t)length : wanted);
}

static bool serve_usb(struct camera *camera) {
    struct request request;
    switch (usb_receive(camera->usb, &request)) {
        case received_nothing: return false;
        case received_unlink: return usb_unlinked(camera->usb, request.length, unlink_pending(camera, request.number));
        case received_request: break;
    }
    if (!request.endpoint) return serve_control(camera, &request);
    bool is_known = request.endpoint == endpoint_video || request.endpoint == endpoint_status;
    if (!is_known || !request.is_in) return usb_answer(camera->usb, request.number, -EPIPE, NULL, 0);
    return keep(camera, &request, request.endpoint);
}

static bool feed_status(struct camera *camera) {
    struct pending transfer;
    while (camera->status_count && take_pending(camera, endpoint_status, &transfer)) {
        struct status_message *message = &camera->status[camera->status_first];
        camera->status_first = (camera->status_first + 1) % (int)(sizeof camera->status / sizeof *camera->status);
        camera->status_count--;
        size_t length = message->length < transfer.length ? message->length : transfer.length;
        if (!usb_answer(camera->usb, transfer.number, 0, message->bytes, length)) return false;
    }
    return true;
}

static void run(struct camera *camera, int listener, int signals) {
    double next = 0;
    for (bool ends = false, moves = true; !ends;) {
        struct pollfd files[] = {{camera->usb, POLLIN, 0}, {camera->stream.timer, POLLIN, 0}, {listener, POLLIN, 0},
                                 {signals, POLLIN, 0}};
        double wait = (next - now()) * 1000 + 1;
        if (poll(files, 4, !moves ? -1 : wait > 0 ? (int)wait : 0) < 0 && errno != EINTR) break;
        if (files[3].revents) break;
        if (files[0].revents && !serve_usb(camera)) {
            puts("the connection is gone");
            unplug(camera);
        }
        if (files[1].revents) stream_tick(camera);
        if (files[2].revents) serve_command(listener, camera, &ends);
        /* Whatever came may have set something that others follow. */
        if (moves ? now() >= next : files[0].revents || files[2].revents) {
            moves = controls_follow(camera);
            next = now() + 0.1;
        }
        if (camera->usb >= 0 && (!stream_feed(camera) || !feed_status(camera))) unplug(camera);
    }
}

static int usage(void) {
    fputs("camera [--name NAME] [--serial SERIAL] [--port N] [--unplugged] SOCKET\n"
          "camera --tell SOCKET COMMAND [WORD]\n", stderr);
    return 64;
}

int main(int count, char **words) {
    static struct camera camera = {.name = "Test Camera", .port = -1, .usb = -1, .scene = {100, 60, 4600}};
    static const struct option options[] = {{"name", 1, 0, 'n'}, {"serial", 1, 0, 's'}, {"port", 1, 0, 'p'},
                                            {"unplugged", 0, 0, 'u'}, {"tell", 0, 0, 't'}, {0}};
    bool is_plugged = true;
    for (int option; (option = getopt_long(count, words, "+", options, NULL)) != -1;) switch (option) {
            case 'n': camera.name = optarg; break;
            case 's': camera.serial = optarg; break;
            case 'p': camera.port = atoi(optarg); break;
            case 'u': is_plugged = false; break;
            case 't':
                if (count - optind >= 2) return tell(words[optind], count - optind - 1, words + optind + 1);
                return usage();
            default: return usage();
        }
    if (count - optind != 1) return usage();
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    signal(SIGPIPE, SIG_IGN);
    int signals = signalfd(-1, &ending, SFD_CLOEXEC), listener = listen_at(words[optind]);
    controls_reset(&camera.control);
    stream_init(&camera.stream);
    if (signals < 0 || listener < 0 || camera.stream.timer < 0) {
        perror(words[optind]);
        return 70;
    }
    if (is_plugged && !plug(&camera)) {
        perror("cannot attach to vhci-hcd");
        return 69;
    }
    run(&camera, listener, signals);
    unplug(&camera);
    stream_end(&camera.stream);
    close(listener);
    close(signals);
    unlink(words[optind]);
}
