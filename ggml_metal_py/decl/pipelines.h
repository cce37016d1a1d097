// What upstream's getters decide: base name, name and function constants of every compiled pipeline.
//
// Upstream keeps only the compiled state. So ggml-metal-device.cpp is compiled with the seams of
// pipelines.cpp in the place of the functions that set constants and compile (see _build/groups.py).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ggml-metal-device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gmpy_constant_type {
    GMPY_CONSTANT_INT16,
    GMPY_CONSTANT_INT32,
    GMPY_CONSTANT_BOOL,
};

struct gmpy_constant {
    int32_t index;
    int32_t type;  // enum gmpy_constant_type
    int32_t value;
};

// Lives as long as the library.
struct gmpy_pipeline_record {
    const char * base;
    const char * name;
    size_t n_constants;
    const struct gmpy_constant * constants;
};

// How the pipeline was made; NULL when it was not compiled by a getter or by gmpy_compile_pipeline.
const struct gmpy_pipeline_record * gmpy_find_pipeline(ggml_metal_library_t lib, const void * pipeline);

// The pipeline cached as `name`, else kernel `base` compiled with the constants. Never NULL: a kernel that is
// not there ends the guarded call.
ggml_metal_pipeline_t gmpy_compile_pipeline(ggml_metal_library_t lib, const char * base, const char * name,
                                            const struct gmpy_constant * constants, size_t n_constants);

// To be called before the library is freed.
void gmpy_forget_pipelines(ggml_metal_library_t lib);

#ifdef __cplusplus
}
#endif
