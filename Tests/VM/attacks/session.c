/* The session of somebody else, by its number: session NUMBER [WHAT...], WHAT being of the words below, or all of them. */
#include "attack.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[128];
#define INTERFACE SERVICE ".Session"

static int wants(char **words, const char *what) {
    if (!words[0]) return 1;
    for (; *words; words++)
        if (!strcmp(*words, what)) return 1;
    return 0;
}

int main(int count, char **words) {
    if (count < 2) return not_tried;
    snprintf(path, sizeof path, ROOT "/sessions/%s", words[1]);
    sd_bus *bus = connect_bus();
    int got = 0;
    words += 2;
    if (wants(words, "read")) {
        char *program = session_text(bus, path, "Program");
        got += program != NULL;
        free(program);
    }
    if (wants(words, "count")) got += gets(bus, path, INTERFACE, "GetStatistics", NULL, "");
    if (wants(words, "start")) got += gets(bus, path, INTERFACE, "Start", NULL, "");
    if (wants(words, "open")) got += gets(bus, path, INTERFACE, "OpenBuffer", NULL, "s", "movie");
    if (wants(words, "add"))
        got += gets(bus, path, INTERFACE, "AddOutput", NULL, "a{sv}ass", 3, "name", "s", "stolen", "kind", "s", "frames",
                    "format", "s", "raw", 1, "camera", "1.1");
    if (wants(words, "configure"))
        got += gets(bus, path, INTERFACE, "Configure", NULL, "a{sv}" FILES, 3,
                    "inputs", "aa{sv}", 1, 2, "name", "s", "camera", "media-type", "s", "video",
                    "outputs", "aa{sv}", 1, 2, "name", "s", "stolen", "kind", "s", "buffer",
                    "connections", "a(ss)", 1, "camera", "stolen", 0);
    if (wants(words, "stop")) got += gets(bus, path, INTERFACE, "Stop", NULL, "");
    return got ? taken : refused;
}
