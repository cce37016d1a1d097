// What the executor tells whoever watches. In plain mode that is nobody, and these functions are nothing.
#pragma once

#include "worker.h"

#if defined(SM_CHECKED)
#include "checked/observer.h"
#else
namespace softmetal {

// Room left behind each piece of threadgroup memory, and behind the first one in any case.
enum : uint32_t { THREADGROUP_GAP = 0, THREADGROUP_RESERVE = 0 };

constexpr bool HUGE_PAGES = true;

SM_INLINE bool observe_dispatch(Worker &, const sm_dispatch &) { return true; } // false: it cannot be run
SM_INLINE void observe_threadgroup(Worker &) {} // one begins, at Worker::position
SM_INLINE void observe_barrier(Worker &) {}     // all lanes that live are at a barrier, and will go on
SM_INLINE void observe_end(Worker &) {}         // no lane is left at work
SM_INLINE void observe_worker_end(Worker &) {}

} // namespace softmetal
#endif
