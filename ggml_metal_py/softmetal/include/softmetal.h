// softmetal's own C API: what a host may set and ask beyond Metal. Functions may be called from any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- where kernels come from (exec/loader.h tells the layout of these folders)

// A folder to search for prebuilt kernels, after those added before and ahead of the cache.
void softmetal_add_kernel_folder(const char * path);

// Where the compiler service puts kernels: the cache. Default: softmetal in $XDG_CACHE_HOME or ~/.cache.
void softmetal_set_cache_folder(const char * path);

// The compiler service's command: words as in a shell, or separated by '\x1f'. Default: $SOFTMETAL_COMPILER.
// NULL or "" means none.
void softmetal_set_compiler(const char * command);

// Over all libraries made so far: kernels by name, and those of them that have machine code ready.
void softmetal_kernel_counts(int * declared, int * prebuilt);

// ---- the device presented (device/profile.h), and the threads behind it

// A GPU that the device can claim to be; the families are those of MTLGPUFamily.
struct softmetal_profile {
    const char * name;        // what softmetal_set_profile takes
    const char * device_name; // what the device calls itself
    int          apple;       // the highest Apple family, 0: none
    int          mac2;        // whether it has that family, and the next one
    int          metal3;
    int          unified_memory;
    uint64_t     max_buffer_bytes;
    uint64_t     working_set_bytes; // recommended maximum
    uint32_t     threadgroup_bytes;
    uint32_t     max_threads; // of a threadgroup
    uint32_t     simd_width;
};

// The index-th profile there is to choose from, or NULL.
const struct softmetal_profile * softmetal_get_profile(int index);

// Choose the profile, for example "M1". Default: $SOFTMETAL_PROFILE, else "M2".
// 0, or -1 when the name is unknown or the device exists already (see softmetal_last_error).
int softmetal_set_profile(const char * name);

// Threads that run a grid, the command queue's own included. Default: $SOFTMETAL_THREADS, else one for
// every CPU this process may use.
void softmetal_set_threads(int threads);
int  softmetal_threads(void);

// The order in which a grid's threadgroups begin, of dispatches from now on: Metal promises none, so no result may depend on
// it. 0: the usual one; 1: the last one first; any other number: shuffled, the same way for the same number. With
// several threads those that begin one after the other overlap. In any order but the usual one the last simdgroup of a
// threadgroup comes first, and so it does behind each barrier; threads of kernels that have neither barriers nor simdgroup
// functions stay in ascending order. Checked mode keeps to the usual one.
void     softmetal_set_order(uint32_t order);
uint32_t softmetal_order(void);

// What threadgroup memory holds when a threadgroup begins, of dispatches from now on: this in every byte of what the kernel
// declares and of what its arguments were given. -1, the default: what earlier threadgroups left. Checked mode does not
// fill it.
void softmetal_set_threadgroup_fill(int byte);
int  softmetal_threadgroup_fill(void);

// ---- trouble

// Drop the command buffers that were enqueued and never committed, in all queues: an encoder that was
// interrupted leaves such, and every later one waits behind them. They end with status Error. The number dropped.
int softmetal_abandon(void);

// The last failure's text, cut to size bytes with its final 0. Its whole length (0: there was none).
int softmetal_last_error(char * text, size_t size);

// Selectors sent by the code of this library that no class implements, one a line. Their number.
// Sending one throws std::runtime_error. A good build has none.
int softmetal_missing_selectors(char * text, size_t size);

// ---- calling in from a thread that has no autorelease pool

// Objects autoreleased between push and pop are released by pop, even if an exception passed by.
void * softmetal_autorelease_push(void);
void   softmetal_autorelease_pop(void * pool);

// A pointer that belongs to the calling thread's task; dispatch_apply hands it on to its workers for the call.
void * softmetal_task_context(void);
void   softmetal_set_task_context(void * context);

// ---- checked mode (README.md)

// From now on dispatches run instrumented kernels, which are compiled on demand, one at a time on one thread. 0: as usual.
void softmetal_set_checked(int on);
int  softmetal_checked(void);

// Which memory kernels may touch. As soon as a region lies in a buffer, the rest of the buffer is out of bounds;
// a buffer without any may be touched as a whole, and counts as written. Regions do not overlap; one that is
// added a second time begins anew. `written`: it has values; else reading it before a kernel wrote it is a fault.
// 0 when it overlaps another one.
int  softmetal_add_region(const char * name, const void * start, size_t bytes, int written);
void softmetal_forget_regions(void);

#define SOFTMETAL_NAME_BYTES   64
#define SOFTMETAL_KERNEL_BYTES 192
#define SOFTMETAL_LINE_BYTES   160

enum softmetal_fault {
    SOFTMETAL_OUT_OF_BOUNDS = 1,
    SOFTMETAL_THREADGROUP_OVERRUN,
    SOFTMETAL_UNINITIALISED_READ,
    SOFTMETAL_RACE,
    SOFTMETAL_LOCKSTEP_RELIANCE,
    SOFTMETAL_MISALIGNED,
    SOFTMETAL_DIVERGENT_BARRIER,
    SOFTMETAL_WRITE_TO_READONLY,
    SOFTMETAL_THREADGROUP_LENGTH,
};

enum softmetal_access {
    SOFTMETAL_NO_ACCESS = 0, // there is no such party
    SOFTMETAL_READ      = 1,
    SOFTMETAL_WRITE     = 2,
    SOFTMETAL_ATOMIC    = 4, // with one or both of those
    SOFTMETAL_BARRIER   = 8, // waits there
    SOFTMETAL_RETURNED  = 16,
};

// A thread and what it did. Lines are those of the kernels' source, 0 where unknown.
struct softmetal_party {
    uint32_t access; // enum softmetal_access
    uint32_t threadgroup[3];
    uint32_t simdgroup;
    uint32_t lane; // in the simdgroup
    uint32_t line;
    uint32_t column;
    uint32_t bytes;
    char     text[SOFTMETAL_LINE_BYTES]; // of the line
};

struct softmetal_report {
    uint32_t               fault; // enum softmetal_fault
    uint32_t               in_threadgroup_memory;
    uint32_t               other_barrier; // of a race: there is a barrier between the two, but for other memory or none
    struct softmetal_party first;  // whose access showed the fault
    struct softmetal_party second; // the one before it that it is at odds with
    char                   kernel[SOFTMETAL_KERNEL_BYTES]; // host name, {index=value,...} of its function constants
    char                   region[SOFTMETAL_NAME_BYTES];   // the one that holds the address, else the nearest
    int64_t                offset;       // of the first byte concerned, from the region's start
    uint64_t               region_bytes;
    uint32_t               alignment;    // of SOFTMETAL_MISALIGNED: what the type asks for
    uint64_t               count;        // how often it was seen
};

// The next report that was not taken, in the order in which they were found. Faults that differ in nothing but threads
// and addresses are one report. 0: there is none.
int softmetal_take_report(struct softmetal_report * report);

// ---- counters

struct softmetal_stats {
    uint64_t command_buffers; // that ended
    uint64_t dispatches;      // that ran
    uint64_t threadgroups;
    uint64_t busy_ns;         // wall time of the dispatches
};

void softmetal_stats_reset(void);
void softmetal_get_stats(struct softmetal_stats * stats);

// The index-th pipeline that was dispatched since the reset: its kernel's host name, followed by its function
// constants as {index=value,...} when it has any; how often and how long it ran. Arguments may be NULL.
// The name's length, or -1 when there is no such index.
int softmetal_get_pipeline_stats(int index, char * name, size_t size, uint64_t * dispatches, uint64_t * ns);

#ifdef __cplusplus
}
#endif
