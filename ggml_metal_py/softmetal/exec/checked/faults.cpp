// From what was seen to what the report says.
#include <string.h>

#include "checker.h"

namespace softmetal {

// Whether this dispatch had the same fault before.
static bool seen_before(Checker & checker, uint32_t fault, const Spot * spot, const Spot * other) {
    const uint64_t number = spot - __start_softmetal_spots, second = other ? other - __start_softmetal_spots + 1 : 0;
    const uint64_t key    = ((uint64_t) fault << 40 | number << 20 | second) + 1;
    for (uint64_t i = key * 0x9e3779b97f4a7c15 >> 52, tries = 0; tries < 16; ++tries, i = (i + 1) % Checker::SEEN) {
        if (checker.seen[i] == key) {
            return true;
        }
        if (!checker.seen[i]) {
            checker.seen[i] = key;
            return false;
        }
    }
    return true; // there have been thousands
}

static void fill_party(softmetal_party & party, const uint32_t * threadgroup, uint32_t lane, const Spot * spot, uint32_t access) {
    party.access = access;
    memcpy(party.threadgroup, threadgroup, sizeof party.threadgroup);
    party.simdgroup = lane / SM_SIMD_WIDTH;
    party.lane      = lane % SM_SIMD_WIDTH;
    if (spot) {
        party.line   = spot->line;
        party.column = spot->column;
        party.bytes  = spot->bytes;
        strncpy(party.text, spot->text, sizeof party.text - 1);
    }
}

static const uint32_t * threadgroup_at(const Checker & checker, uint64_t clock) {
    uint64_t low = 0, high = checker.n_starts;
    while (high - low > 1) {
        const uint64_t middle = (low + high) / 2;
        (checker.starts[middle].clock <= clock ? low : high) = middle;
    }
    return checker.starts[low].position;
}

static softmetal_report & blank(Worker & worker, uint32_t fault) {
    softmetal_report & report = worker.checker->report;
    memset(&report, 0, sizeof report);
    report.fault = fault;
    strncpy(report.kernel, worker.checker->dispatch->pipeline, sizeof report.kernel - 1);
    return report;
}

static void send(Worker & worker) {
    sm_checked * shared = worker.checker->shared;
    shared->report(shared, &worker.checker->report);
}

static void fill_region(softmetal_report & report, const sm_region & region, int64_t offset) {
    report.in_threadgroup_memory = region.space == SM_SPACE_THREADGROUP;
    report.offset                = offset;
    report.region_bytes          = region.bytes;
    memcpy(report.region, region.name, sizeof report.region);
}

void report_access(Worker & worker, uint32_t fault, const Spot & spot, uint32_t lane, const sm_region & region, int64_t offset,
                   sm_stamp other) {
    Checker & checker = *worker.checker;
    if (seen_before(checker, fault, &spot, other ? &spot_of(other) : nullptr)) {
        return;
    }
    softmetal_report & report = blank(worker, fault);
    fill_region(report, region, offset);
    fill_party(report.first, worker.position, lane, &spot, spot.access);
    if (other) {
        fill_party(report.second, threadgroup_at(checker, when(other)), lane_of(other), &spot_of(other), spot_of(other).access);
        report.other_barrier = when(other) >= checker.threadgroup_start && when(other) < checker.last_barrier;
    }
    report.alignment = spot.align;
    send(worker);
}

// How far an address is from a region.
static uint64_t distance(const sm_region & region, uintptr_t at) {
    if (at < region.start) {
        return region.start - at;
    }
    return at < region.start + region.bytes ? 0 : at - (region.start + region.bytes);
}

void report_outside(Worker & worker, const Spot & spot, const char * at, uint64_t bytes) {
    Checker & checker = *worker.checker;
    const bool in_threadgroup_memory =
        (uintptr_t) at - (uintptr_t) worker.arena_threadgroup_memory < SM_TG_MAX_BYTES + SM_TG_SLACK;
    const uint32_t fault = in_threadgroup_memory ? SOFTMETAL_THREADGROUP_OVERRUN : SOFTMETAL_OUT_OF_BOUNDS;
    if (seen_before(checker, fault, &spot, nullptr)) {
        return;
    }
    softmetal_report & report = blank(worker, fault);
    const sm_region * nearest = nullptr;
    for (uint32_t i = 0; i < checker.shared->n_regions; ++i) {
        const sm_region & region = *checker.shared->regions[i];
        if (region.start && (region.space == SM_SPACE_THREADGROUP) == in_threadgroup_memory &&
            (!nearest || distance(region, (uintptr_t) at) < distance(*nearest, (uintptr_t) at))) {
            nearest = &region;
        }
    }
    if (nearest) {
        int64_t offset = (int64_t) ((uintptr_t) at - nearest->start);
        fill_region(report, *nearest, offset);
    }
    report.in_threadgroup_memory = in_threadgroup_memory;
    fill_party(report.first, worker.position, current_lane(), &spot, spot.access);
    report.first.bytes = bytes;
    send(worker);
}

void report_barrier(Worker & worker, uint32_t lane, const Spot & spot, uint32_t other_lane, const Spot * other) {
    if (seen_before(*worker.checker, SOFTMETAL_DIVERGENT_BARRIER, &spot, other)) {
        return;
    }
    softmetal_report & report = blank(worker, SOFTMETAL_DIVERGENT_BARRIER);
    fill_party(report.first, worker.position, lane, &spot, SOFTMETAL_BARRIER);
    fill_party(report.second, worker.position, other_lane, other, other ? SOFTMETAL_BARRIER : SOFTMETAL_RETURNED);
    report.first.bytes = report.second.bytes = 0;
    send(worker);
}

} // namespace softmetal
