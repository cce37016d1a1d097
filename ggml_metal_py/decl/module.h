// The library as a loadable ggml backend module, and what it can tell about the graphs that ran.
//
// Any ggml host of the same ggml version can load this library with ggml_backend_load(): it finds
// ggml_backend_init(), which hands out upstream's Metal registry with two entries of each device
// wrapped. The wraps count graphs and nodes, and can refuse ops for tests; a node's result is
// never touched. Knows ggml's backend interface; knows nothing of Python.
#pragma once

#include <stdint.h>

#include "ggml-backend.h"

#ifdef __cplusplus
extern "C" {
#endif

// Graphs handed to a backend and the compute nodes in them: views, reshapes and empty tensors,
// which no backend executes, are left out. One graph here is one split of a host's scheduler.
struct gmpy_counters {
    uint64_t device_graphs;
    uint64_t device_nodes;
    uint64_t cpu_graphs;
    uint64_t cpu_nodes;
};

// Upstream's ggml_backend_metal_reg() with its devices counted. Every call returns the same registry.
ggml_backend_reg_t gmpy_metal_reg(void);

// Count what a host's CPU device runs, from its next backend on. `cpu_device` is the ggml_backend_dev_t
// of the *host's* ggml, whose version the caller has compared with ours: the struct must be the same.
// False when NULL or when no more devices can be watched (GMPY_MAX_DEVICES).
bool gmpy_watch_cpu_device(ggml_backend_dev_t cpu_device);

void gmpy_get_counters(struct gmpy_counters * out);
void gmpy_reset_counters(void);

// Test switch: the device answers supports_op() with false for these ops, comma separated, as
// ggml_op_desc() names them ("GELU,SCALE"). NULL or "" refuses none. The environment variable
// GGML_METAL_PY_REFUSE sets it before the first device is handed out.
void gmpy_set_refused_ops(const char * names);

#define GMPY_MAX_DEVICES 16

#ifdef __cplusplus
}
#endif
