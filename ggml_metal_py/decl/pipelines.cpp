#include "pipelines.h"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "guard.h"

namespace {

struct made {
    std::string base;
    std::string name;
    std::vector<gmpy_constant> constants;
    gmpy_pipeline_record record;
};

// Never freed: native threads may ask for pipelines while the process exits.
struct registry {
    std::mutex mutex;
    std::unordered_map<ggml_metal_cv_t, std::vector<gmpy_constant>> constants;
    std::unordered_map<ggml_metal_library_t, std::unordered_map<const void *, std::unique_ptr<made>>> pipelines;
};
registry & known() {
    static auto * all = new registry;
    return *all;
}

ggml_metal_cv_t make_constants() {
    const ggml_metal_cv_t cv = ggml_metal_cv_init();
    const std::lock_guard<std::mutex> lock(known().mutex);
    known().constants[cv].clear();
    return cv;
}

void free_constants(ggml_metal_cv_t cv) {
    {
        const std::lock_guard<std::mutex> lock(known().mutex);
        known().constants.erase(cv);
    }
    ggml_metal_cv_free(cv);
}

void note_constant(ggml_metal_cv_t cv, int32_t index, gmpy_constant_type type, int32_t value) {
    const std::lock_guard<std::mutex> lock(known().mutex);
    known().constants[cv].push_back({index, type, value});
}

void set_constant(ggml_metal_cv_t cv, const gmpy_constant & constant) {
    switch (constant.type) {
        case GMPY_CONSTANT_INT16: ggml_metal_cv_set_int16(cv, int16_t(constant.value), constant.index); break;
        case GMPY_CONSTANT_INT32: ggml_metal_cv_set_int32(cv, constant.value, constant.index); break;
        default: ggml_metal_cv_set_bool(cv, constant.value != 0, constant.index); break;
    }
    note_constant(cv, constant.index, gmpy_constant_type(constant.type), constant.value);
}

void note_pipeline(ggml_metal_library_t lib, const void * pipeline, const char * base, const char * name,
                   ggml_metal_cv_t cv) {
    const std::lock_guard<std::mutex> lock(known().mutex);
    std::unique_ptr<made> & entry = known().pipelines[lib][pipeline];
    if (entry) {
        return;  // it was in the cache, made as noted before
    }
    entry = std::make_unique<made>();
    entry->base = base;
    entry->name = name;
    if (cv != nullptr) {
        entry->constants = known().constants[cv];
    }
    entry->record = {entry->base.c_str(), entry->name.c_str(), entry->constants.size(), entry->constants.data()};
}

// Rows differ in what compiling returns: the pipeline, or a struct with the pipeline and its parameters.
const void * pipeline_of(ggml_metal_pipeline_t pipeline) {
    return pipeline;
}
template <typename WithParams> const void * pipeline_of(const WithParams & found) {
    return found.pipeline;
}

using compiled = decltype(ggml_metal_library_compile_pipeline(nullptr, nullptr, nullptr, nullptr));

struct constants_deleter {
    void operator()(ggml_metal_cv_t cv) const { free_constants(cv); }
};
using constants_ptr = std::unique_ptr<std::remove_pointer_t<ggml_metal_cv_t>, constants_deleter>;

// Takes `owned` into its care when it throws, which it does for a missing kernel inside a guarded call.
compiled compile(ggml_metal_library_t lib, const char * base, const char * name, ggml_metal_cv_t cv,
                 constants_ptr owned) {
    const gmpy::error_collector errors;
    const compiled result = ggml_metal_library_compile_pipeline(lib, base, name, cv);
    if (pipeline_of(result) != nullptr) {
        note_pipeline(lib, pipeline_of(result), base, name, cv);
    } else if (gmpy::guard_scope::active()) {
        throw gmpy::missing_kernel(base, errors.text());
    }
    (void) owned.release();
    return result;
}

}  // namespace

// ---- the seams: what ggml-metal-device.cpp calls instead of upstream's functions

extern "C" {

ggml_metal_cv_t gmpy_seam_cv_init(void) {
    return make_constants();
}

void gmpy_seam_cv_free(ggml_metal_cv_t cv) {
    free_constants(cv);
}

void gmpy_seam_cv_set_int16(ggml_metal_cv_t cv, int16_t value, int32_t idx) {
    set_constant(cv, {idx, GMPY_CONSTANT_INT16, value});
}

void gmpy_seam_cv_set_int32(ggml_metal_cv_t cv, int32_t value, int32_t idx) {
    set_constant(cv, {idx, GMPY_CONSTANT_INT32, value});
}

void gmpy_seam_cv_set_bool(ggml_metal_cv_t cv, bool value, int32_t idx) {
    set_constant(cv, {idx, GMPY_CONSTANT_BOOL, value});
}

compiled gmpy_seam_compile_pipeline(ggml_metal_library_t lib, const char * base, const char * name,
                                    ggml_metal_cv_t cv) {
    return compile(lib, base, name, cv, constants_ptr(cv));
}

}  // extern "C"

// ---- for Python

const gmpy_pipeline_record * gmpy_find_pipeline(ggml_metal_library_t lib, const void * pipeline) {
    const std::lock_guard<std::mutex> lock(known().mutex);
    const auto library = known().pipelines.find(lib);
    if (library == known().pipelines.end()) {
        return nullptr;
    }
    const auto found = library->second.find(pipeline);
    return found == library->second.end() ? nullptr : &found->second->record;
}

ggml_metal_pipeline_t gmpy_compile_pipeline(ggml_metal_library_t lib, const char * base, const char * name,
                                            const gmpy_constant * constants, size_t n_constants) {
    // Always specialised: NULL would mean "not specialised", which fails for kernels with function constants.
    const constants_ptr cv(make_constants());
    for (size_t i = 0; i < n_constants; i++) {
        set_constant(cv.get(), constants[i]);
    }
    const compiled result = compile(lib, base, name, cv.get(), nullptr);
    return ggml_metal_pipeline_t(const_cast<void *>(pipeline_of(result)));
}

void gmpy_forget_pipelines(ggml_metal_library_t lib) {
    const std::lock_guard<std::mutex> lock(known().mutex);
    known().pipelines.erase(lib);
}
