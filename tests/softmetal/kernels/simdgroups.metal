// Which simdgroup, and which thread, comes first where nothing says so.
#include <metal_stdlib>
using namespace metal;

static void append(device atomic_int * log, int value) {
    atomic_store_explicit(log + 1 + atomic_fetch_add_explicit(log, 1, memory_order_relaxed), value, memory_order_relaxed);
}

// Each simdgroup but the second one before and behind a barrier, that one before it: log[++log[0]] = its number.
kernel void simdgroups(device atomic_int * log [[buffer(0)]],
        ushort sgitg [[simdgroup_index_in_threadgroup]], ushort tiisg [[thread_index_in_simdgroup]]) {
    if (simd_sum(1) > 0 && tiisg == 0) {
        append(log, sgitg);
    }
    if (sgitg == 1) {
        return;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tiisg == 0) {
        append(log, 100 + sgitg);
    }
}

// A barrier is missing between the writes of two simdgroups: the later one wins.
kernel void last_writer(device int * dst [[buffer(0)]], threadgroup int * shared [[threadgroup(0)]],
        ushort sgitg [[simdgroup_index_in_threadgroup]], uint i [[thread_index_in_threadgroup]]) {
    shared[0] = sgitg;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = shared[0];
}

// The sum of what the threads before this one have, in the order of threads.
kernel void sums(device const int * src [[buffer(0)]], device int * dst [[buffer(1)]], threadgroup int * shared [[threadgroup(0)]],
        ushort sgitg [[simdgroup_index_in_threadgroup]], ushort tiisg [[thread_index_in_simdgroup]],
        uint i [[thread_index_in_threadgroup]]) {
    const int sum = simd_prefix_exclusive_sum(src[i]);
    if (tiisg == 31) {
        shared[sgitg] = sum + src[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int before = 0;
    for (int k = 0; k < sgitg; ++k) {
        before += shared[k];
    }
    dst[i] = before + sum;
}

// No barrier, nothing that waits.
kernel void threads(device atomic_int * log [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
    append(log, i);
}
