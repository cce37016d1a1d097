#include "module.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "ggml-backend-impl.h"
#include "ggml-metal.h"
#include "ggml.h"
#include "graph_check.h"
#include "guard.h"

#if !defined(__APPLE__)
#include <dlfcn.h>

#include "softmetal.h"
#endif

namespace {

// A device whose backends are counted. Entries are only ever added, so a reader needs no lock.
struct watched_device {
    ggml_backend_dev_t device;
    bool is_cpu;
    decltype(ggml_backend_device_i::init_backend) init_backend;
    decltype(ggml_backend_device_i::supports_op) supports_op;
    // known from the first backend on; the same function for every backend of a device
    std::atomic<decltype(ggml_backend_i::graph_compute)> graph_compute;
};

watched_device watched[GMPY_MAX_DEVICES];
std::atomic<int> n_watched{0};

struct {
    std::atomic<uint64_t> graphs{0};
    std::atomic<uint64_t> nodes{0};
} on_device, on_cpu;

// The list is read for every node a host places, so the usual case (nothing refused) costs one load.
// Allocated once and never freed: a host may still ask while the process exits.
std::atomic<bool> any_refused{false};
std::mutex refused_mutex;
std::string & refused_ops() {
    static auto * ops = new std::string;
    return *ops;
}

watched_device * find_watched(ggml_backend_dev_t device) {
    for (int i = 0; i < n_watched.load(std::memory_order_acquire); ++i) {
        if (watched[i].device == device) {
            return &watched[i];
        }
    }
    return nullptr;
}

// A graph that aborted leaves command buffers behind that are enqueued and never committed, and the next
// graph would wait for them.
void abandon_command_buffers() {
#if !defined(__APPLE__)
    softmetal_abandon();
#endif
}

ggml_status counted_graph_compute(ggml_backend_t backend, ggml_cgraph * graph) {
    watched_device * device = find_watched(backend->device);
    uint64_t nodes = 0;
    for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
        nodes += gmpy_runs_something(ggml_graph_node(graph, i));
    }
    auto & counter = device->is_cpu ? on_cpu : on_device;
    counter.graphs += 1;
    counter.nodes += nodes;
    // A host gets a failed graph where upstream would end its process. Called from Python, the message of
    // the abort becomes the exception.
    ggml_status status = GGML_STATUS_FAILED;
    const bool returned = gmpy::guarded([&] {
        status = device->graph_compute.load(std::memory_order_acquire)(backend, graph);
        return true;
    });
    if (!returned) {
        abandon_command_buffers();
    }
    return status;
}

ggml_backend_t counted_init_backend(ggml_backend_dev_t dev, const char * params) {
    watched_device * device = find_watched(dev);
    ggml_backend_t backend = device->init_backend(dev, params);
    if (backend != nullptr) {
        device->graph_compute.store(backend->iface.graph_compute, std::memory_order_release);
        backend->iface.graph_compute = counted_graph_compute;
    }
    return backend;
}

bool is_refused(const ggml_tensor * op) {
    if (!any_refused.load(std::memory_order_relaxed)) {
        return false;
    }
    const std::lock_guard<std::mutex> lock(refused_mutex);
    const std::string wanted = "," + std::string(ggml_op_desc(op)) + ",";
    return refused_ops().find(wanted) != std::string::npos;
}

bool refusing_supports_op(ggml_backend_dev_t dev, const ggml_tensor * op) {
    return !is_refused(op) && find_watched(dev)->supports_op(dev, op);
}

bool watch(ggml_backend_dev_t device, bool is_cpu) {
    static std::mutex mutex;
    const std::lock_guard<std::mutex> lock(mutex);
    if (find_watched(device) != nullptr) {
        return true;
    }
    const int n = n_watched.load();
    if (n == GMPY_MAX_DEVICES) {
        return false;
    }
    watched[n].device = device;
    watched[n].is_cpu = is_cpu;
    watched[n].init_backend = device->iface.init_backend;
    watched[n].supports_op = device->iface.supports_op;
    n_watched.store(n + 1, std::memory_order_release);

    device->iface.init_backend = counted_init_backend;
    if (!is_cpu) {
        device->iface.supports_op = refusing_supports_op;
    }
    return true;
}

}  // namespace

ggml_backend_reg_t gmpy_metal_reg(void) {
    static std::once_flag once;
    ggml_backend_reg_t reg = ggml_backend_metal_reg();
    std::call_once(once, [reg] {
        gmpy_set_refused_ops(std::getenv("GGML_METAL_PY_REFUSE"));
        for (size_t i = 0; i < ggml_backend_reg_dev_count(reg); ++i) {
            watch(ggml_backend_reg_dev_get(reg, i), false);
        }
    });
    return reg;
}

bool gmpy_watch_cpu_device(ggml_backend_dev_t cpu_device) {
    return cpu_device != nullptr && watch(cpu_device, true);
}

void gmpy_get_counters(struct gmpy_counters * out) {
    out->device_graphs = on_device.graphs;
    out->device_nodes = on_device.nodes;
    out->cpu_graphs = on_cpu.graphs;
    out->cpu_nodes = on_cpu.nodes;
}

void gmpy_reset_counters(void) {
    on_device.graphs = on_device.nodes = 0;
    on_cpu.graphs = on_cpu.nodes = 0;
}

void gmpy_set_refused_ops(const char * names) {
    std::string list;
    for (const char c : std::string_view(names ? names : "")) {
        if (c != ' ') {
            list += c;
        }
    }
    const std::lock_guard<std::mutex> lock(refused_mutex);
    any_refused = !list.empty();
    refused_ops() = "," + list + ",";
}

namespace {

// Our Python package tells softmetal where the kernels are; a host that is no Python program knows nothing
// of them. They lie beside this library.
void add_own_kernel_folder() {
#if !defined(__APPLE__)
    Dl_info own;
    if (dladdr(reinterpret_cast<const void *>(&gmpy_metal_reg), &own) != 0 && own.dli_fname != nullptr) {
        const std::string path = own.dli_fname;
        softmetal_add_kernel_folder((path.substr(0, path.rfind('/') + 1) + "kernels").c_str());
    }
#endif
}

}  // namespace

// What ggml_backend_load() of another host looks up. The only function of this library with a global name.
extern "C" __attribute__((visibility("default"))) ggml_backend_reg_t ggml_backend_init(void) {
    static std::once_flag once;
    std::call_once(once, add_own_kernel_folder);
    return gmpy_metal_reg();
}
