/* The system's and the session's bus, also through Flatpak's proxy. libcapture and CBus share this file. */
#ifndef CAPTURE_STANDARD_BUS_H
#define CAPTURE_STANDARD_BUS_H

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* Opens a bus as sd_bus_open_system_with_description and sd_bus_open_user_with_description do. In a Flatpak, this waits
   until the bus has answered, a minute at most, and meanwhile the number of its socket stands in `shown`, so that the
   child of a fork can close its copy. `shown` may be NULL. Returns 0 or more, or -errno. */
int standard_bus_open(sd_bus **bus, bool is_system, const char *description, int *shown);

#endif
