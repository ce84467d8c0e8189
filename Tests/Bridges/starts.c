/* For each line with a number it starts and stops as often, and says so.

   Compiled together with one of v4l2.c, alsa.c, pipewire.c and pulse.c. */
#include "starts.h"

#include <stdlib.h>

void failed(const char *what, const char *why) {
    say("%s: %s", what, why);
    exit(1);
}

int main(void) {
    char line[32];
    int number = 0;
    while (fgets(line, sizeof line, stdin)) {
        int count = atoi(line);
        for (int i = 0; i < count; i++) start_and_stop(number++);
        say("done %d", count);
    }
    return 0;
}
