// From MSL source to kernels that can run: finds what is prebuilt, has the rest compiled. C interface.
//
// A source and its macros have a key, lower-case hex of
//   sha256("softmetal-1\0", for each macro by name "NAME=VALUE\0", "\0", source bytes)
// and kernel folders (softmetal_add_kernel_folder) hold for it
//   <key>/functions.txt   "softmetal 1", then one host name a line, sorted
//   <key>/all.so          all kernels,
//   <key>/fn-<hash>.so    or one of them; hash is the first 16 hex digits of the sha256 of its name
//   <key>/checked-...     the same for checked mode
// So does the cache, in a folder of each version of the compiler service (cache.h, msl/cache.py).
// A compiled library of Apple's (.metallib) is opened for its names alone; none of its kernels can run.
//
// The names are enough to look functions up and to make pipelines; machine code is needed at the first dispatch.
#pragma once

#include "abi.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// A source with its macros, or a .metallib; reference-counted, shared by all who open the same.
struct sm_library;

struct sm_macro {
    const char * name;
    const char * value;
};

struct sm_code { // a kernel, ready to run
    const struct sm_kernels * module;
    const struct sm_kernel *  kernel;
};

// On failure these return NULL or false and store a text in *error, to be freed by the caller.

struct sm_library * sm_library_open(const char * source, size_t length, const struct sm_macro * macros, size_t n_macros,
                                    char ** error);
struct sm_library * sm_library_open_metallib(const char * path, char ** error);
void                sm_library_retain(struct sm_library * library);
void                sm_library_release(struct sm_library * library);

bool sm_library_has(const struct sm_library * library, const char * name);
// The names in their order; NULL beyond the last.
const char * sm_library_function(const struct sm_library * library, size_t index);

// May take as long as compiling the kernel takes. Concurrent calls for one library wait for each other.
bool sm_library_code(struct sm_library * library, const char * name, bool checked, struct sm_code * code, char ** error);

#ifdef __cplusplus
}
#endif
