// Is a graph safe to hand to a device? Asked before anything runs, so that the answer can be an exception.
#pragma once

#include <stdbool.h>

#include "ggml-backend.h"
#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gmpy_graph_problem {
    GMPY_GRAPH_OK,
    // a tensor that the graph reads or writes has no memory
    GMPY_GRAPH_UNALLOCATED,
    // its memory is in a buffer that the device cannot use
    GMPY_GRAPH_FOREIGN_BUFFER,
    // the device does not support a node's op with these types and shapes
    GMPY_GRAPH_UNSUPPORTED,
};

// Whether the tensor has memory, and, for a view, that of its source as it is now.
bool gmpy_has_memory(const struct ggml_tensor * tensor);

// Whether a node of a graph runs anything: views and empty tensors do not.
bool gmpy_runs_something(const struct ggml_tensor * node);

// Checks every node and every source; the first offending tensor goes to *culprit.
enum gmpy_graph_problem gmpy_check_graph(
    struct ggml_cgraph * graph, ggml_backend_dev_t device, struct ggml_tensor ** culprit);

#ifdef __cplusplus
}
#endif
