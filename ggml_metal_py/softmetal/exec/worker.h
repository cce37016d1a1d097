// The state of one worker, as kernel code and executor both see it.
//
// A worker owns one arena: an aligned block of address space with the Worker itself at its start, then the
// stack the scheduler runs on, then one stack for each of the 1024 lanes. Because arena and stacks are powers of
// two, the stack pointer alone tells who is running: no thread-local variable, no context parameter in kernels.
//
//     arena + 0            Worker
//     arena + 1 MB         ... its own stack, growing down from LANE_STACKS
//     arena + LANE_STACKS  stack of lane 0, lane 1, ... STACK_BYTES each
#pragma once

#include "abi.h"
#include "stack_switch.h"

namespace softmetal {

enum : uintptr_t {
#if defined(SM_CHECKED)
    STACK_BYTES = 256 * 1024, // less of a kernel is in registers
#else
    STACK_BYTES = 64 * 1024,
#endif
    LANE_STACKS = STACK_BYTES * SM_MAX_THREADS,
    ARENA_BYTES = LANE_STACKS * 2,

    // What lanes use most lies on top of their stacks: it must not fall on the same few lines of the caches, so
    // each lane of a simdgroup begins this much lower than the one before it.
    STACK_SHIFT        = 13 * 64,
    NEIGHBOUR_DISTANCE = STACK_BYTES - STACK_SHIFT, // between stacks of lanes that wait at the same place
};

struct Simdgroup;

// Computes a collective for the lanes in `mask`: from Simdgroup::in to Simdgroup::out.
using Collective = void (*)(Simdgroup &, uint32_t mask);

// Where a lane waits. A collective's site is its place in the source and its operation (Place in
// msl/include/softmetal/simdgroup.h), so that lanes that wait at different places are not mistaken for one group.
// Its lowest five bits are the size of an argument.
using Site = uint32_t;
enum : Site {
    SITE_NONE      = 0,
    SITE_BARRIER   = 1, // threadgroup_barrier, wherever it stands
    SITE_LOCKSTEP  = 2, // a point the translator put between conflicting accesses, see msl/lockstep.py
    SITE_END       = 3, // the kernel has returned

    SITE_SIZE      = 31,
};

// Nearly always the lanes of a simdgroup are together: each comes to the site that the first one came to, in
// ascending order, and there is no gap in those that live. Then the site and the last lane are all there is to
// know, and nothing is written down for a lane. Lanes that part have a record each.
struct Simdgroup {
    Site       site; // of all lanes before the one that runs, while together; SITE_NONE while apart
    uint32_t   last; // the last lane that lives, while together
    Collective op;   // at that site
    uint32_t   live; // lanes that have not returned; while together, they all return at once
    uint32_t   ready; // while apart: lanes that may run, without the running one
    uint32_t   index; // in the threadgroup

    alignas(64) char in[SM_SIMD_WIDTH * 16];  // each lane's argument, packed by its own size
    alignas(64) char out[SM_SIMD_WIDTH * 16]; // each lane's result
    uint16_t         source[SM_SIMD_WIDTH];   // shuffles: which lane to take
    Site             lane_site[SM_SIMD_WIDTH]; // while apart: where each waits
    Collective       lane_op[SM_SIMD_WIDTH];
    // The argument of a lane that does not find `site` set to its own: packed, those of several sites would overlap.
    char             lane_in[SM_SIMD_WIDTH][16];
};

struct Lane {
    void * sp; // of its stack, while it does not run
};

struct Worker;

// How a kernel is entered: once per lane on the lane's own stack, or once per threadgroup for kernels without
// barriers and collectives.
struct Entry {
    void (*lane)(Worker &, uint32_t index);
    void (*threadgroup)(Worker &);
};

struct Worker {
    // The dispatch, ready for kernels to read
    void * const *  buffers;
    const int64_t * constants;
    const uint8_t * constants_set;
    char *          threadgroup_memory[SM_MAX_BUFFERS];
    char *          static_threadgroup_memory;
    uint32_t        grid[3];     // threadgroups per grid
    uint32_t        threads[3];  // threads per threadgroup
    uint32_t        n_threads;
    uint32_t        n_simdgroups;
    const Entry *   entry;

    uint32_t        position[3]; // of the threadgroup in the grid

    // Scheduler
    struct Job *    job;
    uint32_t        live;        // simdgroups with lanes that have not returned
    uint32_t        running;     // those of them that do not wait at a barrier as a whole
    uint32_t        n_prepared;  // lanes whose stacks have been prepared
    Lane            scheduler;   // run() itself, while lanes run
    Lane            lanes[SM_MAX_THREADS + 1]; // one more, so that lane + 1 always exists
    uint16_t        lane_position[SM_MAX_THREADS][4]; // position of each lane in the threadgroup, for `threads`
    Simdgroup       simdgroups[SM_MAX_THREADS / SM_SIMD_WIDTH];

    char *          arena_threadgroup_memory; // SM_TG_MAX_BYTES + SM_TG_SLACK
    const char *    error;

#if defined(SM_CHECKED)
    struct Checker * checker; // exec/checked/
    struct sm_cell * threadgroup_cells;
#endif
};

SM_INLINE Worker & current_worker() { return *(Worker *) (stack_pointer() & ~(ARENA_BYTES - 1)); }

// Index in the threadgroup of the lane that runs. Meaningful on a lane's own stack only.
SM_INLINE uint32_t current_lane() { return stack_pointer() / STACK_BYTES % SM_MAX_THREADS; }

// The first lane of each simdgroup does what is done once per simdgroup.
SM_INLINE bool is_leader() { return current_lane() % SM_SIMD_WIDTH == 0; }

// The running lane comes to a site where it cannot just leave the CPU to the next lane. Returns the lane to go on
// with: of this simdgroup, if need be after doing what its lanes wait for, or of another one.
extern "C" Lane * softmetal_wait(Worker &, Simdgroup &, uint32_t lane, Site, Collective);

// Suspends the running lane at `site`.
SM_INLINE void wait_at(Site site, Collective op) {
    Worker & worker   = current_worker();
    const uint32_t i  = current_lane();
    Simdgroup & group = worker.simdgroups[i / SM_SIMD_WIDTH];
    Lane * me         = &worker.lanes[i];
    if (__builtin_expect(group.site == site && i % SM_SIMD_WIDTH != group.last, 1)) {
        switch_to_neighbour<NEIGHBOUR_DISTANCE>(&me->sp);
        return;
    }
    Lane * next = softmetal_wait(worker, group, i % SM_SIMD_WIDTH, site, op);
    if (next != me) {
        switch_stack(&me->sp, next->sp);
    }
}

// The same with an argument, which the operation finds in Simdgroup::in.
template<class T> SM_INLINE void wait_with(T value, Site site, Collective op) {
    Simdgroup & group   = current_worker().simdgroups[current_lane() / SM_SIMD_WIDTH];
    const uint32_t lane = current_lane() % SM_SIMD_WIDTH;
    if (__builtin_expect(group.site == site, 1)) {
        ((T *) group.in)[lane] = value;
    } else {
        __builtin_memcpy(group.lane_in[lane], &value, sizeof value);
    }
    wait_at(site, op);
}

} // namespace softmetal
