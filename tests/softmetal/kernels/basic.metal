#include <metal_stdlib>

using namespace metal;

constant float FC_scale [[function_constant(3)]];
constant bool  FC_twice [[function_constant(7)]];
constant float offset = is_function_constant_defined(FC_scale) ? FC_scale : 100.0;

struct scale_args {
    int   n;
    float factor;
};

kernel void scale(
        constant scale_args & args,
        device const float * src,
        device       float * dst,
        uint i [[thread_position_in_grid]]) {
    if (i >= args.n) {
        return;
    }
    dst[i] = src[i]*args.factor;
}

kernel void constants(device float * dst, uint i [[thread_index_in_threadgroup]]) {
    dst[0] = FC_scale;
    dst[1] = FC_twice ? 2 : 1;
    dst[2] = is_function_constant_defined(FC_scale);
    dst[3] = is_function_constant_defined(FC_twice);
    dst[4] = offset;
}

template <typename T>
kernel void divide(device const T * a, device const T * b, device T * quotient, device T * rest,
        uint i [[thread_position_in_grid]]) {
    quotient[i] = a[i]/b[i];
    rest[i]     = a[i]%b[i];
}

typedef decltype(divide<int>) divide_t;

template [[host_name("divide_int")]]   kernel divide_t divide<int>;
template [[host_name("divide_uint")]]  kernel void     divide<uint>(device const uint *, device const uint *, device uint *, device uint *, uint);
template [[host_name("divide_short")]] kernel decltype(divide<short>) divide<short>;
template [[host_name("divide_long")]]  kernel decltype(divide<long>) divide<long>;

// The same, by lanes that wait for each other.
template <typename T>
kernel void divide_waiting(device const T * a, device const T * b, device T * quotient, device T * rest,
        uint i [[thread_position_in_grid]]) {
    threadgroup_barrier(mem_flags::mem_none);
    quotient[i] = a[i]/b[i];
    rest[i]     = a[i]%b[i];
}

template [[host_name("divide_waiting_int")]]  kernel decltype(divide_waiting<int>)  divide_waiting<int>;
template [[host_name("divide_waiting_uint")]] kernel decltype(divide_waiting<uint>) divide_waiting<uint>;
template [[host_name("divide_waiting_long")]] kernel decltype(divide_waiting<long>) divide_waiting<long>;

kernel void divide_vectors(device const int4 * a, device const int4 * b, device int4 * quotient,
        uint i [[thread_position_in_grid]]) {
    quotient[i] = a[i]/b[i];
}

kernel void packed_vectors(device const packed_char4 * src, device float4 * wide, device packed_char4 * dst,
        uint i [[thread_position_in_grid]]) {
    const packed_char4 packed = src[i];
    wide[i] = float4(packed)*0.5f;
    dst[i]  = packed_char4(char4(packed) + char4(1));
}

kernel void positions(device uint * dst,
        uint3  tgpig [[threadgroup_position_in_grid]],
        uint3  tpig  [[thread_position_in_grid]],
        ushort3 tpitg [[thread_position_in_threadgroup]],
        uint3  ntg   [[threads_per_threadgroup]],
        uint3  tgpg  [[threadgroups_per_grid]],
        uint   tiitg [[thread_index_in_threadgroup]],
        ushort tiisg [[thread_index_in_simdgroup]],
        ushort sgitg [[simdgroup_index_in_threadgroup]],
        uint   nsg   [[simdgroups_per_threadgroup]]) {
    const uint group = (tgpig.z*tgpg.y + tgpig.y)*tgpg.x + tgpig.x;
    device uint * out = dst + (group*ntg.x*ntg.y*ntg.z + tiitg)*8;
    out[0] = tpitg.x;
    out[1] = tpitg.y;
    out[2] = tpitg.z;
    out[3] = tpig.x;
    out[4] = tpig.y;
    out[5] = tiisg;
    out[6] = sgitg;
    out[7] = nsg;
}

kernel void exponential(device const float * src, device float * dst, uint i [[thread_position_in_grid]]) {
    dst[i] = exp(src[i]);
}

kernel void hyperbolic_tangent(device const float4 * src, device float4 * dst, uint i [[thread_position_in_grid]]) {
    dst[i] = precise::tanh(src[i]);
}

kernel void nan_rule(device const float * a, device const float * b, device float * dst, uint i [[thread_position_in_grid]]) {
    dst[2*i + 0] = min(a[i], b[i]);
    dst[2*i + 1] = fmax(a[i], b[i]);
}

kernel void literals(device float * dst) {
    const half h = 1.5h;
    dst[0] = h;
    dst[1] = 1e-3*3;
    dst[2] = 0x10 + 1.;
    dst[3] = sizeof(0.5);
}

kernel void bfloats(device const float * src, device bfloat * dst, device float4 * sum, uint i [[thread_position_in_grid]]) {
    dst[i] = (bfloat) src[i];
    if (i == 0) {
        sum[0] = (float4) (bfloat4(1.5f) + bfloat4(0.25f)*bfloat4(2.0f));
    }
}
