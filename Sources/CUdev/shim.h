/* libudev: hot-plug events and stable device names. */
#pragma once
#include <libudev.h>
