// Threadgroup memory of a kernel's own and of the dispatch, barriers, atomics.
#include <metal_stdlib>

using namespace metal;

struct pair {
    float  a;
    float4 b;
};

// Several variables, in nested scopes, each where its alignment wants it. dst: offsets, then what was read back.
kernel void variables(device const float * src, device float * dst, device uint * offsets,
        uint i [[thread_index_in_threadgroup]]) {
    threadgroup char   bytes[5];
    threadgroup float4 vectors[3], one;
    threadgroup pair   pairs[2];
    if (i < 5) {
        bytes[i] = (char) src[i];
    }
    if (i < 3) {
        vectors[i] = float4(src[4*i], src[4*i + 1], src[4*i + 2], src[4*i + 3]);
    }
    if (i == 3) {
        one      = float4(src[12]);
        pairs[1] = { src[13], float4(src[14]) };
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float inner = 0;
    {
        threadgroup float scoped[4];
        if (i < 4) {
            scoped[i] = src[i + 16];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        inner = scoped[3 - i%4];
        offsets[2] = (uint) ((threadgroup char *) scoped - (threadgroup char *) bytes);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    {
        threadgroup half scoped[4];
        scoped[i%4] = (half) i;
        offsets[3] = (uint) ((threadgroup char *) scoped - (threadgroup char *) bytes);
    }
    offsets[0] = (uint) ((threadgroup char *) vectors - (threadgroup char *) bytes);
    offsets[1] = (uint) ((threadgroup char *) &one - (threadgroup char *) bytes);
    offsets[4] = (uint) ((threadgroup char *) pairs - (threadgroup char *) bytes);
    dst[4*i + 0] = bytes[i%5];
    dst[4*i + 1] = vectors[i%3].y + vectors[2].w;
    dst[4*i + 2] = one.z + pairs[1].a + pairs[1].b.w;
    dst[4*i + 3] = inner;
}

static float total(threadgroup const float * values, uint n) {
    float r = 0;
    for (uint k = 0; k < n; ++k) {
        r += values[k];
    }
    return r;
}

static void put(threadgroup float * values, threadgroup float & other, uint i, float x) {
    values[i] = x;
    if (i == 0) {
        other = 100*x;
    }
}

// Two arguments in threadgroup memory, at argument slots that are not next to each other, and a variable.
kernel void arguments(device const float * src, device float * dst,
        threadgroup float * first [[threadgroup(1)]], threadgroup float2 * second [[threadgroup(4)]],
        uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    threadgroup float other;
    put(first, other, i, src[i]);
    second[i] = float2(src[i], -src[i]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = total(first, n) + second[n - 1 - i].y + other;
}

template <typename T, int N>
kernel void typed_variable(device T * dst, uint i [[thread_index_in_threadgroup]]) {
    constexpr int n = 2*N;
    threadgroup T values[n];
    for (int k = i; k < n; k += 32) {
        values[k] = T(k);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int k = i; k < n; k += 32) {
        dst[k] = values[n - 1 - k];
    }
}
template [[host_name("typed_float")]] kernel void typed_variable<float, 100>(device float *, uint);
template [[host_name("typed_short")]] kernel void typed_variable<short, 7>(device short *, uint);

kernel void no_variable(device float * dst, uint i [[thread_index_in_threadgroup]]) {
    dst[i] = i;
}

// Rounds of writing and reading, the number of rounds from a buffer.
kernel void rotate_values(device const int * rounds, device int * dst, threadgroup int * shmem [[threadgroup(0)]],
        uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    int x = i;
    for (int k = 0; k < *rounds; ++k) {
        shmem[i] = x;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        x = shmem[(i + 1)%n];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    dst[i] = x;
}

// The same with one barrier a round, two buffers, do-while and a pointer that changes.
kernel void rotate_swapping(device const int * rounds, device int * dst, threadgroup int * shmem [[threadgroup(0)]],
        uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    threadgroup int * from = shmem;
    threadgroup int * to   = shmem + n;
    from[i] = i;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int k = 0;
    do {
        to[i] = from[(i + 1)%n];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        threadgroup int * t = from;
        from = to;
        to   = t;
    } while (++k < *rounds);
    dst[i] = from[i];
}

// Some return before the barriers; the others do not wait for them.
kernel void barrier_without_all(device const int * src, device int * dst, threadgroup int * shmem [[threadgroup(0)]],
        uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    shmem[i] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (src[i] < 0) {
        return;
    }
    shmem[i] = src[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int sum = 0;
    for (uint k = 0; k < n; ++k) {
        sum += shmem[k];
    }
    dst[i] = sum;
}

// Metal forbids this: lanes wait at different barriers. Here they all count as one.
kernel void different_barriers(device int * dst, threadgroup int * shmem [[threadgroup(0)]],
        uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    shmem[i] = i;
    if (i%3 == 0) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        dst[i] = shmem[n - 1 - i];
    } else {
        shmem[i] += simd_sum(1);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        dst[i] = -shmem[n - 1 - i];
    }
}

// Device memory within a threadgroup, too.
kernel void device_memory(device int * scratch, device int * dst, uint i [[thread_index_in_threadgroup]],
        uint n [[threads_per_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
    scratch[group*n + i] = i*i;
    threadgroup_barrier(mem_flags::mem_device);
    dst[group*n + i] = scratch[group*n + n - 1 - i];
}

kernel void count_up(device atomic_int * ints, device atomic_uint * uints, device atomic<float> * floats,
        device atomic_ulong * longs, uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(&ints[0], 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&ints[1], 2, memory_order_relaxed);
    atomic_fetch_min_explicit(&ints[2], (int) (1000 - i), memory_order_relaxed);
    atomic_fetch_max_explicit(&ints[3], (int) i, memory_order_relaxed);
    atomic_fetch_add_explicit(&ints[4], 0x70000000, memory_order_relaxed);
    atomic_fetch_or_explicit(&uints[0], 1u << i%32, memory_order_relaxed);
    atomic_fetch_and_explicit(&uints[1], ~(1u << i%31), memory_order_relaxed);
    atomic_fetch_xor_explicit(&uints[2], i, memory_order_relaxed);
    atomic_fetch_add_explicit(&uints[3], 0x10000000, memory_order_relaxed);
    atomic_fetch_add_explicit(&floats[0], 0.5f, memory_order_relaxed);
    atomic_fetch_sub_explicit(&floats[1], 1.0f, memory_order_relaxed);
    atomic_max_explicit(&longs[0], (ulong) i << 33, memory_order_relaxed);
    atomic_min_explicit(&longs[1], (ulong) i << 33, memory_order_relaxed);
}

// Every value is handed out once.
kernel void tickets(device atomic_uint * counter, device uint * dst, uint i [[thread_position_in_grid]]) {
    dst[i] = atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

kernel void exchanges(device atomic_int * a, device int * dst, volatile device atomic_int * same) {
    dst[0] = atomic_load_explicit(&a[0], memory_order_relaxed);
    atomic_store_explicit(&a[0], 7, memory_order_relaxed);
    dst[1] = atomic_exchange_explicit(&a[0], 9, memory_order_relaxed);
    int expected = 9;
    while (!atomic_compare_exchange_weak_explicit(&a[0], &expected, 11, memory_order_relaxed, memory_order_relaxed)) {
    }
    dst[2] = expected;
    expected = 5;
    dst[3] = atomic_compare_exchange_weak_explicit(&a[0], &expected, 13, memory_order_relaxed, memory_order_relaxed);
    dst[4] = expected;
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    dst[5] = atomic_load_explicit(same, memory_order_relaxed);
}

kernel void histogram(device const uchar * src, device atomic_uint * dst, constant uint & n,
        uint i [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
        uint groups [[threadgroups_per_grid]], uint threads [[threads_per_threadgroup]]) {
    threadgroup atomic_uint counts[16];
    threadgroup atomic_int  largest;
    if (i < 16) {
        atomic_store_explicit(&counts[i], 0, memory_order_relaxed);
    }
    if (i == 0) {
        atomic_store_explicit(&largest, 0, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = group*threads + i; k < n; k += groups*threads) {
        atomic_fetch_add_explicit(&counts[src[k]%16], 1, memory_order_relaxed);
        atomic_fetch_max_explicit(&largest, src[k], memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < 16) {
        atomic_fetch_add_explicit(&dst[i], atomic_load_explicit(&counts[i], memory_order_relaxed), memory_order_relaxed);
    }
    if (i == 16) {
        atomic_fetch_max_explicit(&dst[16], (uint) atomic_load_explicit(&largest, memory_order_relaxed), memory_order_relaxed);
    }
}

// What is there at the beginning, of an own variable and of two arguments; then something else is.
kernel void beginning(device uchar * dst [[buffer(0)]], threadgroup uchar * a [[threadgroup(0)]], threadgroup uchar * b [[threadgroup(3)]],
        uint group [[threadgroup_position_in_grid]]) {
    threadgroup uchar own[48];
    device uchar * to = dst + group*(48 + 16 + 80);
    for (int i = 0; i < 48; ++i) {
        *to++  = own[i];
        own[i] = 1;
    }
    for (int i = 0; i < 16; ++i) {
        *to++ = a[i];
        a[i]  = 2;
    }
    for (int i = 0; i < 80; ++i) {
        *to++ = b[i];
        b[i]  = 3;
    }
}
