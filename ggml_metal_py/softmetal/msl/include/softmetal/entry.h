// From the dispatch to a kernel's parameters. The translator names one binding per parameter, and the compiler
// takes the parameters' types from the kernel itself:
//
//     const Entry entry = kernel_entry<&kernel_add, buffer<0>, buffer<1>, thread_position_in_grid>::fibers;
#pragma once

#include "vector.h"

namespace softmetal {

// The thread of a threadgroup that a kernel is entered for.
struct Thread {
    uint32_t index;
    uint32_t position[3];
};

template<class P, class T> SM_INLINE P spread(const T * xyz) {
    if constexpr (__is_integral(P)) {
        return (P) xyz[0];
    } else {
        P r;
        for (size_t i = 0; i < sizeof(r.e) / sizeof(r.e[0]); ++i) r.e[i] = xyz[i];
        return r;
    }
}

template<int INDEX> struct buffer {
    template<class P> static SM_MEMBER decltype(auto) get(const Worker & worker, const Thread &) {
        if constexpr (__is_pointer(P)) {
            return (P) worker.buffers[INDEX];
        } else {
            typedef __remove_reference_t(P) Value;
            if constexpr (__is_const(Value)) {
                // A copy, which no store of the kernel can change: its members can stay in registers.
                typedef __remove_cv(Value) Copy;
                return Copy(*(Value *) worker.buffers[INDEX]);
            } else {
                return *(Value *) worker.buffers[INDEX];
            }
        }
    }
};

template<int INDEX> struct threadgroup_memory {
    template<class P> static SM_MEMBER P get(const Worker & worker, const Thread &) { return (P) worker.threadgroup_memory[INDEX]; }
};

#define SM_POSITION(name, ...) \
    struct name { \
        template<class P> static SM_MEMBER P get(const Worker & worker, const Thread & thread) { \
            (void) worker; \
            (void) thread; \
            const uint32_t xyz[3] = { __VA_ARGS__ }; \
            return spread<P>(xyz); \
        } \
    };
#define SM_XYZ(expression) expression(0), expression(1), expression(2)
#define SM_IN_GROUP(k) thread.position[k]
#define SM_GROUP(k) worker.position[k]
#define SM_THREADS(k) worker.threads[k]
#define SM_GROUPS(k) worker.grid[k]
#define SM_IN_GRID(k) worker.position[k] * worker.threads[k] + thread.position[k]
#define SM_GRID(k) worker.grid[k] * worker.threads[k]
SM_POSITION(thread_position_in_threadgroup, SM_XYZ(SM_IN_GROUP))
SM_POSITION(threadgroup_position_in_grid, SM_XYZ(SM_GROUP))
SM_POSITION(threads_per_threadgroup, SM_XYZ(SM_THREADS))
SM_POSITION(threadgroups_per_grid, SM_XYZ(SM_GROUPS))
SM_POSITION(thread_position_in_grid, SM_XYZ(SM_IN_GRID))
SM_POSITION(threads_per_grid, SM_XYZ(SM_GRID))
SM_POSITION(thread_index_in_threadgroup, thread.index)
SM_POSITION(thread_index_in_simdgroup, thread.index % SM_SIMD_WIDTH)
SM_POSITION(simdgroup_index_in_threadgroup, thread.index / SM_SIMD_WIDTH)
SM_POSITION(simdgroups_per_threadgroup, worker.n_simdgroups)
SM_POSITION(threads_per_simdgroup, SM_SIMD_WIDTH)
#undef SM_POSITION
#undef SM_XYZ
#undef SM_IN_GROUP
#undef SM_GROUP
#undef SM_THREADS
#undef SM_GROUPS
#undef SM_IN_GRID
#undef SM_GRID

template<auto Kernel, class... Bindings> struct kernel_entry;

template<class... P, void (*Kernel)(P...), class... Bindings> struct kernel_entry<Kernel, Bindings...> {
    static_assert(sizeof...(P) == sizeof...(Bindings), "one binding per parameter");

    static void lane(Worker & worker, uint32_t index) {
        const uint16_t * at = worker.lane_position[index];
        const Thread thread { index, { at[0], at[1], at[2] } };
        Kernel(Bindings::template get<P>(worker, thread)...);
    }

    // A kernel without barriers and collectives: lane after lane, nobody waits.
    static void threadgroup(Worker & worker) {
        Thread thread {};
        for (thread.position[2] = 0; thread.position[2] < worker.threads[2]; ++thread.position[2]) {
            for (thread.position[1] = 0; thread.position[1] < worker.threads[1]; ++thread.position[1]) {
                for (thread.position[0] = 0; thread.position[0] < worker.threads[0]; ++thread.position[0]) {
                    Kernel(Bindings::template get<P>(worker, thread)...);
                    ++thread.index;
                }
            }
        }
    }

    static constexpr Entry fibers { lane, nullptr };
    static constexpr Entry loop { nullptr, threadgroup };
};

} // namespace softmetal
