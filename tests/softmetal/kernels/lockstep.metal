// Exchange through threadgroup memory within a simdgroup, without a barrier: right only when lanes move together.
#include <metal_stdlib>

using namespace metal;

#define N 32

// A: every lane writes, then reads what another one wrote.
kernel void neighbour(device const int * src, device int * dst,
        threadgroup int * shmem [[threadgroup(0)]],
        ushort tiisg [[thread_index_in_simdgroup]],
        ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    threadgroup int * mine = shmem + sgitg*N;
    mine[tiisg] = src[sgitg*N + tiisg];
    dst[sgitg*N + tiisg] = mine[(tiisg + 1)%N];
}

// A: one lane that is not the first writes, all read.
kernel void one_writes(device const int * src, device int * dst,
        threadgroup int * shmem [[threadgroup(0)]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    if (tiisg == 17) {
        shmem[0] = src[3];
    }
    dst[tiisg] = shmem[0];
}

// B: all read, then one overwrites, several times.
kernel void all_read(device const int * src, device int * dst,
        threadgroup int * shmem [[threadgroup(0)]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    if (tiisg == 0) {
        shmem[0] = src[0];
    }
    int sum = 0;
    for (short i = 1; i < 5; ++i) {
        sum += shmem[0];
        if (tiisg == 0) {
            shmem[0] = src[i];
        }
    }
    dst[tiisg] = sum;
}

// B: the writer is another lane in each round.
kernel void changing_writer(device const int * src, device int * dst,
        threadgroup int * shmem [[threadgroup(0)]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    shmem[tiisg] = 0;
    int sum = 0;
    for (short i = 0; i < 8; ++i) {
        if (tiisg == 3*i)
            shmem[0] = src[i];
        sum = 10*sum + shmem[0];
    }
    dst[tiisg] = sum;
}

// Tree reduction with a shrinking set of lanes.
kernel void tree(device const int * src, device int * dst,
        threadgroup int * shmem [[threadgroup(0)]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    auto mine = shmem + tiisg;
    mine[0] = src[tiisg];
    for (short k = N/2; k > 0; k /= 2) {
        if (tiisg < k) {
            mine[0] += mine[k];
        }
    }
    if (tiisg == 0) {
        dst[0] = shmem[0];
    }
}

// Only some lanes come here, and they exchange among themselves.
kernel void some_lanes(device const int * src, device int * dst,
        threadgroup int * shmem [[threadgroup(0)]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    dst[tiisg] = -1;
    if (tiisg % 2 == 1) {
        shmem[tiisg] = src[tiisg];
        dst[tiisg] = shmem[(tiisg + 2)%N];
    }
}

// Through two pointers to the same area.
kernel void two_types(device const int * src, device int2 * dst,
        threadgroup char * shmem [[threadgroup(0)]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    threadgroup int  * s  = (threadgroup int  *) shmem;
    threadgroup int2 * s2 = (threadgroup int2 *) shmem;
    s[tiisg]      = src[tiisg];
    s[N + tiisg]  = src[N + tiisg];
    dst[tiisg]    = s2[tiisg];
}

// No place is needed: own elements, an area for each purpose, barriers.
kernel void no_hazard(device const float * src, device float * dst,
        threadgroup float * shmem [[threadgroup(0)]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    threadgroup float * a = shmem;
    threadgroup float * b = shmem + 32;
    for (short i = 0; i < 4; ++i) {
        a[tiisg] = src[tiisg];
        b[tiisg] = a[tiisg] + 1;
        b[tiisg] *= 2;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        dst[tiisg] = a[31 - tiisg] + b[31 - tiisg];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}
