// Atomics on device and threadgroup memory. Threads of a dispatch may run on several CPU threads.
#pragma once

#include "scalar.h"

namespace metal {

enum memory_order { memory_order_relaxed = __ATOMIC_RELAXED };

template<class T> struct atomic { T value; };
typedef atomic<int>   atomic_int;
typedef atomic<uint>  atomic_uint;
typedef atomic<bool>  atomic_bool;
typedef atomic<float> atomic_float;
typedef atomic<ulong> atomic_ulong;

// `identity` keeps the value out of deduction: atomic_fetch_add_explicit(&uint, 1, ...) is common.
template<class T> using same_as = typename softmetal::identity<T>::type;

template<class T> SM_INLINE T atomic_load_explicit(const atomic<T> * a, memory_order) {
    T r;
    __atomic_load(&a->value, &r, __ATOMIC_RELAXED);
    return r;
}
template<class T> SM_INLINE void atomic_store_explicit(atomic<T> * a, same_as<T> x, memory_order) {
    __atomic_store(&a->value, &x, __ATOMIC_RELAXED);
}
template<class T> SM_INLINE T atomic_exchange_explicit(atomic<T> * a, same_as<T> x, memory_order) {
    T r;
    __atomic_exchange(&a->value, &x, &r, __ATOMIC_RELAXED);
    return r;
}
template<class T>
SM_INLINE bool atomic_compare_exchange_weak_explicit(atomic<T> * a, T * expected, same_as<T> x, memory_order, memory_order) {
    return __atomic_compare_exchange(&a->value, expected, &x, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

#define SM_ATOMIC_FETCH(name, next) \
    template<class T> SM_INLINE T atomic_fetch_##name##_explicit(atomic<T> * a, same_as<T> x, memory_order) { \
        T old = atomic_load_explicit(a, memory_order_relaxed); \
        T to; \
        do { to = next; } while (!__atomic_compare_exchange(&a->value, &old, &to, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
        return old; \
    }
SM_ATOMIC_FETCH(add, old + x)
SM_ATOMIC_FETCH(sub, old - x)
SM_ATOMIC_FETCH(min, (x < old ? x : old))
SM_ATOMIC_FETCH(max, (x > old ? x : old))
SM_ATOMIC_FETCH(and, old & x)
SM_ATOMIC_FETCH(or, old | x)
SM_ATOMIC_FETCH(xor, old ^ x)
#undef SM_ATOMIC_FETCH

} // namespace metal
