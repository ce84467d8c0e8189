/* What Linux offers and Swift's Glibc module does not import. One header a subject; no logic beyond the call. */
#pragma once
#include "clinux_atomic.h"
#include "clinux_door.h"
#include "clinux_inotify.h"
#include "clinux_sandbox.h"
#include "clinux_system.h"
#include "clinux_unix.h"
#include "clinux_v4l2.h"
