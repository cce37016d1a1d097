// The functions of sm_kernels, as executor.cpp defines them; see abi.h.
#pragma once

#include "abi.h"

namespace softmetal {

sm_worker *  worker_new();
void         worker_free(sm_worker *);
int          run(sm_worker *, const sm_dispatch *, uint64_t first, uint64_t count);
const char * error(const sm_worker *);

} // namespace softmetal
