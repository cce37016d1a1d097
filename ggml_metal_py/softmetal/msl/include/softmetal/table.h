// The table of a kernel library; the translator writes the unit that includes this.
#pragma once

#include "executor.h"
#include "scalar.h"

#define SM_TABLE(source_hash, cpu, n_kernels, n_constants) \
    extern "C" __attribute__((visibility("default"))) const sm_kernels softmetal_kernels; \
    const sm_kernels softmetal_kernels = { \
        SM_ABI, 0, source_hash, cpu, n_kernels, softmetal::kernels, n_constants, softmetal::constants, \
        softmetal::worker_new, softmetal::worker_free, softmetal::run, softmetal::error, \
    };
