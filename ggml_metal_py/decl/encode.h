// Which kernels upstream would run for a graph: its own encoder code, with nothing dispatched.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ggml-metal-device.h"
#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gmpy_dispatch {
    // What the row's ggml_metal_encoder_set_pipeline takes.
    uint64_t pipeline[8];
    const struct ggml_tensor * node;
    size_t threadgroup_memory;  // in bytes, of all indices
    int threadgroups[3];
    int threads_per_threadgroup[3];
};

// Encodes the graph's nodes, in order, into a command buffer that is thrown away. Writes the first `capacity`
// dispatches and returns how many there were. Every tensor needs memory on the device, as for computing.
size_t gmpy_encode_only(ggml_metal_device_t dev, struct ggml_cgraph * graph, struct gmpy_dispatch * dispatches,
                        size_t capacity);

#ifdef __cplusplus
}
#endif
