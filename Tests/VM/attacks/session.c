/* Every way to what a session captures.
   session NUMBER [WHAT...]: of the session of somebody else, WHAT being of the words below, or all of them.
   session own FILE HEIGHT RATE MICROPHONE WHAT...: of one that this program made itself, when its consent is gone. Its
   pictures are 320 wide. Its movie waits with a pre-roll; it hears of levels and takes a photo into FILE.jpg. Prints
   `running NUMBER` and `levels come`, and what is told later. */
#include "attack.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[128];
/* What stolen pictures would be in. */
static const char *file = "stolen";
static int levels;
#define INTERFACE SERVICE ".Session"

static int wants(char **words, const char *what) {
    if (!words[0]) return 1;
    for (; *words; words++)
        if (!strcmp(*words, what)) return 1;
    return 0;
}

/* The ticket of the file, opened anew: each is good for one call. */
static const char *ticket(sd_bus *bus) {
    static char text[64];
    int end = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (end < 0) give_up(file);
    pass(bus, end, text);
    return text;
}

static int takes_photo(sd_bus *bus, const char *format) {
    return gets(bus, path, INTERFACE, "CapturePhoto", NULL, "sa{sv}" FILES, "movie", 1, "format", "s", format, 1, "1",
                ticket(bus));
}

/* The same, for which the camera would have to change its size. */
static int takes_large_photo(sd_bus *bus) {
    return gets(bus, path, INTERFACE, "CapturePhoto", NULL, "sa{sv}" FILES, "movie", 2, "width", "u", 640u, "height", "u",
                480u, 1, "1", ticket(bus));
}

/* How many of the ways are open. */
static int count_open(sd_bus *bus, char **words) {
    int got = 0;
    if (wants(words, "read")) {
        char *program = session_text(bus, path, "Program");
        got += program != NULL;
        free(program);
    }
    if (wants(words, "count")) got += gets(bus, path, INTERFACE, "GetStatistics", NULL, "");
    if (wants(words, "start")) got += gets(bus, path, INTERFACE, "Start", NULL, "");
    if (wants(words, "open")) got += gets(bus, path, INTERFACE, "OpenBuffer", NULL, "s", "frames");
    if (wants(words, "words")) got += gets(bus, path, INTERFACE, "OpenBuffer", NULL, "s", "words");
    if (wants(words, "add"))
        got += gets(bus, path, INTERFACE, "AddOutput", NULL, "a{sv}ass", 3, "name", "s", "stolen", "kind", "s", "frames",
                    "format", "s", "raw", 1, "camera", ticket(bus));
    if (wants(words, "picture"))
        got += gets(bus, path, INTERFACE, "AddOutput", NULL, "a{sv}ass", 3, "name", "s", "picture", "kind", "s", "photo",
                    "format", "s", "jpeg", 1, "camera", ticket(bus));
    if (wants(words, "configure"))
        got += gets(bus, path, INTERFACE, "Configure", NULL, "a{sv}" FILES, 3,
                    "inputs", "aa{sv}", 1, 2, "name", "s", "camera", "media-type", "s", "video",
                    "outputs", "aa{sv}", 1, 2, "name", "s", "stolen", "kind", "s", "buffer",
                    "connections", "a(ss)", 1, "camera", "stolen", 0);
    if (wants(words, "photo")) got += takes_photo(bus, "jpeg");
    if (wants(words, "raw")) got += takes_photo(bus, "dng");
    if (wants(words, "size")) got += takes_large_photo(bus);
    if (wants(words, "pause")) got += gets(bus, path, INTERFACE, "PauseOutput", NULL, "s", "movie");
    if (wants(words, "resume")) got += gets(bus, path, INTERFACE, "ResumeOutput", NULL, "s", "movie");
    if (wants(words, "mark")) got += gets(bus, path, INTERFACE, "MarkOutput", NULL, "ss", "movie", "stolen");
    if (wants(words, "enable"))
        got += gets(bus, path, INTERFACE, "EnableConnection", NULL, "ssb", "microphone", "movie", 0) +
               gets(bus, path, INTERFACE, "EnableConnection", NULL, "ssb", "camera", "movie", 1) +
               gets(bus, path, INTERFACE, "EnableConnection", NULL, "ssb", "camera", "frames", 1);
    if (wants(words, "gain")) got += gets(bus, path, INTERFACE, "SetGain", NULL, "sd", "movie", 40.0);
    if (wants(words, "levels")) got += gets(bus, path, INTERFACE, "WatchLevels", NULL, "sb", "movie", 1);
    if (wants(words, "begin")) got += gets(bus, path, INTERFACE, "BeginOutput", NULL, "sx", "movie", (int64_t)0);
    if (wants(words, "note"))
        got += gets(bus, path, INTERFACE, "AppendMetadata", NULL, "sa(xs)", "movie", 1, (int64_t)0, "{\"stolen\":1}");
    if (wants(words, "cut")) got += gets(bus, path, INTERFACE, "CutOutput", NULL, "s", "movie");
    if (wants(words, "segment")) got += gets(bus, path, INTERFACE, "AddSegment", NULL, "ss", "movie", ticket(bus));
    if (wants(words, "stop")) got += gets(bus, path, INTERFACE, "Stop", NULL, "");
    return got;
}

