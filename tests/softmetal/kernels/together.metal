// Lanes of a simdgroup, simdgroups of a threadgroup.
#include <metal_stdlib>

using namespace metal;

kernel void sums(device const float * src, device float * dst,
        uint   i     [[thread_position_in_grid]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    dst[8*i + 0] = simd_sum(src[i]);
    dst[8*i + 1] = simd_max(src[i]);
    dst[8*i + 2] = simd_min(src[i]);
    dst[8*i + 3] = simd_prefix_inclusive_sum(src[i]);
    dst[8*i + 4] = simd_prefix_exclusive_sum(src[i]);
    dst[8*i + 5] = simd_shuffle_xor(src[i], 1);
    dst[8*i + 6] = simd_shuffle_down(src[i], 3);
    dst[8*i + 7] = simd_broadcast(src[i], 3);
}

kernel void sum_of_vectors(device const float4 * src, device float4 * dst, uint i [[thread_position_in_grid]]) {
    dst[i] = simd_sum(src[i]);
}

// Each half of the simdgroup sums on its own, at its own place.
kernel void divergent(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    int r;
    if (i % 2 == 0) {
        r = simd_sum(src[i]);
    } else {
        r = simd_sum(src[i]) + 1000;
    }
    dst[i] = r + 10000*simd_sum(1);
}

kernel void early_return(device const int * src, device int * dst, uint i [[thread_position_in_grid]]) {
    if (i % 3 == 1) {
        return;
    }
    dst[i] = simd_sum(src[i]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] += simd_sum(1);
}

// Each lane leaves in a round of its own; the others see who is left.
kernel void leave_one_by_one(device const int * leaves_in, device int * dst,
        uint   i   [[thread_index_in_threadgroup]],
        ushort ntg [[threads_per_threadgroup]]) {
    for (int round = 0; round < ntg; ++round) {
        if (leaves_in[i] == round) {
            return;
        }
        dst[i] += simd_sum(1);
        if (i % 2 == 0) {
            dst[i] += 100*simd_max((int) i);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

kernel void reverse(device const int * src, device int * dst,
        threadgroup int * shmem [[threadgroup(0)]],
        uint   i   [[thread_index_in_threadgroup]],
        ushort ntg [[threads_per_threadgroup]],
        uint   group [[threadgroup_position_in_grid]]) {
    threadgroup int first[4];
    threadgroup int last[2*(1 + 1)];
    threadgroup int count;
    if (i < 4) {
        first[i] = src[group*ntg + i];
        last[i]  = src[group*ntg + ntg - 4 + i];
        count    = ntg;
    }
    shmem[i] = src[group*ntg + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[group*ntg + i] = shmem[ntg - 1 - i] + 10000*first[i % 4] + 20000*last[i % 4] + count;
}

// A reduction over simdgroups in a loop, as mat-vec kernels have it.
kernel void total(device const float * src, device float * dst,
        threadgroup float * shmem [[threadgroup(0)]],
        uint3  tgpig [[threadgroup_position_in_grid]],
        ushort tiitg [[thread_index_in_threadgroup]],
        ushort ntg   [[threads_per_threadgroup]],
        ushort tiisg [[thread_index_in_simdgroup]],
        ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    for (short round = 0; round < 3; ++round) {
        if (sgitg == 0) {
            shmem[tiisg] = 0.0f;
        }
        const float sum = simd_sum(src[tgpig.x*ntg + tiitg]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (tiisg == 0) {
            shmem[sgitg] = sum;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const float all = simd_sum(shmem[tiisg]);
        if (tiitg == 0) {
            dst[3*tgpig.x + round] = all;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

kernel void multiply_matrices(device const half * a, device const half * b, device float * c,
        threadgroup half * shmem [[threadgroup(0)]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    shmem[2*tiisg]     = b[2*tiisg];
    shmem[2*tiisg + 1] = b[2*tiisg + 1];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_half8x8 ma, mb;
    simdgroup_float8x8 mc = make_filled_simdgroup_matrix<float, 8>(1.0f);
    simdgroup_load(ma, a, 8, 0, true);
    simdgroup_load(mb, shmem, 8);
    simdgroup_multiply_accumulate(mc, ma, mb, mc);
    simdgroup_store(mc, c, 8);
}
