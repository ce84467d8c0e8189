#pragma once
#include <stddef.h>
#include <stdint.h>

// libFuzzer as a function; no header of the toolchain declares it for C.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *data, size_t size));
// What it is to run: written in Swift.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
// The name under which the package manager links a program's main.
int capture_fuzz_main(int argc, char **argv);
