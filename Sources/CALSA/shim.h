/* alsa-lib: PCM capture. Its alloca macros do not import; the _malloc and _free calls do. */
#pragma once
#include <alsa/asoundlib.h>
