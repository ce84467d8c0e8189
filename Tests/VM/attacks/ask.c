/* Asks again and again: ask STATUS|WHO. Prints `answered N` for each answer, or the error. STATUS goes by what the daemon
   remembers of its caller; for WHO it looks at the program.

   ask LEAVE CALLS [ROOT]: so many connections one after the other, each of which asks once and does not wait; prints `left`,
   and stays. ROOT: a folder that is its root then, in a user namespace. */
#include "attack.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERFACE SERVICE ".Authorization"

static void leave(int calls, const char *root) {
    /* Who has left before its call is handled is not looked at. */
    sd_bus *kept[100] = {0};
    if (root && (setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=run/dbus/system_bus_socket", 1) < 0 || chdir("/") < 0 ||
                 chroot(root) < 0))
        give_up(root);
    for (int number = 0; number < calls; number++) {
        sd_bus **bus = &kept[number % 100];
        sd_bus_message *call = NULL;
        sd_bus_close_unref(*bus);
        *bus = speak(connect_socket());
        if (sd_bus_message_new_method_call(*bus, &call, SERVICE, ROOT, INTERFACE, "WhoAmI") < 0 ||
            sd_bus_send(*bus, call, NULL) < 0 || sd_bus_flush(*bus) < 0)
            give_up("a call");
        sd_bus_message_unref(call);
        if (number % 50 == 0) printf("asked %d\n", number);
        fflush(stdout);
    }
    puts("left");
    fflush(stdout);
    for (;;) pause();
}

int main(int count, char **words) {
    if (count > 2 && !strcmp(words[1], "LEAVE")) leave(atoi(words[2]), words[3]);
    if (count != 2) return not_tried;
    sd_bus *bus = connect_bus();
    int is_status = !strcmp(words[1], "STATUS");
    for (int number = 1;; number++) {
        int got = is_status ? gets(bus, ROOT, INTERFACE, "GetStatus", NULL, "s", "camera")
                            : gets(bus, ROOT, INTERFACE, "WhoAmI", NULL, "");
        if (got) printf("answered %d\n", number);
        fflush(stdout);
        poll(NULL, 0, 500);
    }
}
