// The fiber executor: runs threadgroups, each lane on a stack of its own, one lane at a time.
//
// Order is what kernels may count on. Within a simdgroup lanes run in ascending order up to their next site; a
// collective is computed once, when no lane of the simdgroup can run any more, and the lowest lane goes on.
// Simdgroups run one after the other up to their next threadgroup barrier. A barrier completes when every lane
// that has not returned waits at it. Lanes that wait at different collectives are different groups: the one
// that stands first in the source goes on, without the others.
#include <sys/mman.h>

#include "executor.h"
#include "worker.h"

namespace softmetal {

static Lane * lowest_ready(Worker & worker, const Simdgroup & group) {
    return &worker.lanes[group.index * SM_SIMD_WIDTH + __builtin_ctz(group.ready)];
}

extern "C" __attribute__((noinline)) void softmetal_arrive(Worker &, Simdgroup & group, uint32_t lane, Site site,
                                                           Collective op) {
    const uint32_t waiting = group.live & ~group.ready;
    if (!waiting) {
        group.site = site;
        group.op   = op;
        return;
    }
    if (!group.mixed) {
        for (uint32_t rest = waiting; rest; rest &= rest - 1) {
            const int i        = __builtin_ctz(rest);
            group.lane_site[i] = group.site;
            group.lane_op[i]   = group.op;
        }
        group.mixed = true;
        group.site  = SITE_NONE; // every later lane comes here too
    }
    group.lane_site[lane % SM_SIMD_WIDTH] = site;
    group.lane_op[lane % SM_SIMD_WIDTH]   = op;
}

// Which of the lanes that wait at different sites go on: those at a lockstep point before all others, because
// they may still join a group; then the collective that stands first in the source. A barrier is last.
static void advance_mixed(Simdgroup & group) {
    Site first = ~(Site) 0;
    for (uint32_t rest = group.live; rest; rest &= rest - 1) {
        const Site site = group.lane_site[__builtin_ctz(rest)];
        const Site rank = site == SITE_BARRIER ? ~(Site) 0 : site;
        first           = rank < first ? rank : first;
    }
    if (first == ~(Site) 0) {
        group.mixed = false;
        group.site  = SITE_BARRIER;
        return;
    }
    uint32_t mask = 0;
    for (uint32_t rest = group.live; rest; rest &= rest - 1) {
        const int i = __builtin_ctz(rest);
        mask |= (uint32_t) (group.lane_site[i] == first) << i;
    }
    if (Collective op = group.lane_op[__builtin_ctz(mask)]) {
        op(group, mask);
    }
    group.ready = mask;
    if (mask == group.live) {
        group.mixed = false;
    }
}

extern "C" __attribute__((noinline)) Lane * softmetal_advance(Worker & worker, Simdgroup & group) {
    if (group.live) {
        if (group.mixed) {
            advance_mixed(group);
        } else if (group.site != SITE_BARRIER) {
            if (group.op) {
                group.op(group, group.live);
            }
            group.ready = group.live;
        }
        if (group.ready) {
            return lowest_ready(worker, group);
        }
    }
    for (uint32_t i = 0; i < worker.n_simdgroups; ++i) {
        if (worker.simdgroups[i].ready) {
            return lowest_ready(worker, worker.simdgroups[i]);
        }
    }
    // Every lane that lives waits at the barrier.
    Lane * next = &worker.scheduler;
    for (uint32_t i = worker.n_simdgroups; i-- > 0;) {
        Simdgroup & each = worker.simdgroups[i];
        if (each.live) {
            each.ready = each.live;
            next       = lowest_ready(worker, each);
        }
    }
    return next;
}

// What the stack of a lane runs, for ever: one threadgroup after the other.
static void run_lane() {
    const uint32_t i   = current_lane();
    Worker & worker    = current_worker();
    Simdgroup & group  = worker.simdgroups[i / SM_SIMD_WIDTH];
    const uint32_t bit = 1u << i % SM_SIMD_WIDTH;
    for (;;) {
        worker.entry->lane(worker, i);
        group.live &= ~bit;
        const uint32_t ready = group.ready &= ~bit;
        Lane * next;
        if (ready & bit << 1) {
            next = &worker.lanes[i + 1];
        } else if (ready) {
            next = lowest_ready(worker, group);
        } else {
            next = softmetal_advance(worker, group);
        }
        switch_stack(&worker.lanes[i].sp, next->sp);
    }
}

static void prepare_lane(Worker & worker, uint32_t index) {
    // The lanes' hot data must not fall on the same cache lines modulo the cache's size.
    const uintptr_t colour = index * 5 % 64 * 64;
    char * stack = (char *) &worker + LANE_STACKS + index * STACK_BYTES;
    worker.lanes[index].sp = prepare_stack(stack + STACK_BYTES - colour, run_lane);
}

static void run_threadgroup(Worker & worker) {
    if (worker.entry->threadgroup) {
        worker.entry->threadgroup(worker);
        return;
    }
    for (uint32_t i = 0; i < worker.n_simdgroups; ++i) {
        Simdgroup & group    = worker.simdgroups[i];
        const uint32_t lanes = worker.n_threads - i * SM_SIMD_WIDTH;
        group.live = group.ready = lanes >= SM_SIMD_WIDTH ? ~0u : (1u << lanes) - 1;
        group.mixed              = false;
        group.site               = SITE_NONE;
    }
    switch_stack(&worker.scheduler.sp, worker.lanes[0].sp);
}

// Threadgroups for the worker's own stack to run.
struct Job {
    const sm_dispatch * dispatch;
    uint64_t            first, count;
    Lane                caller; // the OS thread's stack
};
static_assert(sizeof(Worker) <= 1024 * 1024, "the worker's own stack begins above it");

// What the worker's own stack runs, for ever.
static void run_job() {
    Worker & worker = current_worker();
    for (;;) {
        Job & job            = *worker.job;
        const uint32_t * n   = job.dispatch->grid;
        uint64_t rest        = job.first;
        worker.position[0]   = rest % n[0];
        rest /= n[0];
        worker.position[1]   = rest % n[1];
        worker.position[2]   = rest / n[1];
        for (uint64_t i = 0; i < job.count; ++i) {
            run_threadgroup(worker);
            if (++worker.position[0] == n[0]) {
                worker.position[0] = 0;
                if (++worker.position[1] == n[1]) {
                    worker.position[1] = 0;
                    ++worker.position[2];
                }
            }
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
        munmap(worker->arena_threadgroup_memory, SM_TG_MAX_BYTES + SM_TG_SLACK);
        munmap(worker, ARENA_BYTES);
    }
}

static int refuse(Worker * worker, const char * why) {
    worker->error = why;
    return SM_BAD_DISPATCH;
}

static int place_threadgroup_memory(Worker * worker, const sm_dispatch * dispatch) {
    const size_t align  = 64;
    uint64_t used       = (dispatch->kernel->static_tg_bytes + align - 1) / align * align;
    worker->static_threadgroup_memory = worker->arena_threadgroup_memory;
    for (int i = 0; i < SM_MAX_BUFFERS; ++i) {
        worker->threadgroup_memory[i] = worker->arena_threadgroup_memory + used;
        used += ((uint64_t) dispatch->tg_bytes[i] + align - 1) / align * align;
        if (used > SM_TG_MAX_BYTES) {
            return refuse(worker, "the dispatch asks for more threadgroup memory than SM_TG_MAX_BYTES");
        }
    }
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
    if (int status = place_threadgroup_memory(worker, dispatch)) {
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

    Job job { dispatch, first, count, {} };
    worker->job = &job;
    if (!worker->scheduler.sp) {
        worker->scheduler.sp = prepare_stack((char *) worker + LANE_STACKS, run_job);
    }
    switch_stack(&job.caller.sp, worker->scheduler.sp);
    return SM_OK;
}

const char * error(const sm_worker * handle) {
    const char * text = ((const Worker *) handle)->error;
    return text ? text : "";
}

} // namespace softmetal
