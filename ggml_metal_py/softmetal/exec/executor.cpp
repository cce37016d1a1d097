// The fiber executor: runs threadgroups, each lane on a stack of its own, one lane at a time.
//
// Order is what kernels may count on. Within a simdgroup lanes run in ascending order up to their next site; a
// collective is computed once, when no lane of the simdgroup can run any more, and the lowest lane goes on.
// Simdgroups run one after the other up to their next threadgroup barrier, in ascending order unless the dispatch
// asks for the last one first. A barrier completes when every lane that has not returned waits at it. Lanes that
// wait at different collectives are different groups: the one that stands first in the source goes on, without
// the others.
#include <sys/mman.h>

#include "executor.h"
#include "observer.h"
#include "worker.h"

namespace softmetal {

static Lane * lane_of(Worker & worker, const Simdgroup & group, uint32_t lane) {
    return &worker.lanes[group.index * SM_SIMD_WIDTH + lane];
}

static Lane * lowest(Worker & worker, const Simdgroup & group, uint32_t mask) {
    return lane_of(worker, group, __builtin_ctz(mask));
}

template<class Visit> static void for_each(uint32_t mask, Visit visit) {
    for (; mask; mask &= mask - 1) {
        visit(__builtin_ctz(mask));
    }
}

// Arguments of lanes that wait at one site, to where its operation finds them, and from there.
static void pack_arguments(Simdgroup & group, uint32_t mask, Site site) {
    const uint32_t size = site & SITE_SIZE;
    for_each(mask, [&](uint32_t i) { __builtin_memcpy(group.in + i * size, group.lane_in[i], size); });
}

static void unpack_arguments(Simdgroup & group, uint32_t mask, Site site) {
    const uint32_t size = site & SITE_SIZE;
    for_each(mask, [&](uint32_t i) { __builtin_memcpy(group.lane_in[i], group.in + i * size, size); });
}

// -- lanes apart

static void note(Simdgroup & group, uint32_t lane, Site site, Collective op) {
    const uint32_t bit = 1u << lane;
    group.ready &= ~bit;
    if (site == SITE_END) {
        group.live &= ~bit;
    } else {
        group.lane_site[lane] = site;
        group.lane_op[lane]   = op;
    }
}

// Lane `lane` does not come to the site where those before it wait.
static void part(Simdgroup & group, uint32_t lane) {
    const uint32_t before = group.live & ((1u << lane) - 1);
    if (group.op) {
        unpack_arguments(group, before, group.site);
    }
    for_each(before, [&](uint32_t i) { note(group, i, group.site, group.op); });
    group.ready = group.live & ~before;
    group.site  = SITE_NONE;
}

// All lanes that live may go on from `site`: together, if there is no gap between them.
static void rejoin(Simdgroup & group, Site site, Collective op) {
    const uint32_t live = group.live;
    const uint32_t last = 31 - __builtin_clz(live);
    const bool no_gap   = live >> __builtin_ctz(live) == ~0u >> (31 - last + __builtin_ctz(live));
    group.ready         = live;
    group.site          = no_gap ? site : (Site) SITE_NONE;
    group.op            = op;
    group.last          = last;
}

// No lane can run. Does what the lanes wait for that are at a lockstep point, because they may still join a group,
// else at the collective that stands first in the source. Returns the lanes that can run then: none when all are
// at a barrier.
static uint32_t advance_apart(Simdgroup & group) {
    Site first = ~(Site) 0;
    for_each(group.live, [&](uint32_t i) {
        const Site site = group.lane_site[i];
        first           = site != SITE_BARRIER && site < first ? site : first;
    });
    if (first == ~(Site) 0) {
        return 0;
    }
    uint32_t mask = 0;
    for_each(group.live, [&](uint32_t i) { mask |= (uint32_t) (group.lane_site[i] == first) << i; });
    const Collective op = group.lane_op[__builtin_ctz(mask)];
    if (op) {
        pack_arguments(group, mask, first);
        op(group, mask);
    }
    if (mask == group.live) {
        rejoin(group, first, op);
    } else {
        group.ready = mask;
    }
    return mask;
}

// -- simdgroups

// Threadgroups for the worker's own stack to run.
struct Job {
    uint64_t first, count;
    bool     last_first; // simdgroups
    uint8_t  fill;
    size_t   fill_bytes; // of threadgroup memory that hold `fill` when a threadgroup begins
    Lane     caller;     // the OS thread's stack
};
static_assert(sizeof(Worker) <= 1024 * 1024, "the worker's own stack begins above it");

// The lane to go on with at the start, and when no lane of the last simdgroup can run.
static Lane * next_simdgroup(Worker & worker) {
    if (!worker.running) {
        observe_barrier(worker);
        worker.running = worker.live; // every lane that lives waits at the barrier, and goes on
        if (!worker.live) {
            return &worker.scheduler;
        }
    }
    uint32_t next = __builtin_ctz(worker.running);
    if (__builtin_expect(worker.job->last_first, false)) {
        next = 31 - __builtin_clz(worker.running);
    }
    const Simdgroup & group = worker.simdgroups[next];
    return lowest(worker, group, group.site == SITE_NONE ? group.ready : group.live);
}

static Lane * stop_at_barrier(Worker & worker, const Simdgroup & group) {
    worker.running &= ~(1u << group.index);
    return next_simdgroup(worker);
}

static Lane * end_simdgroup(Worker & worker, const Simdgroup & group) {
    worker.live &= ~(1u << group.index);
    return stop_at_barrier(worker, group);
}

// All lanes are at one site.
static Lane * complete_together(Worker & worker, Simdgroup & group) {
    if (group.site == SITE_BARRIER) {
        return stop_at_barrier(worker, group);
    }
    if (group.site == SITE_END) {
        return end_simdgroup(worker, group);
    }
    if (group.op) {
        group.op(group, group.live);
    }
    return lowest(worker, group, group.live);
}

static Lane * complete_apart(Worker & worker, Simdgroup & group) {
    if (!group.live) {
        return end_simdgroup(worker, group);
    }
    if (const uint32_t mask = advance_apart(group)) {
        return lowest(worker, group, mask);
    }
    rejoin(group, SITE_BARRIER, nullptr);
    return stop_at_barrier(worker, group);
}

extern "C" __attribute__((noinline)) Lane * softmetal_wait(Worker & worker, Simdgroup & group, uint32_t lane, Site site,
                                                           Collective op) {
    if (group.site != site) {
        if (group.site != SITE_NONE && !(group.live & ((1u << lane) - 1))) {
            group.site = site; // the first lane leads
            group.op   = op;
            if (op) {
                pack_arguments(group, 1u << lane, site);
            }
        } else {
            if (group.site != SITE_NONE) {
                part(group, lane);
            }
            note(group, lane, site, op);
        }
    }
    if (group.site == SITE_NONE) {
        return group.ready ? lowest(worker, group, group.ready) : complete_apart(worker, group);
    }
    return lane == group.last ? complete_together(worker, group) : lane_of(worker, group, lane + 1);
}

// What the stack of a lane runs, for ever: one threadgroup after the other.
static void run_lane() {
    const uint32_t i = current_lane();
    Worker & worker  = current_worker();
    for (;;) {
        worker.entry->lane(worker, i);
        wait_at(SITE_END, nullptr);
    }
}

static void prepare_lane(Worker & worker, uint32_t index) {
    const uintptr_t shift = index % SM_SIMD_WIDTH * STACK_SHIFT + index / SM_SIMD_WIDTH * 3 * 64;
    static_assert(SM_SIMD_WIDTH * (STACK_SHIFT + 3 * 64) <= STACK_BYTES / 2 + 1024, "half of a stack is for kernels");
    char * stack           = (char *) &worker + LANE_STACKS + index * STACK_BYTES;
    worker.lanes[index].sp = prepare_stack(stack + STACK_BYTES - shift, run_lane);
}

static void run_threadgroup(Worker & worker) {
    if (worker.entry->threadgroup) {
        worker.entry->threadgroup(worker);
        return;
    }
    for (uint32_t i = 0; i < worker.n_simdgroups; ++i) {
        Simdgroup & group = worker.simdgroups[i];
        const uint32_t n  = worker.n_threads - i * SM_SIMD_WIDTH;
        group.last        = n < SM_SIMD_WIDTH ? n - 1 : SM_SIMD_WIDTH - 1;
        group.live        = ~0u >> (SM_SIMD_WIDTH - 1 - group.last);
        group.site        = SITE_END;
    }
    worker.live = worker.running = ~0u >> (32 - worker.n_simdgroups);
    switch_stack(&worker.scheduler.sp, next_simdgroup(worker)->sp);
}

// The order of threadgroups: bands of BAND along x, within a band by y. Neighbours in x and in y often share a row
// or a column of a matrix, which so stays in the caches.
enum : uint32_t { BAND = 4 };

static void place_threadgroup(Worker & worker, uint64_t index) {
    const uint32_t * n = worker.grid;
    const uint64_t area = (uint64_t) n[0] * n[1];
    worker.position[2]  = index / area;
    index %= area;
    const uint64_t band  = index / ((uint64_t) BAND * n[1]);
    const uint32_t first = band * BAND;
    const uint32_t width = n[0] - first < BAND ? n[0] - first : BAND;
    index -= band * BAND * n[1];
    worker.position[0] = first + index % width;
    worker.position[1] = index / width;
}

static void next_threadgroup(Worker & worker) {
    uint32_t * at      = worker.position;
    const uint32_t * n = worker.grid;
    if (++at[0] % BAND != 0 && at[0] != n[0]) {
        return;
    }
    const uint32_t first = (at[0] - 1) / BAND * BAND;
    if (++at[1] != n[1]) {
        at[0] = first;
        return;
    }
    at[1] = 0;
    if (at[0] == n[0]) {
        at[0] = 0;
        ++at[2];
    }
}

// What the worker's own stack runs, for ever.
static void run_job() {
    Worker & worker = current_worker();
    for (;;) {
        Job & job = *worker.job;
        place_threadgroup(worker, job.first);
        for (uint64_t i = 0; i < job.count; ++i) {
            observe_threadgroup(worker);
            if (job.fill_bytes) {
                __builtin_memset(worker.arena_threadgroup_memory, job.fill, job.fill_bytes);
            }
            run_threadgroup(worker);
            next_threadgroup(worker);
        }
        switch_stack(&worker.scheduler.sp, job.caller.sp);
    }
}

// -- the functions of sm_kernels

sm_worker * worker_new() {
    // Twice the size, so that an aligned arena lies inside. Untouched pages cost nothing.
    const size_t reserved = 2 * ARENA_BYTES;
    char * memory = (char *) mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return nullptr;
    }
    char * arena = (char *) (((uintptr_t) memory + ARENA_BYTES - 1) & ~(ARENA_BYTES - 1));
    if (arena > memory) {
        munmap(memory, arena - memory);
    }
    if (arena + ARENA_BYTES < memory + reserved) {
        munmap(arena + ARENA_BYTES, memory + reserved - arena - ARENA_BYTES);
    }
    if (HUGE_PAGES) { // a page for each lane would be more than the TLB holds
        madvise(arena, ARENA_BYTES, MADV_HUGEPAGE);
    }
    const size_t tg_bytes = SM_TG_MAX_BYTES + SM_TG_SLACK;
    void * threadgroup_memory = mmap(nullptr, tg_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (threadgroup_memory == MAP_FAILED) {
        munmap(arena, ARENA_BYTES);
        return nullptr;
    }
    Worker * worker                  = (Worker *) arena; // zero pages: nothing to initialise
    worker->arena_threadgroup_memory = (char *) threadgroup_memory;
    for (uint32_t i = 0; i < SM_MAX_THREADS / SM_SIMD_WIDTH; ++i) {
        worker->simdgroups[i].index = i;
    }
    return (sm_worker *) worker;
}

void worker_free(sm_worker * handle) {
    if (Worker * worker = (Worker *) handle) {
        observe_worker_end(*worker);
        munmap(worker->arena_threadgroup_memory, SM_TG_MAX_BYTES + SM_TG_SLACK);
        munmap(worker, ARENA_BYTES);
    }
}

static int refuse(Worker * worker, const char * why) {
    worker->error = why;
    return SM_BAD_DISPATCH;
}

// `bytes`: how many are in use from the start on.
static int place_threadgroup_memory(Worker * worker, const sm_dispatch * dispatch, uint64_t & bytes) {
    const size_t align  = 64;
    uint64_t used       = (dispatch->kernel->static_tg_bytes + align - 1) / align * align + THREADGROUP_RESERVE;
    worker->static_threadgroup_memory = worker->arena_threadgroup_memory;
    for (int i = 0; i < SM_MAX_BUFFERS; ++i) {
        worker->threadgroup_memory[i] = worker->arena_threadgroup_memory + used;
        used += ((uint64_t) dispatch->tg_bytes[i] + align - 1) / align * align + THREADGROUP_GAP;
        if (used > SM_TG_MAX_BYTES) {
            return refuse(worker, "the dispatch asks for more threadgroup memory than SM_TG_MAX_BYTES");
        }
    }
    bytes = used;
    return SM_OK;
}

static void place_lanes(Worker * worker, const uint32_t threads[3]) {
    uint32_t i = 0;
    for (uint32_t z = 0; z < threads[2]; ++z) {
        for (uint32_t y = 0; y < threads[1]; ++y) {
            for (uint32_t x = 0; x < threads[0]; ++x, ++i) {
                worker->lane_position[i][0] = x;
                worker->lane_position[i][1] = y;
                worker->lane_position[i][2] = z;
            }
        }
    }
    for (int k = 0; k < 3; ++k) {
        worker->threads[k] = threads[k];
    }
    worker->n_threads    = i;
    worker->n_simdgroups = (i + SM_SIMD_WIDTH - 1) / SM_SIMD_WIDTH;
    while (worker->n_prepared < i) {
        prepare_lane(*worker, worker->n_prepared++);
    }
}

int run(sm_worker * handle, const sm_dispatch * dispatch, uint64_t first, uint64_t count) {
    Worker * worker          = (Worker *) handle;
    const uint32_t * grid    = dispatch->grid;
    const uint32_t * threads = dispatch->threads;
    worker->error            = nullptr;
    if (!count) {
        return SM_OK;
    }
    if (!threads[0] || !threads[1] || !threads[2] || (uint64_t) threads[0] * threads[1] * threads[2] > SM_MAX_THREADS) {
        return refuse(worker, "a threadgroup must have 1 to 1024 threads");
    }
    const unsigned __int128 n_threadgroups = (unsigned __int128) grid[0] * grid[1] * grid[2];
    if (first >= n_threadgroups || count > n_threadgroups - first) {
        return refuse(worker, "the threadgroups to run are not all inside the grid");
    }
    uint64_t threadgroup_bytes;
    if (int status = place_threadgroup_memory(worker, dispatch, threadgroup_bytes)) {
        return status;
    }
    if (worker->threads[0] != threads[0] || worker->threads[1] != threads[1] || worker->threads[2] != threads[2]) {
        place_lanes(worker, threads);
    }
    for (int i = 0; i < 3; ++i) {
        worker->grid[i] = grid[i];
    }
    worker->buffers       = dispatch->buffers;
    worker->constants     = dispatch->constants;
    worker->constants_set = dispatch->constants_set;
    worker->entry         = (const Entry *) dispatch->kernel->entry;
    if (!observe_dispatch(*worker, *dispatch)) {
        return refuse(worker, "no memory for checked mode, or not asked for it");
    }

    Job job { first, count, (bool) dispatch->last_first, dispatch->fill, dispatch->fills ? threadgroup_bytes : 0, {} };
    worker->job = &job;
    if (!worker->scheduler.sp) {
        worker->scheduler.sp = prepare_stack((char *) worker + LANE_STACKS, run_job);
    }
    switch_stack(&job.caller.sp, worker->scheduler.sp);
    observe_end(*worker);
    return SM_OK;
}

const char * error(const sm_worker * handle) {
    const char * text = ((const Worker *) handle)->error;
    return text ? text : "";
}

} // namespace softmetal
