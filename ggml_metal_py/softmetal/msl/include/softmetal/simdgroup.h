// metal_simdgroup and the barriers.
//
// A collective is computed once for all its lanes: each lane puts its argument into Simdgroup::in and waits; when
// no lane of the simdgroup can run any more, the executor calls the collective's `run` for the lanes that came
// to it, and each finds its result in Simdgroup::out.
#pragma once

#include "atomic.h"
#include "math.h"

namespace softmetal {

// Where a call stands in the source: sites are ordered by the number that the translator gives each call
// (converge.py), in headers by line. Two calls in one place, through templates, still differ by operation and type.
struct Place {
    uint32_t line, column;
    SM_MEMBER constexpr Site site(uint32_t operation, size_t size, uint32_t type = 0) const {
        return (line + 1) << 15 | ((column + type) % 64 << 9 ^ operation << 5 ^ size);
    }
};

template<class T> struct type_number { static constexpr uint32_t value = 0; };
#define SM_TYPE_NUMBER(T, number) \
    template<> struct type_number<T> { static constexpr uint32_t value = number; }; \
    template<int N> struct type_number<vec<T, N>> { static constexpr uint32_t value = number + 16; };
SM_TYPE_NUMBER(char, 1)
SM_TYPE_NUMBER(uchar, 2)
SM_TYPE_NUMBER(short, 3)
SM_TYPE_NUMBER(ushort, 4)
SM_TYPE_NUMBER(int, 5)
SM_TYPE_NUMBER(uint, 6)
SM_TYPE_NUMBER(long, 7)
SM_TYPE_NUMBER(ulong, 8)
SM_TYPE_NUMBER(half, 9)
SM_TYPE_NUMBER(bfloat, 10)
SM_TYPE_NUMBER(float, 11)
#undef SM_TYPE_NUMBER

#define SM_PLACE uint sm_line = __builtin_LINE(), uint sm_column = __builtin_COLUMN()
#define SM_HERE softmetal::Place { sm_line, sm_column }

template<class T> SM_INLINE T & slot(char * base, uint32_t lane) { return ((T *) base)[lane]; }

template<class Operation, class T> SM_INLINE T collective(T value, Place place) {
    static_assert(sizeof(T) <= 16, "a simdgroup function takes at most 16 bytes of each lane");
    wait_with(value, place.site(Operation::id, sizeof(T), type_number<T>::value), Operation::template run<T>);
    return slot<T>(current_worker().simdgroups[current_lane() / SM_SIMD_WIDTH].out, current_lane() % SM_SIMD_WIDTH);
}

template<class Visit> SM_INLINE void for_lanes(uint32_t mask, Visit visit) {
    if (mask == ~0u) {
        for (int i = 0; i < SM_SIMD_WIDTH; ++i) visit(i);
    } else {
        for (uint32_t rest = mask; rest; rest &= rest - 1) visit(__builtin_ctz(rest));
    }
}

template<class T> SM_INLINE void give_all(Simdgroup & group, uint32_t mask, T result) {
    for_lanes(mask, [&](int i) { slot<T>(group.out, i) = result; });
}

struct Sum {
    static constexpr uint32_t id = 1;
    template<class T> static void run(Simdgroup & group, uint32_t mask) {
        const T * in = (const T *) group.in;
        T sum        = T(0);
        if (mask == ~0u) { // in a tree: vectorises, and rounds less than one long chain
            T part[8];
            for (int i = 0; i < 8; ++i) part[i] = (in[i] + in[i + 8]) + (in[i + 16] + in[i + 24]);
            for (int i = 0; i < 4; ++i) part[i] += part[i + 4];
            sum = (part[0] + part[2]) + (part[1] + part[3]);
        } else {
            for_lanes(mask, [&](int i) { sum += in[i]; });
        }
        give_all(group, mask, sum);
    }
};

#define SM_REDUCTION(name, number, combine) \
    struct name { \
        static constexpr uint32_t id = number; \
        template<class T> static void run(Simdgroup & group, uint32_t mask) { \
            const T * in = (const T *) group.in; \
            T r          = in[__builtin_ctz(mask)]; \
            for_lanes(mask & (mask - 1), [&](int i) { r = combine; }); \
            give_all(group, mask, r); \
        } \
    };
SM_REDUCTION(Product, 2, r * in[i])
SM_REDUCTION(And, 5, r & in[i])
SM_REDUCTION(Or, 6, r | in[i])
SM_REDUCTION(Xor, 7, r ^ in[i])
#undef SM_REDUCTION

// A number wins over NaN, as with min and max.
#define SM_EXTREME(name, number, function) \
    struct name { \
        static constexpr uint32_t id = number; \
        template<class T> static void run(Simdgroup & group, uint32_t mask) { \
            const T * in = (const T *) group.in; \
            if (mask == ~0u) { \
                T part[8]; \
                for (int i = 0; i < 8; ++i) part[i] = function(function(in[i], in[i + 8]), function(in[i + 16], in[i + 24])); \
                for (int i = 0; i < 4; ++i) part[i] = function(part[i], part[i + 4]); \
                give_all(group, mask, (T) function(function(part[0], part[2]), function(part[1], part[3]))); \
                return; \
            } \
            T r = in[__builtin_ctz(mask)]; \
            for_lanes(mask, [&](int i) { r = function(in[i], r); }); \
            give_all(group, mask, r); \
        } \
    };
SM_EXTREME(Min, 3, min)
SM_EXTREME(Max, 4, max)
#undef SM_EXTREME

#define SM_PREFIX(Inclusive, Exclusive, number, first, op) \
    struct Inclusive { \
        static constexpr uint32_t id = number; \
        template<class T> static void run(Simdgroup & group, uint32_t mask) { \
            T r = T(first); \
            for_lanes(mask, [&](int i) { slot<T>(group.out, i) = r = r op slot<T>(group.in, i); }); \
        } \
    }; \
    struct Exclusive { \
        static constexpr uint32_t id = number + 1; \
        template<class T> static void run(Simdgroup & group, uint32_t mask) { \
            T r = T(first); \
            for_lanes(mask, [&](int i) { \
                slot<T>(group.out, i) = r; \
                r                     = r op slot<T>(group.in, i); \
            }); \
        } \
    };
SM_PREFIX(InclusiveSum, ExclusiveSum, 8, 0, +)
SM_PREFIX(InclusiveProduct, ExclusiveProduct, 12, 1, *)
#undef SM_PREFIX

// Each lane takes the argument of the lane that it named in Simdgroup::source, its own if that one is not here.
struct Shuffle {
    static constexpr uint32_t id = 10;
    template<class T> static void run(Simdgroup & group, uint32_t mask) {
        for_lanes(mask, [&](int i) {
            const uint32_t from   = group.source[i];
            slot<T>(group.out, i) = slot<T>(group.in, mask == ~0u || mask >> from & 1 ? from : i);
        });
    }
};
struct BroadcastFirst {
    static constexpr uint32_t id = 14;
    template<class T> static void run(Simdgroup & group, uint32_t mask) { give_all(group, mask, slot<T>(group.in, __builtin_ctz(mask))); }
};

struct Ballot {
    static constexpr uint32_t id = 11;
    template<class T> static void run(Simdgroup & group, uint32_t mask) {
        T vote = 0;
        for_lanes(mask, [&](int i) { vote |= slot<T>(group.in, i) << i; });
        give_all(group, mask, vote);
    }
};

template<class T> SM_INLINE T shuffle(T value, uint32_t from, Place place) {
    current_worker().simdgroups[current_lane() / SM_SIMD_WIDTH].source[current_lane() % SM_SIMD_WIDTH] = from;
    return collective<Shuffle>(value, place);
}

// The point between two statements that the translator adds where lanes of a simdgroup exchange data through
// threadgroup memory without a barrier, because on a GPU they move in lockstep.
SM_INLINE void lockstep() { wait_at(SITE_LOCKSTEP, nullptr); }

// Where lanes that went different ways wait for each other, see converge.py.
SM_INLINE void converge(uint32_t number) { wait_at(Place { number, 0 }.site(0, 0), nullptr); }

// What checked mode wants to know of barriers (exec/checked/): which one a lane waits at, and that a simdgroup's
// lanes all came to theirs.
#if defined(SM_CHECKED)
extern "C" void softmetal_at_barrier(uint32_t flags, void * spot); // msl/instrument.py adds the spot
extern "C" void softmetal_simdgroup_fence(Simdgroup *, uint32_t flags);
SM_INLINE void note_barrier(mem_flags flags) { softmetal_at_barrier((uint32_t) flags, nullptr); }
template<uint32_t FLAGS> static void fence_with(Simdgroup & group, uint32_t) { softmetal_simdgroup_fence(&group, FLAGS); }
SM_INLINE Collective fence(mem_flags flags) {
    constexpr Collective by_flags[] = { fence_with<0>, fence_with<1>, fence_with<2>, fence_with<3> };
    return by_flags[(uint32_t) flags & 3];
}
#else
SM_INLINE void note_barrier(mem_flags) {}
SM_INLINE Collective fence(mem_flags) { return nullptr; }
#endif

} // namespace softmetal

