// Something of everything that the executor does, with results that are easy to tell; for native/test_kernels.m.
#include <metal_stdlib>

using namespace metal;

constant int factor [[function_constant(0)]];

// No collectives: lanes need no stacks of their own.
kernel void scale(device const int * src [[buffer(0)]], device int * dst [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    dst[i] = factor * src[i] + src[i] / (src[i] % 2); // half of them divide by zero, and go on
}

// A threadgroup's sum, over simdgroups, three times over.
kernel void total(device const int * src [[buffer(0)]], device int * dst [[buffer(1)]],
        threadgroup int * shared [[threadgroup(0)]],
        uint   i     [[thread_position_in_grid]],
        uint   group [[threadgroup_position_in_grid]],
        ushort tiitg [[thread_index_in_threadgroup]],
        ushort sgitg [[simdgroup_index_in_threadgroup]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    threadgroup int & result = shared[32];
    int sum = 0;
    for (int round = 0; round < 3; ++round) {
        if (sgitg == 0) {
            shared[tiisg] = 0;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        int part = simd_sum(src[i]);
        if (tiisg == 0) {
            shared[sgitg] = part;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        part = simd_sum(shared[tiisg]);
        if (tiitg == 0) {
            result = part;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum += result;
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (tiitg == 0) {
        dst[group] = sum;
    }
}

// Within a threadgroup, through memory that the kernel declares itself.
kernel void reverse(device const int * src [[buffer(0)]], device int * dst [[buffer(1)]],
        uint   i     [[thread_position_in_grid]],
        ushort tiitg [[thread_index_in_threadgroup]],
        ushort ntg   [[threads_per_threadgroup]]) {
    threadgroup int shared[1024];
    shared[tiitg] = src[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = shared[ntg - 1 - tiitg];
}

// Every threadgroup adds to the same counters.
kernel void tally(device const int * src [[buffer(0)]], device atomic_int * counts [[buffer(1)]],
        uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(counts + src[i] % 16, 1, memory_order_relaxed);
}

// Lanes that return early, branches with a collective each, and one for all who are left.
kernel void divergent(device const int * src [[buffer(0)]], device int * dst [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    if (i % 32 == 31) {
        dst[i] = -1;
        return;
    }
    int sum;
    if (i % 2 == 0) {
        sum = simd_sum(src[i]);
    } else {
        sum = simd_sum(src[i]) + 1000000;
    }
    dst[i] = sum + simd_sum(1);
}

// dst = a * b, one 8x8 matrix for each simdgroup.
kernel void product(device const float * a [[buffer(0)]], device float * dst [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    simdgroup_float8x8 left, right, sum = make_filled_simdgroup_matrix<float, 8>(0.f);
    device const float * at = a + i / 32 * 64;
    simdgroup_load(left, at, 8);
    simdgroup_load(right, at, 8, 0, true);
    simdgroup_multiply_accumulate(sum, left, right, sum);
    simdgroup_store(sum, dst + i / 32 * 64, 8);
}

// Small types, vectors and their rows.
kernel void narrow(device const int4 * src [[buffer(0)]], device float4 * dst [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    const char4 bytes = char4(src[i]);
    const half4 halves = half4(bytes) * 0.5h;
    const bfloat4 brain = bfloat4(float4(halves));
    dst[i] = float4(brain) + float4(as_type<uchar4>(bytes) >> 1) + float4(uint4(src[i]) << 33u % 32u);
}
