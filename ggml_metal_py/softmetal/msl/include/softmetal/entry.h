// From the dispatch to a kernel's parameters. The translator names one binding per parameter, and the compiler
// takes the parameters' types from the kernel itself:
//
//     const Entry entry = kernel_entry<&kernel_add, buffer<0>, buffer<1>, thread_position_in_grid>::fibers;
#pragma once

#include "vector.h"

namespace softmetal {

// What all threads of a threadgroup have in common. A copy, which no store of the kernel can change: values stay
// in registers, and what is computed from them is computed once for a loop over threads.
struct Group {
    uint32_t position[3], threads[3], grid[3], n_simdgroups;

    SM_MEMBER explicit Group(const Worker & worker) : n_simdgroups(worker.n_simdgroups) {
        for (int k = 0; k < 3; ++k) {
            position[k] = worker.position[k];
            threads[k]  = worker.threads[k];
            grid[k]     = worker.grid[k];
        }
    }
};

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

// A binding is made once for a threadgroup, and gives the parameter of each of its threads.
template<class P, int INDEX> struct buffer_pointer {
    P pointer;
    SM_MEMBER explicit buffer_pointer(const Worker & worker) : pointer((P) worker.buffers[INDEX]) {}
    SM_MEMBER P get(const Group &, const Thread &) const { return pointer; }
};

// A reference. To a constant it is one to a copy, for the same reason as above.
template<class V, int INDEX> struct buffer_reference {
    V & value;
    SM_MEMBER explicit buffer_reference(const Worker & worker) : value(*(V *) worker.buffers[INDEX]) {}
    SM_MEMBER V & get(const Group &, const Thread &) const { return value; }
};
template<class V, int INDEX> struct buffer_reference<const V, INDEX> {
    V value;
    SM_MEMBER explicit buffer_reference(const Worker & worker) : value(*(const V *) worker.buffers[INDEX]) {}
    SM_MEMBER const V & get(const Group &, const Thread &) const { return value; }
};

template<int INDEX> struct buffer {
    template<class P> struct of : buffer_pointer<P, INDEX> { using buffer_pointer<P, INDEX>::buffer_pointer; };
    template<class V> struct of<V &> : buffer_reference<V, INDEX> { using buffer_reference<V, INDEX>::buffer_reference; };
};

template<int INDEX> struct threadgroup_memory {
    template<class P> struct of {
        P pointer;
        SM_MEMBER explicit of(const Worker & worker) : pointer((P) worker.threadgroup_memory[INDEX]) {}
        SM_MEMBER P get(const Group &, const Thread &) const { return pointer; }
    };
};

#define SM_POSITION(name, ...) \
    struct name { \
        template<class P> struct of { \
            SM_MEMBER explicit of(const Worker &) {} \
            SM_MEMBER P get(const Group & group, const Thread & thread) const { \
                (void) group; \
                (void) thread; \
                const uint32_t xyz[3] = { __VA_ARGS__ }; \
                return spread<P>(xyz); \
            } \
        }; \
    };
#define SM_XYZ(expression) expression(0), expression(1), expression(2)
#define SM_IN_GROUP(k) thread.position[k]
#define SM_GROUP(k) group.position[k]
#define SM_THREADS(k) group.threads[k]
#define SM_GROUPS(k) group.grid[k]
#define SM_IN_GRID(k) group.position[k] * group.threads[k] + thread.position[k]
#define SM_GRID(k) group.grid[k] * group.threads[k]
SM_POSITION(thread_position_in_threadgroup, SM_XYZ(SM_IN_GROUP))
SM_POSITION(threadgroup_position_in_grid, SM_XYZ(SM_GROUP))
SM_POSITION(threads_per_threadgroup, SM_XYZ(SM_THREADS))
SM_POSITION(threadgroups_per_grid, SM_XYZ(SM_GROUPS))
SM_POSITION(thread_position_in_grid, SM_XYZ(SM_IN_GRID))
SM_POSITION(threads_per_grid, SM_XYZ(SM_GRID))
SM_POSITION(thread_index_in_threadgroup, thread.index)
SM_POSITION(thread_index_in_simdgroup, thread.index % SM_SIMD_WIDTH)
SM_POSITION(simdgroup_index_in_threadgroup, thread.index / SM_SIMD_WIDTH)
SM_POSITION(simdgroups_per_threadgroup, group.n_simdgroups)
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
        call(Group(worker), Thread { index, { at[0], at[1], at[2] } }, typename Bindings::template of<P>(worker)...);
    }

    // A kernel without barriers and collectives: lane after lane, nobody waits.
    static void threadgroup(Worker & worker) {
        loop_over(Group(worker), typename Bindings::template of<P>(worker)...);
    }

    // A kernel whose threads share its loops (strides.py): the first takes all their turns.
    static void all_turns(Worker & worker) {
        if (worker.threads[1] * worker.threads[2] != 1) {
            threadgroup(worker);
            return;
        }
        Group group(worker);
        group.threads[0] = 1;
        call(group, Thread {}, typename Bindings::template of<P>(worker)...);
    }

    static SM_MEMBER void loop_over(const Group group, const typename Bindings::template of<P>... bound) {
        Thread thread {};
        for (thread.position[2] = 0; thread.position[2] < group.threads[2]; ++thread.position[2]) {
            for (thread.position[1] = 0; thread.position[1] < group.threads[1]; ++thread.position[1]) {
                for (thread.position[0] = 0; thread.position[0] < group.threads[0]; ++thread.position[0]) {
                    Kernel(bound.get(group, thread)...);
                    ++thread.index;
                }
            }
        }
    }

    static SM_MEMBER void call(const Group group, const Thread thread, const typename Bindings::template of<P>... bound) {
        Kernel(bound.get(group, thread)...);
    }

    static constexpr Entry fibers { lane, nullptr };
    static constexpr Entry loop { nullptr, threadgroup };
    static constexpr Entry turns { nullptr, all_turns };
};

} // namespace softmetal