static int hear(sd_bus_message *message, void *context, sd_bus_error *error) {
    (void)message, (void)context, (void)error;
    if (!levels++) puts("levels come");
    return 0;
}

/* Takes what has come. */
static void listen_to(sd_bus *bus) {
    while (sd_bus_process(bus, NULL) > 0) continue;
    fflush(stdout);
}

/* A session of its own, until it is over. */
static void make_and_lose(sd_bus *bus, const char *movie, unsigned height, double rate, const char *microphone) {
    static char picture[128];
    sd_bus_message *reply = NULL;
    const char *session;
    file = movie;
    if (!gets(bus, ROOT, SERVICE ".Manager", "CreateSession", &reply, "a{sv}" FILES, 4,
              "inputs", "aa{sv}", 3, 2, "name", "s", "words", "media-type", "s", "metadata", 6, "name", "s", "camera", "media-type", "s", "video", "pixel-format", "s", "YUYV",
              "width", "u", 320, "height", "u", height, "frames-per-second", "d", rate,
              3, "name", "s", "microphone", "media-type", "s", "audio", "device", "s", microphone,
              "outputs", "aa{sv}", 3, 2, "name", "s", "words", "kind", "s", "buffer", 6, "name", "s", "movie", "kind", "s", "movie", "format", "s", "mkv",
              "video-codec", "s", "mjpeg", "pre-roll", "x", (int64_t)10000000000, "segments", "a{sv}", 0,
              2, "name", "s", "frames", "kind", "s", "buffer",
              "connections", "a(ss)", 4, "words", "words", "camera", "movie", "microphone", "movie", "camera", "frames",
              "attached", "b", 1, 1, "movie", ticket(bus)) ||
        sd_bus_message_read(reply, "o", &session) < 0)
        exit(not_tried);
    snprintf(path, sizeof path, "%s", session);
    snprintf(picture, sizeof picture, "%s.jpg", movie);
    file = picture;
    if (sd_bus_match_signal(bus, NULL, SERVICE, path, INTERFACE, "Levels", hear, NULL) < 0) give_up("levels");
    if (!gets(bus, path, INTERFACE, "Start", NULL, "") || follow(bus, path) == refused) exit(not_tried);
    if (!gets(bus, path, INTERFACE, "WatchLevels", NULL, "sb", "movie", 1) || !takes_photo(bus, "jpeg")) exit(not_tried);
    if (!gets(bus, path, INTERFACE, "OpenBuffer", NULL, "s", "words")) exit(not_tried);
    /* A connection that is disabled brings nothing. */
    if (!gets(bus, path, INTERFACE, "EnableConnection", NULL, "ssb", "camera", "frames", 0)) exit(not_tried);
    if (gets(bus, path, INTERFACE, "OpenBuffer", NULL, "s", "frames")) exit(taken);
    printf("running %s\n", strrchr(path, '/') + 1);
    char *state;
    while ((state = session_text(bus, path, "State")) && (!strcmp(state, "running") || !strcmp(state, "suspended"))) {
        free(state);
        listen_to(bus);
        sd_bus_wait(bus, 100000);
    }
    free(state);
    listen_to(bus);
    levels = 0;
    file = "stolen";
}

int main(int count, char **words) {
    if (count < 2) return not_tried;
    sd_bus *bus = connect_bus();
    if (!strcmp(words[1], "own") && count > 6) {
        make_and_lose(bus, words[2], (unsigned)atoi(words[3]), atof(words[4]), words[5]);
        int got = count_open(bus, words + 6);
        listen_to(bus);
        return got || levels ? taken : refused;
    }
    snprintf(path, sizeof path, ROOT "/sessions/%s", words[1]);
    return count_open(bus, words + 2) ? taken : refused;
}
