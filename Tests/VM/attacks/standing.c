/* No attack: what an attack must leave as it is, as root sees it. One line for each answer that is stored, how many uses the
   history has, and the sessions that run. */
#include "attack.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One text of a dictionary a{sv}, at which the message stands; it is read to its end. */
static void read_texts(sd_bus_message *message, const char *const *keys, const char **texts, size_t count) {
    if (sd_bus_message_enter_container(message, 'a', "{sv}") < 0) give_up("a dictionary");
    while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
        const char *key, *type;
        if (sd_bus_message_read(message, "s", &key) < 0) give_up("a key");
        if (sd_bus_message_peek_type(message, NULL, &type) < 0) give_up("a value");
        size_t place = 0;
        while (place < count && strcmp(keys[place], key)) place++;
        if (place < count && !strcmp(type, "s")) {
            if (sd_bus_message_read(message, "v", "s", &texts[place]) < 0) give_up(key);
        } else if (sd_bus_message_skip(message, "v") < 0) {
            give_up(key);
        }
        sd_bus_message_exit_container(message);
    }
    sd_bus_message_exit_container(message);
}

static sd_bus_message *list(sd_bus *bus, const char *interface, const char *member) {
    sd_bus_message *reply = NULL;
    if (!gets(bus, ROOT, interface, member, &reply, "")) exit(not_tried);
    if (sd_bus_message_enter_container(reply, 'a', "a{sv}") < 0) give_up(member);
    return reply;
}

int main(void) {
    sd_bus *bus = connect_bus();
    const char *const answer[] = {"user", "program", "service", "stored", "lifetime"};
    const char *const session[] = {"path", "state", "program"};
    const char *const entry[] = {"kind"};
    const char *texts[5] = {0};
    sd_bus_message *reply = list(bus, SERVICE ".Authorization", "List");
    while (!sd_bus_message_at_end(reply, 0)) {
        read_texts(reply, answer, texts, 5);
        printf("answer %s %s %s %s %s\n", texts[0], texts[1], texts[2], texts[3], texts[4]);
    }
    reply = list(bus, SERVICE ".Manager", "ListSessions");
    while (!sd_bus_message_at_end(reply, 0)) {
        read_texts(reply, session, texts, 3);
        int is_over = !strcmp(texts[1], "failed") || !strcmp(texts[1], "stopped");
        if (!is_over) printf("session %s %s %s\n", texts[0], texts[1], texts[2]);
    }
    int uses = 0;
    if (!gets(bus, ROOT, SERVICE ".Authorization", "GetHistory", &reply, "a{sv}", 1, "limit", "u", 200)) return not_tried;
    if (sd_bus_message_enter_container(reply, 'a', "a{sv}") < 0) give_up("the history");
    while (!sd_bus_message_at_end(reply, 0)) {
        read_texts(reply, entry, texts, 1);
        uses += !strcmp(texts[0], "use");
    }
    printf("uses %d\n", uses);
    return 0;
}
