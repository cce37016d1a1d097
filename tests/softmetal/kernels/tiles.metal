// Simdgroup matrices: moving them, filling them, multiplying them.
#include <metal_stdlib>

using namespace metal;

template <typename T>
kernel void move(device const T * src, device T * dst, threadgroup T * shmem [[threadgroup(0)]],
        ushort tiisg [[thread_index_in_simdgroup]]) {
    simdgroup_matrix<T, 8, 8> m;
    simdgroup_load(m, src);
    simdgroup_store(m, dst);
    simdgroup_load(m, src, 20, ulong2(3, 2));
    simdgroup_store(m, dst + 64, 10, ulong2(1, 1));
    simdgroup_load(m, src, 9, 0, true);
    simdgroup_store(m, dst + 192, 8);
    simdgroup_load(m, src, 8);
    simdgroup_store(m, dst + 256, 8, 0, true);
    simdgroup_store(m, shmem, 8);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    dst[320 + tiisg]      = shmem[63 - tiisg];
    dst[320 + tiisg + 32] = shmem[31 - tiisg];
}

template <typename A, typename D>
kernel void products(device const A * a, device const A * b, device const D * c, device D * dst) {
    simdgroup_matrix<A, 8, 8> ma, mb;
    simdgroup_matrix<D, 8, 8> mc, md;
    simdgroup_load(ma, a);
    simdgroup_load(mb, b);
    simdgroup_load(mc, c);
    simdgroup_multiply_accumulate(md, ma, mb, mc);
    simdgroup_store(md, dst);
    simdgroup_multiply_accumulate(mc, ma, mb, mc);
    simdgroup_multiply_accumulate(mc, ma, mb, mc);
    simdgroup_store(mc, dst + 64);
    simdgroup_multiply(md, ma, mb);
    simdgroup_store(md, dst + 128);
    md = simdgroup_matrix<D, 8, 8>(3);
    simdgroup_store(md, dst + 192);
    md = make_filled_simdgroup_matrix<D, 8>(5);
    simdgroup_store(md, dst + 256);
}

template [[host_name("move_float")]]  kernel void move<float>(device const float *, device float *, threadgroup float *, ushort);
template [[host_name("move_half")]]   kernel void move<half>(device const half *, device half *, threadgroup half *, ushort);
template [[host_name("move_bfloat")]] kernel void move<bfloat>(device const bfloat *, device bfloat *, threadgroup bfloat *, ushort);
template [[host_name("products_float")]] kernel void products<float, float>(device const float *, device const float *, device const float *, device float *);
template [[host_name("products_half")]]  kernel void products<half, half>(device const half *, device const half *, device const half *, device half *);
template [[host_name("products_mixed")]] kernel void products<half, float>(device const half *, device const half *, device const float *, device float *);

// Each simdgroup has matrices of its own.
kernel void several(device const float * src, device float * dst, ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    simdgroup_float8x8 m[2];
    simdgroup_load(m[0], src + 64*sgitg);
    m[1] = simdgroup_float8x8(float(sgitg + 1));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_multiply(m[0], m[0], m[1]);
    simdgroup_store(m[0], dst + 64*sgitg);
}
