#include "encode.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>
#include <vector>

#include "command_buffer.h"
#include "ggml-metal-ops.h"
#include "graph_check.h"

namespace {

struct recording {
    gmpy_dispatch * dispatches;
    size_t capacity;
    size_t count;
    const ggml_tensor * node;
    uint64_t pipeline[8];
    size_t memory[32];  // threadgroup memory by index; Metal has 31
};

// Set while a thread encodes only: what it dispatches is noted instead.
thread_local recording * current;

// Rows differ in what an encoder takes: the pipeline, or a struct with the pipeline and its parameters.
template <typename Argument> Argument argument_of(void (*)(ggml_metal_encoder_t, Argument));
using pipeline_argument = decltype(argument_of(&ggml_metal_encoder_set_pipeline));
static_assert(sizeof(pipeline_argument) <= sizeof(recording::pipeline), "gmpy_dispatch has room for it");

// Rows differ in how an encoding starts, too: newer ones keep what they know of fusion in the device.
template <typename Graph>
auto start(ggml_metal_op_t (*init)(ggml_metal_device_t, ggml_metal_cmd_buf_t, Graph *, int, int, bool, bool, bool,
                                   int, int),
           ggml_metal_device_t dev, ggml_metal_cmd_buf_t buffer, Graph * graph) {
    return init(dev, buffer, graph, 0, ggml_graph_n_nodes(graph), true, false, false, 0, 0);
}
template <typename Device, typename Graph, typename Fusion>
auto start(ggml_metal_op_t (*init)(Device, ggml_metal_cmd_buf_t, Graph *, Fusion *, int, int, bool, bool, int),
           Device dev, ggml_metal_cmd_buf_t buffer, Graph * graph) {
    return init(dev, buffer, graph, ggml_metal_device_get_fusion_info(dev), 0, ggml_graph_n_nodes(graph), false, false,
                0);
}

// The nodes that an encoding counts: older rows count all of them, newer ones leave out what runs nothing.
std::vector<const ggml_tensor *> counted_nodes(ggml_cgraph * graph, size_t count) {
    std::vector<const ggml_tensor *> all;
    std::vector<const ggml_tensor *> encoded;
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        all.push_back(ggml_graph_node(graph, i));
        if (gmpy_runs_something(all.back())) {
            encoded.push_back(all.back());
        }
    }
    return count == all.size() ? all : encoded;
}

struct buffer_deleter {
    void operator()(ggml_metal_cmd_buf_t buffer) const { gmpy_command_buffer_free(buffer); }
};
using buffer_ptr = std::unique_ptr<std::remove_pointer_t<ggml_metal_cmd_buf_t>, buffer_deleter>;

struct op_deleter {
    void operator()(ggml_metal_op_t op) const { ggml_metal_op_free(op); }
};

struct recording_scope {
    explicit recording_scope(recording * started) { current = started; }
    ~recording_scope() { current = nullptr; }
    recording_scope(const recording_scope &) = delete;
    recording_scope & operator=(const recording_scope &) = delete;
};

}  // namespace

// ---- the seams: what ggml-metal-ops.cpp calls instead of upstream's functions

extern "C" {

void gmpy_seam_encoder_set_pipeline(ggml_metal_encoder_t encoder, pipeline_argument pipeline) {
    if (current != nullptr) {
        std::memcpy(current->pipeline, &pipeline, sizeof(pipeline));
        std::fill(std::begin(current->memory), std::end(current->memory), 0);
    }
    ggml_metal_encoder_set_pipeline(encoder, pipeline);
}

void gmpy_seam_encoder_set_threadgroup_memory_size(ggml_metal_encoder_t encoder, size_t size, int idx) {
    if (current != nullptr && idx >= 0 && size_t(idx) < std::size(current->memory)) {
        current->memory[idx] = size;
    }
    ggml_metal_encoder_set_threadgroup_memory_size(encoder, size, idx);
}

void gmpy_seam_encoder_dispatch_threadgroups(ggml_metal_encoder_t encoder, int tg0, int tg1, int tg2, int tptg0,
                                             int tptg1, int tptg2) {
    if (current == nullptr) {
        ggml_metal_encoder_dispatch_threadgroups(encoder, tg0, tg1, tg2, tptg0, tptg1, tptg2);
        return;
    }
    if (current->count < current->capacity) {
        gmpy_dispatch & dispatch = current->dispatches[current->count];
        std::memcpy(dispatch.pipeline, current->pipeline, sizeof(dispatch.pipeline));
        dispatch.node = current->node;
        dispatch.threadgroup_memory =
            std::accumulate(std::begin(current->memory), std::end(current->memory), size_t(0));
        dispatch.threadgroups[0] = tg0;
        dispatch.threadgroups[1] = tg1;
        dispatch.threadgroups[2] = tg2;
        dispatch.threads_per_threadgroup[0] = tptg0;
        dispatch.threads_per_threadgroup[1] = tptg1;
        dispatch.threads_per_threadgroup[2] = tptg2;
    }
    current->count++;
}

}  // extern "C"

// ---- for Python

size_t gmpy_encode_only(ggml_metal_device_t dev, ggml_cgraph * graph, gmpy_dispatch * dispatches, size_t capacity) {
    recording noted{};
    noted.dispatches = dispatches;
    noted.capacity = capacity;
    const recording_scope scope(&noted);
    const buffer_ptr buffer(gmpy_command_buffer_new(dev));
    const std::unique_ptr<ggml_metal_op, op_deleter> op(start(&ggml_metal_op_init, dev, buffer.get(), graph));
    const std::vector<const ggml_tensor *> nodes = counted_nodes(graph, ggml_metal_op_n_nodes(op.get()));
    for (size_t i = 0; i < nodes.size();) {
        noted.node = nodes[i];
        const int encoded = ggml_metal_op_encode(op.get(), int(i));
        if (encoded <= 0) {
            break;
        }
        i += encoded;
    }
    return noted.count;
}
