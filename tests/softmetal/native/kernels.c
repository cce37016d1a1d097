// A kernel library by hand: what the compiler service would make, reduced to what tests of the device need. It
// lets them see in which order and how often threadgroups run, and lets kernels fail or take their time.
//
// SOURCE_HASH, CPU and ABI can be given, to make libraries that do not fit.

#include "abi.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#if !defined(CPU) && defined(__x86_64__)
#define CPU "x86_64"
#elif !defined(CPU)
#define CPU "generic"
#endif
#ifndef ABI
#define ABI SM_ABI
#endif

typedef int run_function(const struct sm_dispatch * dispatch, uint64_t threadgroup);

struct sm_entry {
    run_function * run;
};

struct sm_worker {
    const char * error;
};

static void sleep_ms(long ms) {
    nanosleep(&(struct timespec) { .tv_nsec = ms * 1000000 }, NULL);
}

// counts[threadgroup]++
static int count(const struct sm_dispatch * dispatch, uint64_t threadgroup) {
    atomic_fetch_add((atomic_int *) dispatch->buffers[0] + threadgroup, 1);
    return SM_OK;
}

static int count_slowly(const struct sm_dispatch * dispatch, uint64_t threadgroup) {
    sleep_ms(5);
    return count(dispatch, threadgroup);
}

// log[++log[0]] = *value: dispatches must not overlap, or values get lost
static int append(const struct sm_dispatch * dispatch, uint64_t threadgroup) {
    int *     log = dispatch->buffers[0];
    const int at  = log[0] + 1;

    (void) threadgroup;
    log[0]  = at;
    log[at] = *(const int *) dispatch->buffers[1];
    return SM_OK;
}

// log[++log[0]] = threadgroup, on one thread
static int record(const struct sm_dispatch * dispatch, uint64_t threadgroup) {
    int * log = dispatch->buffers[0];

    log[++log[0]] = (int) threadgroup;
    return SM_OK;
}

// What the dispatch looks like from inside, for one threadgroup.
static int describe(const struct sm_dispatch * dispatch, uint64_t threadgroup) {
    int64_t * out = dispatch->buffers[0];

    out[0] = (int64_t) threadgroup;
    out[1] = (int64_t) dispatch->buffer_bytes[0];
    out[2] = (int64_t) dispatch->buffer_bytes[1];
    out[3] = *(const unsigned char *) dispatch->buffers[1];
    out[4] = dispatch->tg_bytes[0];
    out[5] = dispatch->threads[0] * 1000000 + dispatch->threads[1] * 1000 + dispatch->threads[2];
    out[6] = dispatch->constants_set[0] ? dispatch->constants[0] : -1;
    out[7] = dispatch->constants_set[1] ? dispatch->constants[1] : -1;
    out[8] = dispatch->last_first;
    out[9] = dispatch->fills ? dispatch->fill : -1;
    return SM_OK;
}

static int fail(const struct sm_dispatch * dispatch, uint64_t threadgroup) {
    (void) dispatch;
    return threadgroup == 3 ? SM_BAD_DISPATCH : SM_OK;
}

#define BUFFER(n)      { .kind = SM_ARG_BUFFER, .index = n, .writable = 1, .name = "buffer" #n }
#define THREADGROUP(n) { .kind = SM_ARG_THREADGROUP, .index = n, .writable = 1, .name = "shared" #n }
#define ENTRY(f)       .entry = &(const struct sm_entry) { f }

static const struct sm_arg one[]    = { BUFFER(0) };
static const struct sm_arg two[]    = { BUFFER(0), BUFFER(1) };
static const struct sm_arg shared[] = { BUFFER(0), BUFFER(1), THREADGROUP(0) };

static const struct sm_kernel kernels[] = { // sorted by name
    { .name = "append", .n_args = 2, .args = two, ENTRY(append) },
    { .name = "count", .n_args = 1, .args = one, ENTRY(count) },
    { .name = "count_slowly", .n_args = 1, .args = one, ENTRY(count_slowly) },
    { .name = "describe", .static_tg_bytes = 1024, .n_args = 3, .args = shared, ENTRY(describe) },
    { .name = "fail", ENTRY(fail) },
    { .name = "record", .n_args = 1, .args = one, ENTRY(record) },
};

static const struct sm_constant constants[] = {
    { .index = 7, .type = 37, .name = "a_short" },
    { .index = 300, .type = 53, .name = "a_bool" },
};

static struct sm_worker * worker_new(void) {
    return calloc(1, sizeof(struct sm_worker));
}

static void worker_free(struct sm_worker * worker) {
    free(worker);
}

static int run(struct sm_worker * worker, const struct sm_dispatch * dispatch, uint64_t first, uint64_t n) {
    for (uint64_t i = first; i < first + n; i++) {
        const int status = dispatch->kernel->entry->run(dispatch, i);
        if (status != SM_OK) {
            worker->error = "made to fail";
            return status;
        }
    }
    return SM_OK;
}

static const char * error(const struct sm_worker * worker) {
    return worker->error;
}

__attribute__((visibility("default"))) const struct sm_kernels softmetal_kernels = {
    .abi         = ABI,
    .source_hash = SOURCE_HASH,
    .cpu         = CPU,
    .n_kernels   = sizeof kernels / sizeof kernels[0],
    .kernels     = kernels,
    .n_constants = sizeof constants / sizeof constants[0],
    .constants   = constants,
    .worker_new  = worker_new,
    .worker_free = worker_free,
    .run         = run,
    .error       = error,
};
