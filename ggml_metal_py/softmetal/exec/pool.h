// Runs a grid: its threadgroups, shared out over threads. C interface.
#pragma once

#include "abi.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Runs every threadgroup of the dispatch and returns when all ended. The calling thread takes part. False when
// one failed: then its error text is stored, and some threadgroups did not run.
bool sm_pool_run(const struct sm_kernels * module, const struct sm_dispatch * dispatch, char * error, size_t size);

// A thread that called sm_pool_run and is about to end gives back what the pool keeps for it.
void sm_pool_leave(void);

#ifdef __cplusplus
}
#endif
