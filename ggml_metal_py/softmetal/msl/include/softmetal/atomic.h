// Atomics on device and threadgroup memory. Threads of a dispatch may run on several CPU threads.
#pragma once

#include "scalar.h"

namespace metal {

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4, mem_threadgroup_imageblock = 8 };
SM_INLINE mem_flags operator|(mem_flags a, mem_flags b) { return (mem_flags) ((int) a | (int) b); }

// Each operation is done in one order for all threads, which is more than the only order that Metal has asks for.
enum memory_order { memory_order_relaxed, memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst };
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };

template<class T> struct atomic { T value; };
typedef atomic<int>   atomic_int;
typedef atomic<uint>  atomic_uint;
typedef atomic<bool>  atomic_bool;
typedef atomic<float> atomic_float;
typedef atomic<ulong> atomic_ulong;

// `identity` keeps the value out of deduction: atomic_fetch_add_explicit(&uint, 1, ...) is common.
template<class T> using same_as = typename softmetal::identity<T>::type;

template<class T> SM_INLINE T atomic_load_explicit(const volatile atomic<T> * a, memory_order) {
    T r;
    __atomic_load(&a->value, &r, __ATOMIC_SEQ_CST);
    return r;
}
template<class T> SM_INLINE void atomic_store_explicit(volatile atomic<T> * a, same_as<T> x, memory_order) {
    __atomic_store(&a->value, &x, __ATOMIC_SEQ_CST);
}
template<class T> SM_INLINE T atomic_exchange_explicit(volatile atomic<T> * a, same_as<T> x, memory_order) {
    T r;
    __atomic_exchange(&a->value, &x, &r, __ATOMIC_SEQ_CST);
    return r;
}
template<class T>
SM_INLINE bool atomic_compare_exchange_weak_explicit(volatile atomic<T> * a, T * expected, same_as<T> x, memory_order, memory_order) {
    return __atomic_compare_exchange(&a->value, expected, &x, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
SM_INLINE void atomic_thread_fence(mem_flags, memory_order, thread_scope = thread_scope_device) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Integers wrap.
template<class T> SM_INLINE T wrapped_sum(T a, T b) { return a + b; }
template<class T> SM_INLINE T wrapped_difference(T a, T b) { return a - b; }
SM_INLINE int wrapped_sum(int a, int b) { return (int) ((uint) a + (uint) b); }
SM_INLINE int wrapped_difference(int a, int b) { return (int) ((uint) a - (uint) b); }

#define SM_ATOMIC_FETCH(name, next) \
    template<class T> SM_INLINE T atomic_fetch_##name##_explicit(volatile atomic<T> * a, same_as<T> x, memory_order) { \
        T old = atomic_load_explicit(a, memory_order_relaxed); \
        T to; \
        do { to = next; } while (!__atomic_compare_exchange(&a->value, &old, &to, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
        return old; \
    }
SM_ATOMIC_FETCH(add, wrapped_sum(old, x))
SM_ATOMIC_FETCH(sub, wrapped_difference(old, x))
SM_ATOMIC_FETCH(min, (x < old ? x : old))
SM_ATOMIC_FETCH(max, (x > old ? x : old))
SM_ATOMIC_FETCH(and, old & x)
SM_ATOMIC_FETCH(or, old | x)
SM_ATOMIC_FETCH(xor, old ^ x)
#undef SM_ATOMIC_FETCH
template<class T> SM_INLINE void atomic_min_explicit(volatile atomic<T> * a, same_as<T> x, memory_order order) { atomic_fetch_min_explicit(a, x, order); }
template<class T> SM_INLINE void atomic_max_explicit(volatile atomic<T> * a, same_as<T> x, memory_order order) { atomic_fetch_max_explicit(a, x, order); }

} // namespace metal
