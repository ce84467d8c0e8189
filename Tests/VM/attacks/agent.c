/* Somebody who is no person at the machine registers as the one who answers questions. */
#include "attack.h"

int main(void) {
    return gets(connect_bus(), ROOT, SERVICE ".Authorization", "RegisterAgent", NULL, "oa{sv}", "/org/example/Agent", 0)
               ? taken
               : refused;
}
