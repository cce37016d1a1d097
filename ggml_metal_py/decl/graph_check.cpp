#include "graph_check.h"

namespace {

// A view keeps the address it once got: it dangles when its source has other memory, or none, since.
bool has_memory(const ggml_tensor * tensor) {
    const ggml_tensor * source = tensor->view_src;
    if (source == nullptr) {
        return tensor->data != nullptr && tensor->buffer != nullptr;
    }
    return has_memory(source) && tensor->data == static_cast<char *>(source->data) + tensor->view_offs;
}

gmpy_graph_problem check_memory(const ggml_tensor * tensor, ggml_backend_dev_t device) {
    if (ggml_is_empty(tensor)) {
        return GMPY_GRAPH_OK;  // has no bytes and is never touched
    }
    if (!has_memory(tensor)) {
        return GMPY_GRAPH_UNALLOCATED;
    }
    const ggml_tensor * owner = tensor->view_src != nullptr ? tensor->view_src : tensor;
    if (!ggml_backend_dev_supports_buft(device, ggml_backend_buffer_get_type(owner->buffer))) {
        return GMPY_GRAPH_FOREIGN_BUFFER;
    }
    return GMPY_GRAPH_OK;
}

}  // namespace

bool gmpy_has_memory(const struct ggml_tensor * tensor) {
    return has_memory(tensor);
}

bool gmpy_runs_something(const struct ggml_tensor * node) {
    switch (node->op) {
        case GGML_OP_NONE:
        case GGML_OP_RESHAPE:
        case GGML_OP_VIEW:
        case GGML_OP_PERMUTE:
        case GGML_OP_TRANSPOSE:
            return false;
        default:
            return !ggml_is_empty(node);
    }
}

enum gmpy_graph_problem gmpy_check_graph(
    struct ggml_cgraph * graph, ggml_backend_dev_t device, struct ggml_tensor ** culprit) {
    for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
        ggml_tensor * node = ggml_graph_node(graph, i);
        for (ggml_tensor * source : node->src) {
            if (source == nullptr) {
                continue;
            }
            *culprit = source;
            if (const auto problem = check_memory(source, device)) {
                return problem;
            }
        }
        *culprit = node;
        if (const auto problem = check_memory(node, device)) {
            return problem;
        }
        if (!ggml_backend_dev_supports_op(device, node)) {
            return GMPY_GRAPH_UNSUPPORTED;
        }
    }
    *culprit = nullptr;
    return GMPY_GRAPH_OK;
}
