// Checked mode from the device's side: which memory there is, and what was found. C interface.
#pragma once

#include "abi.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Readies a dispatch of a checked kernel library, and keeps others off until its end. `pipeline` is what reports call it.
// False when out of memory.
bool sm_checks_begin(struct sm_dispatch * dispatch, const char * pipeline);
void sm_checks_end(struct sm_dispatch * dispatch);

// A command of the host's wrote this memory.
void sm_checks_written(const void * start, size_t bytes);

#ifdef __cplusplus
}
#endif
