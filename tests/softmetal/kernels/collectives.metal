// Simdgroup functions of every type; lanes that are not there, that left, that went another way.
#include <metal_stdlib>

using namespace metal;

template <typename T>
kernel void reductions(device const T * src, device T * dst, constant uint & n, uint i [[thread_position_in_grid]]) {
    dst[0*n + i] = simd_sum(src[i]);
    dst[1*n + i] = simd_product(src[i]);
    dst[2*n + i] = simd_min(src[i]);
    dst[3*n + i] = simd_max(src[i]);
    dst[4*n + i] = simd_prefix_inclusive_sum(src[i]);
    dst[5*n + i] = simd_prefix_exclusive_sum(src[i]);
    dst[6*n + i] = simd_prefix_inclusive_product(src[i]);
    dst[7*n + i] = simd_prefix_exclusive_product(src[i]);
}

template <typename T>
kernel void shuffles(device const T * src, device T * dst, constant uint & n, uint i [[thread_position_in_grid]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    const T x = src[i];
    dst[0*n + i] = simd_shuffle(x, (7*tiisg + 3) % 32);
    dst[1*n + i] = simd_shuffle_xor(x, 5);
    dst[2*n + i] = simd_shuffle_down(x, 3);
    dst[3*n + i] = simd_shuffle_up(x, 3);
    dst[4*n + i] = simd_shuffle_rotate_down(x, 9);
    dst[5*n + i] = simd_shuffle_rotate_up(x, 9);
    dst[6*n + i] = simd_broadcast(x, 11);
    dst[7*n + i] = simd_broadcast_first(x);
    dst[8*n + i] = simd_shuffle_and_fill_down(x, src[(i + 1) % n], 2);
    dst[9*n + i] = simd_shuffle_and_fill_up(x, src[(i + 1) % n], 3, 8);
}

template <typename T>
kernel void bitwise(device const T * src, device T * dst, constant uint & n, uint i [[thread_position_in_grid]]) {
    dst[0*n + i] = simd_and(src[i]);
    dst[1*n + i] = simd_or(src[i]);
    dst[2*n + i] = simd_xor(src[i]);
}

#define NUMBERS(T) \
    template [[host_name("reductions_" #T)]] kernel void reductions<T>(device const T *, device T *, constant uint &, uint); \
    template [[host_name("shuffles_" #T)]]   kernel void shuffles<T>(device const T *, device T *, constant uint &, uint, ushort);
#define INTEGERS(T) NUMBERS(T) \
    template [[host_name("bitwise_" #T)]]    kernel void bitwise<T>(device const T *, device T *, constant uint &, uint);
INTEGERS(char) INTEGERS(uchar) INTEGERS(short) INTEGERS(ushort) INTEGERS(int) INTEGERS(uint) INTEGERS(long)
NUMBERS(half) NUMBERS(half4) NUMBERS(float) NUMBERS(float2) NUMBERS(float4) NUMBERS(bfloat) NUMBERS(char4) NUMBERS(int2)

kernel void nan_and_infinity(device const float * src, device float * dst, uint i [[thread_position_in_grid]]) {
    dst[4*i + 0] = simd_max(src[i]);
    dst[4*i + 1] = simd_min(src[i]);
    dst[4*i + 2] = simd_max((half) src[i]);
    dst[4*i + 3] = simd_max(float2(src[i])).y;
}

// Lanes with a set bit of `here` stay.
kernel void votes(constant uint & here, device const int * src, device uint * dst, uint i [[thread_position_in_grid]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    if ((here >> tiisg & 1) == 0) {
        return;
    }
    dst[8*i + 0] = (simd_vote::vote_t) simd_ballot(src[i] > 0);
    dst[8*i + 1] = simd_all(src[i] > 0);
    dst[8*i + 2] = simd_any(src[i] > 0);
    dst[8*i + 3] = (simd_vote::vote_t) simd_active_threads_mask();
    dst[8*i + 4] = simd_is_first();
    dst[8*i + 5] = simd_broadcast_first(src[i]);
    dst[8*i + 6] = simd_sum(src[i]);
    dst[8*i + 7] = simd_shuffle_xor(src[i], 1);
}

kernel void nested(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    int r = 0;
    if (i % 2 == 0) {
        if (i % 4 == 0) {
            r = simd_sum(src[i]);
        } else {
            r = 1000*simd_sum(1);
            if (i % 8 == 2) {
                r += simd_max(src[i]);
            }
        }
        r += 10000*simd_sum(1);
    } else if (i % 3 == 0) {
        r = simd_min(src[i]);
    }
    dst[i] = r + 1000000*simd_sum(1);
}

kernel void different_trips(device const int * trips, device int * dst, uint i [[thread_position_in_grid]]) {
    int r = 0;
    for (int k = 0; k < trips[i]; ++k) {
        r = 100*r + simd_sum(1);
    }
    dst[i] = r + simd_sum(1)*1000000;
}

// Half of the lanes take the branch: the others wait for them before the next turn.
kernel void branch_in_loop(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    int r = 0;
    for (int k = 0; k < 3; ++k) {
        r += simd_sum(1);
        if ((i + k) % 2 == 0) {
            r += 100*simd_sum(src[i]);
        }
    }
    dst[i] = r;
}

kernel void continue_in_loop(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    int r = 0;
    int k = 0;
    while (k < 4) {
        ++k;
        r += simd_sum(1);
        if (src[i] % (k + 1) == 0) {
            continue;
        }
        r += 100*simd_sum(1);
    }
    int m = 0;
    do {
        r += 10000*simd_sum(1);
        if (src[i] % 3 == m) continue;
        r += 1000000*simd_sum(1);
    } while (++m < 2);
    dst[i] = r;
}

// All lanes come to the same place again and again, after only some were at another one.
kernel void branch_then_loop(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    int r = 0;
    if (i % 2 == 0) {
        r = 1000*simd_max(src[i]);
    }
    for (int k = 0; k < 3; ++k) {
        r += simd_sum(src[i]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i % 3 == 0) {
        r += 100000*simd_min(src[i]);
    }
    for (int k = 0; k < 3; ++k) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    dst[i] = r;
}

kernel void inner_loop(device const int * trips, device int * dst, uint i [[thread_position_in_grid]]) {
    int r = 0;
    for (int k = 0; k < 2; ++k) {
        r += 10000*simd_sum(1);
        for (int m = 0; m < trips[i] - k; ++m)
            r += simd_sum(1);
    }
    dst[i] = r;
}

kernel void break_in_loop(device const int * trips, device int * dst, uint i [[thread_position_in_grid]]) {
    int r = 0;
    for (int k = 0; ; ++k) {
        if (k == trips[i]) {
            break;
        }
        r += simd_sum(1);
        if (simd_all(k > 6)) {
            break;
        }
    }
    dst[i] = r + 1000*simd_sum(1);
}

static int add_up(int x) {
    return simd_sum(x);
}

static int only_positive(int x) {
    if (x <= 0) {
        return 0;
    }
    return simd_sum(x);
}

// One call site inside the function, reached on two ways.
kernel void function_on_two_paths(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    int r;
    if (i % 2 == 0) {
        r = add_up(src[i]);
    } else {
        r = add_up(src[i]) + 1000;
    }
    dst[i] = r;
}

// The function stands before the branch in the text, and is called behind it.
kernel void function_after_branch(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    int r = 0;
    if (i % 2 == 0) {
        r = 1000*simd_sum(1);
    }
    dst[i] = r + add_up(1);
}

kernel void function_with_early_return(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    const int a = only_positive(src[i]);
    const int b = only_positive(-src[i]);
    dst[i] = a - b + 100000*add_up(1);
}

kernel void function_in_loop(device const int * trips, device int * dst, uint i [[thread_position_in_grid]]) {
    int r = 0;
    for (int k = 0; k < 5; ++k) {
        if (k < trips[i])
            r += add_up(1);
        r += 100*add_up(k);
    }
    dst[i] = r;
}

template <typename T>
static T largest(T x) {
    return simd_max(x);
}

// One place in the text, two types of one size.
kernel void template_on_two_paths(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    if (i % 2 == 0) {
        dst[i] = (int) largest((float) -src[i]);
    } else {
        dst[i] = largest(src[i]);
    }
}

kernel void cases(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    int r = 0;
    switch (src[i] % 3) {
        case 0: r = simd_sum(1); break;
        case 1: r = 100*simd_sum(1); // falls through
        default: r += 10000*simd_sum(1);
    }
    dst[i] = r + 1000000*simd_sum(1);
}

kernel void choices(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    const bool even = i % 2 == 0;
    int r = even ? simd_sum(src[i]) : simd_sum(src[i]) + 1000; if (even && simd_all(src[i] < 50)) { r += 10000; } r += simd_sum(1)*100000;
    dst[i] = r;
}

#define BOTH(x) (even ? simd_sum(x) : 1000 + simd_sum(x))
kernel void on_one_line(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    const bool even = i % 2 == 0;
    dst[i] = BOTH(src[i]) + 10000*(i % 3 == 0 ? simd_sum(1) : simd_sum(100 + 0*BOTH(src[i])));
}

// Which simdgroups come depends on data, all lanes of each alike.
kernel void uniform_branch(device const int * src, device int * dst, uint i [[thread_position_in_grid]],
        ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    int r = 0;
    if (sgitg % 2 == 0) {
        r = simd_sum(src[i]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int k = 0; k < sgitg; ++k) {
        r += 100000*simd_sum(1);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = r;
}

// Barriers between collectives, in a loop whose end all lanes learn from threadgroup memory.
kernel void halving(device const int * src, device int * dst, threadgroup int * shmem [[threadgroup(0)]],
        uint i [[thread_index_in_threadgroup]], uint ntg [[threads_per_threadgroup]],
        ushort sgitg [[simdgroup_index_in_threadgroup]], ushort tiisg [[thread_index_in_simdgroup]],
        ushort nsg [[simdgroups_per_threadgroup]]) {
    int x      = src[i];
    int rounds = 0;
    while (true) {
        const int most = simd_max(x);
        if (tiisg == 0) {
            shmem[sgitg] = most;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        int all = 0;
        for (int k = 0; k < nsg; ++k) {
            all = max(all, shmem[k]);
        }
        if (all <= 1) {
            break;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        x /= 2;
        ++rounds;
    }
    dst[i] = rounds;
}
