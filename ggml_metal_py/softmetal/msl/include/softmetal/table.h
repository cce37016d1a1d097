// The table of a kernel library; the translator writes the unit that includes this.
#pragma once

#include "executor.h"
#include "scalar.h"

#if defined(SM_CHECKED)
#define SM_LIBRARY_FLAGS SM_LIBRARY_CHECKED
#else
#define SM_LIBRARY_FLAGS 0
#endif

#define SM_TABLE(source_hash, cpu, n_kernels, n_constants) \
    extern "C" __attribute__((visibility("default"))) const sm_kernels softmetal_kernels; \
    const sm_kernels softmetal_kernels = { \
        SM_ABI, SM_LIBRARY_FLAGS, source_hash, cpu, n_kernels, softmetal::kernels, n_constants, softmetal::constants, \
        softmetal::worker_new, softmetal::worker_free, softmetal::run, softmetal::error, \
    };
