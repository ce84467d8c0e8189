/* The settings of a device, by its id: controls ID SETTING [held|profile]. SETTING makes the picture dark when it is 1.
   Tries to look at them and at the profile, to change, lock, keep, watch, save and forget them.
     profile  saves and forgets alone
     held     has them first, with the lock, makes the picture dark, prints `held`, and tries again when it is told that
              its consent is gone */
#include "attack.h"
#include <stdio.h>
#include <string.h>

#define INTERFACE SERVICE ".Device"

static char *path;
static const char *setting;
static int has_ended;

static int change_profile(sd_bus *bus) {
    return gets(bus, path, INTERFACE, "SaveProfile", NULL, "as", 1, setting) +
           gets(bus, path, INTERFACE, "ForgetProfile", NULL, "as", 1, setting);
}

static int count_open(sd_bus *bus) {
    return gets(bus, path, INTERFACE, "GetControls", NULL, "") +
           gets(bus, path, INTERFACE, "SetControl", NULL, "sx", setting, (int64_t)1) +
           gets(bus, path, INTERFACE, "ResetControls", NULL, "") + gets(bus, path, INTERFACE, "Lock", NULL, "") +
           gets(bus, path, INTERFACE, "KeepControls", NULL, "") + gets(bus, path, INTERFACE, "Unlock", NULL, "") +
           gets(bus, path, INTERFACE, "WatchControls", NULL, "") + gets(bus, path, INTERFACE, "UnwatchControls", NULL, "") +
           gets(bus, path, INTERFACE, "GetProfile", NULL, "") + change_profile(bus);
}

static int ended(sd_bus_message *message, void *context, sd_bus_error *error) {
    (void)message, (void)context, (void)error;
    return has_ended = 1;
}

int main(int count, char **words) {
    if (count < 3 || sd_bus_path_encode(ROOT "/devices", words[1], &path) < 0) return not_tried;
    setting = words[2];
    sd_bus *bus = connect_bus();
    if (count > 3 && strcmp(words[3], "profile") == 0) return change_profile(bus) ? taken : refused;
    if (count > 3) {
        if (sd_bus_match_signal(bus, NULL, SERVICE, path, INTERFACE, "WatchEnded", ended, NULL) < 0) give_up("a match");
        if (!gets(bus, path, INTERFACE, "Lock", NULL, "") || !gets(bus, path, INTERFACE, "WatchControls", NULL, "") ||
            !gets(bus, path, INTERFACE, "SetControl", NULL, "sx", setting, (int64_t)1))
            return not_tried;
        puts("held");
        fflush(stdout);
        while (!has_ended)
            if (sd_bus_process(bus, NULL) < 0 || sd_bus_wait(bus, 100000) < 0) give_up("the bus");
    }
    return count_open(bus) ? taken : refused;
}
