// What a compiled kernel library and the device agree on.
//
// A kernel library is a shared object made by softmetal/msl from one MSL source. It holds the kernels and the
// executor that runs them, and exports one symbol, `softmetal_kernels`. The device opens it with dlopen and
// shares no other symbol with it. Nothing here knows Objective-C, Python or ggml.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SM_ABI 2u

enum {
    SM_MAX_BUFFERS  = 31,         // argument slots of a kernel, for buffers and for threadgroup memory alike
    SM_MAX_THREADS  = 1024,       // threads of a threadgroup
    SM_SIMD_WIDTH   = 32,         // lanes of a simdgroup
    SM_TG_MAX_BYTES = 256 * 1024, // threadgroup memory of one dispatch, static part included
    SM_TG_SLACK     = 64 * 1024,  // kernels touch a little more than they asked for: room behind all of it
};

// sm_kernel.flags
enum {
    SM_KERNEL_SYNC = 1u << 0, // uses barriers or simdgroup functions, so its lanes need fibers
};

// sm_kernels.flags
enum {
    SM_LIBRARY_CHECKED = 1u << 0, // loads and stores are instrumented; runs with sm_dispatch.checked only
};

// sm_kernels.run
enum sm_status {
    SM_OK           = 0,
    SM_BAD_DISPATCH = 1, // the dispatch itself is wrong (too many threads, too much threadgroup memory)
};

// One function constant of the source, `constant T name [[function_constant(index)]]`. Its place in
// sm_kernels.constants is its slot in sm_dispatch.constants.
struct sm_constant {
    uint16_t     index;
    uint16_t     type; // MTLDataType
    const char * name;
};

enum sm_arg_kind {
    SM_ARG_BUFFER      = 0, // device or constant pointer, or constant reference
    SM_ARG_THREADGROUP = 1, // threadgroup pointer
};

struct sm_arg {
    uint8_t      kind;     // enum sm_arg_kind
    uint8_t      index;    // argument slot: [[buffer(index)]] or [[threadgroup(index)]]
    uint8_t      writable; // device or threadgroup memory that is not const
    const char * name;
};

struct sm_entry; // the executor's own: how the kernel is entered

struct sm_kernel {
    const char *            name; // host name
    uint32_t                flags;
    uint32_t                static_tg_bytes; // threadgroup memory declared inside the kernel
    uint32_t                n_args;          // without the position attributes
    const struct sm_arg *   args;
    const struct sm_entry * entry;
};

// One dispatchThreadgroups. The arrays stay alive and unchanged until every run of it has returned.
struct sm_dispatch {
    const struct sm_kernel * kernel;
    void * const *           buffers;       // [SM_MAX_BUFFERS], NULL where nothing is bound
    const size_t *           buffer_bytes;  // [SM_MAX_BUFFERS], bytes from the pointer to the buffer's end
    uint32_t                 tg_bytes[SM_MAX_BUFFERS]; // setThreadgroupMemoryLength, by argument slot
    uint32_t                 grid[3];       // threadgroups
    uint32_t                 threads[3];    // threads of a threadgroup
    const int64_t *          constants;     // [n_constants], each the memory image of a value, zero where unset
    const uint8_t *          constants_set; // [n_constants], 1 where the pipeline gave a value
    struct sm_checked *      checked; // checked.h; NULL in plain mode
    const char *             pipeline; // in checked mode: kernel and constants, for reports
    uint8_t                  last_first; // in each threadgroup the last simdgroup comes first, and so it does behind a barrier
    uint8_t                  fills;      // at a threadgroup's start all its threadgroup memory holds
    uint8_t                  fill;       // this in every byte
};

// What one OS thread needs to run threadgroups: stacks, lanes, threadgroup memory. Never used by two threads at once.
struct sm_worker;

struct sm_kernels {
    uint32_t                   abi; // SM_ABI; read this first
    uint32_t                   flags;
    const char *               source_hash; // the key of source and macros, see msl/key.py
    const char *               cpu;         // the CPU baseline the code needs, as the toolchain names it ("x86_64_v3")
    uint32_t                   n_kernels;
    const struct sm_kernel *   kernels;     // sorted by name (strcmp)
    uint32_t                   n_constants;
    const struct sm_constant * constants;   // sorted by index

    struct sm_worker * (*worker_new)(void); // NULL when out of memory
    void (*worker_free)(struct sm_worker *);
    // Runs threadgroups first .. first+count of the grid, counted in an order of the executor's own that visits
    // each of the grid[0] * grid[1] * grid[2] once. Returns enum sm_status.
    int (*run)(struct sm_worker *, const struct sm_dispatch *, uint64_t first, uint64_t count);
    const char * (*error)(const struct sm_worker *); // what went wrong in the last run that did not return SM_OK
};

// The only exported symbol of a kernel library.
#define SM_KERNELS_SYMBOL "softmetal_kernels"

#ifdef __cplusplus
}
#endif
