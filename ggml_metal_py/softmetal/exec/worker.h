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
    STACK_BYTES = 64 * 1024,
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
    SITE_SIZE      = 31,
};

struct Simdgroup {
    // One byte for each lane, zeros behind. Bytes and not bits, as a lane then changes its own without having to
    // wait for what the lane before it wrote.
    alignas(64) uint8_t ready[64]; // it may run (the running one may)
    alignas(64) uint8_t live[64];  // it has not returned

    uint32_t   index; // in the threadgroup
    bool       mixed; // the waiting lanes are not all at one site: see lane_site, lane_op
    Site       site;  // where every waiting lane is, when not mixed. It stays after they went on.
    Collective op;

    alignas(64) char in[SM_SIMD_WIDTH * 16];  // each lane's argument, packed by its own size
    alignas(64) char out[SM_SIMD_WIDTH * 16]; // each lane's result
    uint16_t         source[SM_SIMD_WIDTH];   // shuffles: which lane to take
    Site             lane_site[SM_SIMD_WIDTH];
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
    uint32_t        n_prepared;  // lanes whose stacks have been prepared
    Lane            scheduler;   // run() itself, while lanes run
    Lane            lanes[SM_MAX_THREADS + 1]; // one more, so that lane + 1 always exists
    uint16_t        lane_position[SM_MAX_THREADS][4]; // position of each lane in the threadgroup, for `threads`
    Simdgroup       simdgroups[SM_MAX_THREADS / SM_SIMD_WIDTH];

    char *          arena_threadgroup_memory; // SM_TG_MAX_BYTES + SM_TG_SLACK
    const char *    error;
};

SM_INLINE Worker & current_worker() { return *(Worker *) (stack_pointer() & ~(ARENA_BYTES - 1)); }

// Index in the threadgroup of the lane that runs. Meaningful on a lane's own stack only.
SM_INLINE uint32_t current_lane() { return stack_pointer() / STACK_BYTES % SM_MAX_THREADS; }

// The first lane of each simdgroup does what is done once per simdgroup.
SM_INLINE bool is_leader() { return current_lane() % SM_SIMD_WIDTH == 0; }

extern "C" {
// A lane comes to a site where other lanes of its simdgroup do not wait yet.
void softmetal_arrive(Worker &, Simdgroup &, uint32_t lane, Site, Collective);
// The next lane to run: of this simdgroup, if need be after doing what its lanes wait for, or of another one.
Lane * softmetal_next(Worker &, Simdgroup &);
}

// Suspends the running lane at `site`.
SM_INLINE void wait_at(Site site, Collective op) {
    Worker & worker     = current_worker();
    const uint32_t i    = current_lane();
    const uint32_t lane = i % SM_SIMD_WIDTH;
    Simdgroup & group   = worker.simdgroups[i / SM_SIMD_WIDTH];
    Lane * me           = &worker.lanes[i];
    if (__builtin_expect(group.site != site, 0)) {
        softmetal_arrive(worker, group, i, site, op);
    }
    group.ready[lane] = 0;
    if (__builtin_expect(group.ready[lane + 1], 1)) {
        switch_to_neighbour<NEIGHBOUR_DISTANCE>(&me->sp);
        return;
    }
    Lane * next = softmetal_next(worker, group);
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
