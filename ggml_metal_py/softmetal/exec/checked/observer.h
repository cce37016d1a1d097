// Checked mode's side of observer.h.
#pragma once

#include "worker.h"

namespace softmetal {

enum : uint32_t {
    THREADGROUP_GAP     = 4 * 1024,
    THREADGROUP_RESERVE = 48 * 1024, // for the kernel's own variables, which do not lie side by side either
};

// Each kernel has a library of its own, and so workers of its own: few pages count more than fast ones.
constexpr bool HUGE_PAGES = false;

bool observe_dispatch(Worker &, const sm_dispatch &);
void observe_threadgroup(Worker &);
void observe_barrier(Worker &);
void observe_end(Worker &);
void observe_worker_end(Worker &);

} // namespace softmetal