namespace metal {

SM_INLINE void threadgroup_barrier(mem_flags flags) {
    softmetal::note_barrier(flags);
    softmetal::wait_at(softmetal::SITE_BARRIER, nullptr);
}

// With mem_none it orders no memory: it is a hint for the GPU's scheduler, and nothing here.
SM_INLINE void simdgroup_barrier(mem_flags flags, SM_PLACE) {
    if (flags != mem_flags::mem_none) {
        softmetal::wait_at(SM_HERE.site(0, 0), softmetal::fence(flags));
    }
}

#define SM_COLLECTIVE(name, operation) \
    template<class T> SM_INLINE T name(T value, SM_PLACE) { return softmetal::collective<softmetal::operation>(value, SM_HERE); }
SM_COLLECTIVE(simd_sum, Sum)
SM_COLLECTIVE(simd_product, Product)
SM_COLLECTIVE(simd_min, Min)
SM_COLLECTIVE(simd_max, Max)
SM_COLLECTIVE(simd_and, And)
SM_COLLECTIVE(simd_or, Or)
SM_COLLECTIVE(simd_xor, Xor)
SM_COLLECTIVE(simd_prefix_inclusive_sum, InclusiveSum)
SM_COLLECTIVE(simd_prefix_exclusive_sum, ExclusiveSum)
SM_COLLECTIVE(simd_prefix_inclusive_product, InclusiveProduct)
SM_COLLECTIVE(simd_prefix_exclusive_product, ExclusiveProduct)
SM_COLLECTIVE(simd_broadcast_first, BroadcastFirst)
#undef SM_COLLECTIVE

SM_INLINE bool simd_all(bool value, SM_PLACE) { return softmetal::collective<softmetal::And>((uchar) value, SM_HERE) != 0; }
SM_INLINE bool simd_any(bool value, SM_PLACE) { return softmetal::collective<softmetal::Or>((uchar) value, SM_HERE) != 0; }

class simd_vote {
    ulong bits;

public:
    typedef ulong vote_t;
    SM_MEMBER explicit simd_vote(vote_t v = 0) : bits(v) {}
    SM_MEMBER explicit operator vote_t() const { return bits; }
    SM_MEMBER bool all() const { return bits == 0xffffffff; }
    SM_MEMBER bool any() const { return bits != 0; }
};
SM_INLINE simd_vote simd_ballot(bool value, SM_PLACE) {
    return simd_vote(softmetal::collective<softmetal::Ballot>((ulong) value, SM_HERE));
}

SM_INLINE simd_vote simd_active_threads_mask(SM_PLACE) { return simd_ballot(true, sm_line, sm_column); }
SM_INLINE bool simd_is_first(SM_PLACE) {
    const uint lane = softmetal::current_lane() % SM_SIMD_WIDTH;
    return softmetal::collective<softmetal::BroadcastFirst>(lane, SM_HERE) == lane;
}

template<class T> SM_INLINE T simd_shuffle(T value, ushort lane, SM_PLACE) { return softmetal::shuffle(value, lane % SM_SIMD_WIDTH, SM_HERE); }
template<class T> SM_INLINE T simd_broadcast(T value, ushort lane, SM_PLACE) { return softmetal::shuffle(value, lane % SM_SIMD_WIDTH, SM_HERE); }
template<class T> SM_INLINE T simd_shuffle_xor(T value, ushort mask, SM_PLACE) {
    return softmetal::shuffle(value, (softmetal::current_lane() ^ mask) % SM_SIMD_WIDTH, SM_HERE);
}
// Lanes that would reach beyond the simdgroup keep their own value.
template<class T> SM_INLINE T simd_shuffle_down(T value, ushort delta, SM_PLACE) {
    const uint lane = softmetal::current_lane() % SM_SIMD_WIDTH;
    return softmetal::shuffle(value, lane + delta < SM_SIMD_WIDTH ? lane + delta : lane, SM_HERE);
}
template<class T> SM_INLINE T simd_shuffle_up(T value, ushort delta, SM_PLACE) {
    const uint lane = softmetal::current_lane() % SM_SIMD_WIDTH;
    return softmetal::shuffle(value, lane >= delta ? lane - delta : lane, SM_HERE);
}
template<class T> SM_INLINE T simd_shuffle_rotate_down(T value, ushort delta, SM_PLACE) {
    return softmetal::shuffle(value, (softmetal::current_lane() + delta) % SM_SIMD_WIDTH, SM_HERE);
}
template<class T> SM_INLINE T simd_shuffle_rotate_up(T value, ushort delta, SM_PLACE) {
    return softmetal::shuffle(value, (softmetal::current_lane() - delta) % SM_SIMD_WIDTH, SM_HERE);
}
// What shifting brings in from beyond the end of each `modulo` lanes comes from the other end of `filling`.
template<class T> SM_INLINE T simd_shuffle_and_fill_down(T value, T filling, ushort delta, ushort modulo, SM_PLACE) {
    const uint lane = softmetal::current_lane() % SM_SIMD_WIDTH, within = lane % modulo, first = lane - within;
    const T inside  = softmetal::shuffle(value, first + (within + delta) % modulo, SM_HERE);
    const T outside = softmetal::shuffle(filling, first + (within + delta) % modulo, softmetal::Place { sm_line, sm_column + 1 });
    return within + delta < modulo ? inside : outside;
}
template<class T> SM_INLINE T simd_shuffle_and_fill_down(T value, T filling, ushort delta, SM_PLACE) {
    return simd_shuffle_and_fill_down(value, filling, delta, (ushort) SM_SIMD_WIDTH, sm_line, sm_column);
}
template<class T> SM_INLINE T simd_shuffle_and_fill_up(T value, T filling, ushort delta, ushort modulo, SM_PLACE) {
    const uint lane = softmetal::current_lane() % SM_SIMD_WIDTH, within = lane % modulo, first = lane - within;
    const T inside  = softmetal::shuffle(value, first + (within + modulo - delta) % modulo, SM_HERE);
    const T outside = softmetal::shuffle(filling, first + (within + modulo - delta) % modulo, softmetal::Place { sm_line, sm_column + 1 });
    return within >= delta ? inside : outside;
}
template<class T> SM_INLINE T simd_shuffle_and_fill_up(T value, T filling, ushort delta, SM_PLACE) {
    return simd_shuffle_and_fill_up(value, filling, delta, (ushort) SM_SIMD_WIDTH, sm_line, sm_column);
}

} // namespace metal
