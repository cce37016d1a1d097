// How time passes in checked mode: dispatches, threadgroups and barriers.
#include <stdlib.h>
#include <string.h>

#include "checker.h"
#include "observer.h"

namespace softmetal {

// mem_flags has the bits of these two spaces.
static_assert(SM_SPACE_DEVICE == 0 && SM_SPACE_THREADGROUP == 1, "");

enum : uint32_t {
    // In Checker::own: threadgroup memory by argument, then
    FIRST_VARIABLE = SM_MAX_BUFFERS,
    FIRST_TABLE    = FIRST_VARIABLE + 13,
};

static void name_region(sm_region & region, const char * name) {
    strncpy(region.name, name, sizeof region.name - 1);
}

// Cells for all threadgroup memory there can be, made once: each piece has those at its own place.
static sm_cell * threadgroup_cells(Worker & worker) {
    if (!worker.threadgroup_cells) {
        worker.threadgroup_cells = (sm_cell *) calloc(SM_TG_MAX_BYTES, sizeof(sm_cell));
    }
    return worker.threadgroup_cells;
}

static void place(Worker & worker, sm_region & region, char * start, size_t bytes, const char * name) {
    region          = {};
    region.start    = (uintptr_t) start;
    region.bytes    = bytes;
    region.cells    = worker.threadgroup_cells + (start - worker.arena_threadgroup_memory);
    region.shift    = 2;
    region.space    = SM_SPACE_THREADGROUP;
    region.followed = true;
    name_region(region, name);
}

// The last one takes all that have no place of their own.
static void place_tables(Checker & checker) {
    const Table * end = __stop_softmetal_tables;
    for (const Table * table = __start_softmetal_tables; table != end; ++table) {
        const bool fits    = FIRST_TABLE + checker.n_tables < SM_OWN_REGIONS;
        checker.n_tables  += fits;
        sm_region & region = checker.own[FIRST_TABLE + checker.n_tables - 1];
        const uintptr_t at = (uintptr_t) table->start;
        if (fits) {
            region.start = at;
            region.bytes = table->bytes;
            name_region(region, table->name);
        } else {
            const uintptr_t first = region.start < at ? region.start : at;
            const uintptr_t last  = region.start + region.bytes > at + table->bytes ? region.start + region.bytes : at + table->bytes;
            region.start          = first;
            region.bytes          = last - first;
        }
        region.space   = SM_SPACE_CONSTANT;
        region.written = true;
    }
}

bool observe_dispatch(Worker & worker, const sm_dispatch & dispatch) {
    if (!dispatch.checked || !threadgroup_cells(worker)) {
        return false;
    }
    if (!worker.checker) {
        worker.checker = (Checker *) calloc(1, sizeof(Checker));
        if (!worker.checker) {
            return false;
        }
        place_tables(*worker.checker);
    }
    Checker & checker      = *worker.checker;
    checker.shared         = dispatch.checked;
    checker.dispatch       = &dispatch;
    checker.clock          = dispatch.checked->clock + 1;
    checker.dispatch_start = checker.clock;
    checker.n_starts       = 0;
    checker.overwrite.at   = nullptr;
    memset(checker.seen, 0, sizeof checker.seen);
    memset(checker.own, 0, sizeof checker.own[0] * FIRST_TABLE);
    for (uint32_t i = 0; i < dispatch.kernel->n_args; ++i) {
        const sm_arg & arg = dispatch.kernel->args[i];
        if (arg.kind == SM_ARG_THREADGROUP) {
            place(worker, checker.own[arg.index], worker.threadgroup_memory[arg.index], dispatch.tg_bytes[arg.index], arg.name);
        }
    }
    checker.n_variables = 0;
    for (uint32_t i = 0; i < SM_OWN_REGIONS; ++i) {
        checker.shared->regions[i] = &checker.own[i];
    }
    return true;
}

static void fence_all(Checker & checker) {
    checker.threadgroup_start = checker.clock;
    for (Fences & fences : checker.fences) {
        fences.threadgroup = checker.clock;
        memset(fences.simdgroup, 0, sizeof fences.simdgroup);
    }
}

void observe_threadgroup(Worker & worker) {
    Checker & checker = *worker.checker;
    settle_overwrite(worker);
    ++checker.clock;
    fence_all(checker);
    memset(checker.barrier, 0, sizeof checker.barrier[0] * worker.n_threads);
    if (checker.n_starts == checker.room_for_starts) {
        const uint64_t room = checker.room_for_starts * 2 + 64;
        Start * starts      = (Start *) realloc(checker.starts, room * sizeof(Start));
        if (!starts) {
            return; // a report will name an earlier threadgroup
        }
        checker.starts          = starts;
        checker.room_for_starts = room;
    }
    const uint32_t * at                = worker.position;
    checker.starts[checker.n_starts++] = { checker.clock, { at[0], at[1], at[2] } };
}

void observe_end(Worker & worker) {
    settle_overwrite(worker);
    worker.checker->shared->clock = worker.checker->clock;
}

void observe_worker_end(Worker & worker) {
    if (worker.checker) {
        free(worker.checker->starts);
        free(worker.checker);
    }
    free(worker.threadgroup_cells);
}

// The lanes at the barrier come from different ones, or some have returned.
void observe_barrier(Worker & worker) {
    Checker & checker = *worker.checker;
    settle_overwrite(worker);
    uint32_t leader = 0;
    while (leader < worker.n_threads && !checker.barrier[leader]) {
        ++leader;
    }
    if (leader == worker.n_threads) {
        return; // the end of the threadgroup
    }
    const Spot * spot = checker.barrier[leader];
    uint32_t flags    = ~0u;
    for (uint32_t i = 0; i < worker.n_threads; ++i) {
        const Spot * at = checker.barrier[i];
        if (!at || !is_same_place(*at, *spot)) {
            report_barrier(worker, leader, *spot, i, at);
        }
        flags &= at ? at->bytes : ~0u;
    }
    checker.last_barrier = ++checker.clock;
    for (uint32_t space = 0; space < 2; ++space) {
        if (flags >> space & 1) {
            checker.fences[space].threadgroup = checker.clock;
        }
    }
    memset(checker.barrier, 0, sizeof checker.barrier[0] * worker.n_threads);
}

// All lanes of a simdgroup that came to its barrier.
void simdgroup_fence(Worker & worker, const Simdgroup & group, uint32_t flags) {
    Checker & checker = *worker.checker;
    settle_overwrite(worker);
    ++checker.clock;
    for (uint32_t space = 0; space < 2; ++space) {
        if (flags >> space & 1) {
            checker.fences[space].simdgroup[group.index] = checker.clock;
        }
    }
}

} // namespace softmetal

using namespace softmetal;

extern "C" void softmetal_at_barrier(uint32_t flags, Spot * spot) {
    Worker & worker = current_worker();
    spot->bytes     = flags;
    worker.checker->barrier[current_lane()] = spot;
}

extern "C" void softmetal_variable(char * start, size_t bytes, const char * name) {
    Worker & worker   = current_worker();
    Checker & checker = *worker.checker;
    for (uint32_t i = 0; i < checker.n_variables; ++i) {
        if (checker.own[FIRST_VARIABLE + i].start == (uintptr_t) start) {
            return;
        }
    }
    sm_region & last = checker.own[FIRST_TABLE - 1];
    if (FIRST_VARIABLE + checker.n_variables < FIRST_TABLE) {
        place(worker, checker.own[FIRST_VARIABLE + checker.n_variables++], start, bytes, name);
    } else if (start + bytes > (char *) last.start + last.bytes) { // the last one takes all further ones
        last.bytes = start + bytes - (char *) last.start;
    }
}

extern "C" void softmetal_simdgroup_fence(Simdgroup * group, uint32_t flags) {
    simdgroup_fence(current_worker(), *group, flags);
}
