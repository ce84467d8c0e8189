/* sd-bus: what is variadic, a macro or a callback table. */
#pragma once
#include <systemd/sd-bus.h>
