// Every access of a kernel comes by here, before it is made.
//
// An access that is not allowed is reported and sent elsewhere: what is read there is 0, what is written is lost. So
// nothing a kernel does can harm the process, and the rest of the dispatch is checked, too.
#include <string.h>

#include "checker.h"

namespace softmetal {

enum : uint32_t { SINK_BYTES = 64 * 1024 };
static char zeros[SINK_BYTES];
static char sink[SINK_BYTES];

enum Order { ORDERED, IN_LOCKSTEP, RACE };

// Whether what `before` tells of happened before what `lane` does now, for all that Metal promises.
SM_INLINE Order order(const Checker & checker, uint8_t space, sm_stamp before, uint32_t lane) {
    const uint64_t at = when(before);
    if (at < checker.threadgroup_start) { // by another threadgroup; threadgroup memory has nothing to do with those
        return at < checker.dispatch_start || space == SM_SPACE_THREADGROUP ? ORDERED : RACE;
    }
    const Fences & fences = checker.fences[space];
    if (lane_of(before) == lane || at < fences.threadgroup) {
        return ORDERED;
    }
    if (lane_of(before) / SM_SIMD_WIDTH != lane / SM_SIMD_WIDTH) {
        return RACE;
    }
    return at < fences.simdgroup[lane / SM_SIMD_WIDTH] ? ORDERED : IN_LOCKSTEP;
}

SM_INLINE uint32_t fault_of(Order order, const Spot & spot, sm_stamp before) {
    // Lanes that do the same at the same time are in a race, however they move.
    return order == IN_LOCKSTEP && !is_same_place(spot_of(before), spot) ? SOFTMETAL_LOCKSTEP_RELIANCE : SOFTMETAL_RACE;
}

static bool both_atomic(const Spot & spot, sm_stamp before) {
    return spot.access & spot_of(before).access & SOFTMETAL_ATOMIC;
}

static __attribute__((noinline)) void settle(Worker & worker) {
    Overwrite & overwrite = worker.checker->overwrite;
    const char * at       = overwrite.at;
    overwrite.at          = nullptr;
    for (uint64_t rest = overwrite.bytes_at_odds; rest; rest &= rest - 1) {
        const int i = __builtin_ctzll(rest);
        if (at[i] != overwrite.old[i]) {
            report_access(worker, overwrite.fault, *overwrite.spot, overwrite.lane, *overwrite.region,
                          at + i - (const char *) overwrite.region->start, overwrite.before);
            return;
        }
    }
}

void settle_overwrite(Worker & worker) {
    if (worker.checker->overwrite.at) {
        settle(worker);
    }
}

static __attribute__((noinline)) void at_odds(Worker & worker, const Spot & spot, uint32_t lane, const sm_region & region,
                                              uint64_t offset, sm_stamp before, Order how) {
    if (!both_atomic(spot, before)) {
        report_access(worker, fault_of(how, spot, before), spot, lane, region, offset, before);
    }
}

// Bytes offset .. offset + bytes of the access at `at` were written by somebody else.
static __attribute__((noinline)) void note_overwrite(Worker & worker, const Spot & spot, uint32_t lane, const sm_region & region,
                                                     char * at, uint64_t from, uint64_t bytes, sm_stamp before, Order how) {
    if (both_atomic(spot, before)) {
        return;
    }
    Overwrite & overwrite = worker.checker->overwrite;
    if (from + bytes > sizeof overwrite.old) {
        report_access(worker, fault_of(how, spot, before), spot, lane, region, at + from - (char *) region.start, before);
        return;
    }
    if (overwrite.at != at) {
        overwrite = { at, &spot, &region, lane, fault_of(how, spot, before), before, 0, {} };
    }
    overwrite.bytes_at_odds |= (bytes < 64 ? (1ull << bytes) - 1 : ~0ull) << from;
    memcpy(overwrite.old + from, at + from, bytes);
}

// Cells of smaller pieces: each takes what was known of the whole.
static __attribute__((noinline)) void refine(sm_region & region, uint8_t shift) {
    const uint64_t n     = (region.bytes + (1u << region.shift) - 1) >> region.shift;
    const uint32_t parts = 1u << (region.shift - shift);
    for (uint64_t i = n; i-- > 0;) {
        const sm_cell cell = region.cells[i];
        for (uint64_t k = i * parts; k < (i + 1) * parts; ++k) {
            if (k << shift < region.bytes) {
                region.cells[k] = cell;
            }
        }
    }
    region.shift = shift;
}

SM_INLINE void note_read(const Checker & checker, uint8_t space, sm_cell & cell, sm_stamp now, uint32_t lane) {
    const sm_stamp last = cell.read;
    cell.read           = now;
    if (when(last) >= checker.threadgroup_start && lane_of(last) == lane) {
        return;
    }
    // Of those that read, remember one that the other lanes of this simdgroup are not in step with.
    if (lane_of(last) / SM_SIMD_WIDTH != lane / SM_SIMD_WIDTH || when(last) < checker.threadgroup_start ||
        when(cell.read_other) < checker.fences[space].threadgroup ||
        lane_of(cell.read_other) / SM_SIMD_WIDTH == lane / SM_SIMD_WIDTH) {
        cell.read_other = last;
    }
}

static __attribute__((noinline)) void follow(Worker & worker, const Spot & spot, sm_region & region, char * at, uint64_t bytes) {
    Checker & checker     = *worker.checker;
    const uint64_t offset = at - (char *) region.start;
    const uint8_t space   = region.space;
    const uint32_t lane   = current_lane();
    const sm_stamp now    = make_stamp(checker.clock, lane, spot);
    const uint8_t fits    = __builtin_ctzll(offset | bytes | 1u << region.shift);
    if (fits < region.shift) {
        refine(region, fits);
    }
    const uint8_t shift = region.shift;
    const uint64_t end  = (offset + bytes - 1) >> shift;
    for (uint64_t i = offset >> shift; i <= end; ++i) {
        sm_cell & cell = region.cells[i];
        const bool had_value =
            space == SM_SPACE_THREADGROUP ? when(cell.written) >= checker.threadgroup_start : cell.written || region.written;
        if (spot.access & SOFTMETAL_READ) {
            if (!had_value) {
                report_access(worker, SOFTMETAL_UNINITIALISED_READ, spot, lane, region, i << shift, 0);
            } else if (const Order how = order(checker, space, cell.written, lane)) {
                at_odds(worker, spot, lane, region, i << shift, cell.written, how);
            }
        }
        if (spot.access & SOFTMETAL_WRITE) {
            if (cell.written && !(spot.access & SOFTMETAL_READ)) {
                if (const Order how = order(checker, space, cell.written, lane)) {
                    note_overwrite(worker, spot, lane, region, at, (i << shift) - offset, 1u << shift, cell.written, how);
                }
            }
            if (const Order how = order(checker, space, cell.read, lane)) {
                at_odds(worker, spot, lane, region, i << shift, cell.read, how);
            } else if (const Order how = order(checker, space, cell.read_other, lane)) {
                at_odds(worker, spot, lane, region, i << shift, cell.read_other, how);
            }
            cell = { now, 0, 0 };
        } else if (region.followed) {
            note_read(checker, space, cell, now, lane);
        }
    }
    if (spot.access & SOFTMETAL_WRITE) {
        region.changed = true;
    }
}

SM_INLINE bool holds(const sm_region & region, uintptr_t at, uint64_t bytes) {
    return bytes <= region.bytes && at - region.start <= region.bytes - bytes;
}

// The index of the region that holds all of it; 0 when there is none, and then region 0 does not hold it.
static __attribute__((noinline)) uint32_t find(const sm_checked & shared, uintptr_t at, uint64_t bytes) {
    for (uint32_t i = 0; i < SM_OWN_REGIONS; ++i) {
        if (holds(*shared.regions[i], at, bytes)) {
            return i;
        }
    }
    uint32_t low = SM_OWN_REGIONS, high = shared.n_regions; // the last one that begins at or before it
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (shared.regions[middle]->start <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > SM_OWN_REGIONS && holds(*shared.regions[low - 1], at, bytes) ? low - 1 : 0;
}

SM_INLINE char * checked(char * at, Spot & spot, uint64_t bytes) {
    Worker & worker = current_worker();
    if ((uintptr_t) at - (uintptr_t) &worker < ARENA_BYTES) {
        return at; // on a lane's own stack
    }
    Checker & checker = *worker.checker;
    if (__builtin_expect(checker.overwrite.at != nullptr, 0)) {
        settle(worker);
    }
    const sm_checked & shared = *checker.shared;
    uint32_t index            = spot.region < shared.n_regions ? spot.region : 0;
    sm_region * region        = shared.regions[index];
    if (__builtin_expect(!holds(*region, (uintptr_t) at, bytes), 0)) {
        index  = find(shared, (uintptr_t) at, bytes);
        region = shared.regions[index];
        if (!holds(*region, (uintptr_t) at, bytes)) {
            report_outside(worker, spot, at, bytes);
            return bytes > SINK_BYTES ? nullptr : spot.access & SOFTMETAL_WRITE ? sink : zeros;
        }
        spot.region = index;
    }
    if (__builtin_expect((uintptr_t) at & (spot.align - 1), 0)) {
        report_access(worker, SOFTMETAL_MISALIGNED, spot, current_lane(), *region, at - (char *) region->start, 0);
    }
    if (spot.access & SOFTMETAL_WRITE) {
        if (__builtin_expect(region->space == SM_SPACE_CONSTANT, 0)) {
            report_access(worker, SOFTMETAL_WRITE_TO_READONLY, spot, current_lane(), *region, at - (char *) region->start, 0);
            return bytes > SINK_BYTES ? nullptr : sink;
        }
        if (__builtin_expect(!region->followed, 0)) { // through a pointer that was bound for something else
            region->followed = region->cells || shared.follow(checker.shared, region);
        }
    }
    if (region->cells && (region->followed || !region->written)) {
        follow(worker, spot, *region, at, bytes);
    }
    return at;
}

} // namespace softmetal

using namespace softmetal;

// What msl/instrument.py calls.
extern "C" {

char * softmetal_access(char * at, Spot * spot) {
    return checked(at, *spot, spot->bytes);
}

void softmetal_copy(char * to, char * from, uint64_t bytes, Spot * write, Spot * read) {
    if (!bytes) {
        return;
    }
    from = checked(from, *read, bytes);
    to   = checked(to, *write, bytes);
    if (from && to) {
        memmove(to, from, bytes);
    }
}

void softmetal_fill(char * to, char value, uint64_t bytes, Spot * write) {
    if (bytes && (to = checked(to, *write, bytes))) {
        memset(to, value, bytes);
    }
}

} // extern "C"
