// What checked mode knows while a dispatch runs: one for each worker.
#pragma once

#include "checked.h"
#include "spot.h"
#include "worker.h"

namespace softmetal {

// When memory of one kind was last made visible: by a barrier of the threadgroup, by one of each simdgroup.
struct Fences {
    uint64_t threadgroup;
    uint64_t simdgroup[SM_MAX_THREADS / SM_SIMD_WIDTH];
};

// A write to what another thread wrote. Whether it is a race shows when it has been done: writing the same value
// again is taken for harmless.
struct Overwrite {
    char *          at;
    const Spot *    spot;
    const sm_region * region;
    uint32_t        lane;
    uint32_t        fault;
    sm_stamp        before;
    uint64_t        bytes_at_odds; // one bit a byte
    char            old[64];
};

struct Start {
    uint64_t clock;
    uint32_t position[3];
};

struct Checker {
    sm_checked *        shared;
    const sm_dispatch * dispatch;
    uint64_t            clock;
    uint64_t            dispatch_start;
    uint64_t            threadgroup_start;
    uint64_t            last_barrier; // of the threadgroup, whatever memory it was for
    Fences              fences[2]; // by enum sm_space: device, threadgroup
    Overwrite           overwrite; // `at` is null when there is none

    Spot *              barrier[SM_MAX_THREADS]; // at which a lane waits; null: it has not come to one
    sm_region           own[SM_OWN_REGIONS];
    uint32_t            n_tables;
    uint32_t            n_variables; // of the dispatch's kernel, as far as it has come to them

    Start *             starts;  // of the dispatch's threadgroups
    uint64_t            n_starts, room_for_starts;

    enum { SEEN = 4096 };
    uint64_t            seen[SEEN]; // faults of this dispatch, by hash
    softmetal_report    report;     // the one being written: lanes' stacks have little room
};

// access.cpp: says what came of the last overwriting
void settle_overwrite(Worker &);

// faults.cpp: what the report says
void report_outside(Worker &, const Spot &, const char * at, uint64_t bytes);
void report_access(Worker &, uint32_t fault, const Spot &, uint32_t lane, const sm_region &, int64_t offset, sm_stamp other);
void report_barrier(Worker &, uint32_t lane, const Spot &, uint32_t other_lane, const Spot * other);

SM_INLINE uint64_t when(sm_stamp stamp) { return stamp >> (SM_STAMP_SPOT_BITS + SM_STAMP_LANE_BITS); }
SM_INLINE uint32_t lane_of(sm_stamp stamp) { return stamp >> SM_STAMP_SPOT_BITS & (SM_MAX_THREADS - 1); }
SM_INLINE const Spot & spot_of(sm_stamp stamp) { return __start_softmetal_spots[stamp & ((1u << SM_STAMP_SPOT_BITS) - 1)]; }
SM_INLINE sm_stamp make_stamp(uint64_t clock, uint32_t lane, const Spot & spot) {
    return (clock << SM_STAMP_LANE_BITS | lane) << SM_STAMP_SPOT_BITS | (uint64_t) (&spot - __start_softmetal_spots);
}

} // namespace softmetal
