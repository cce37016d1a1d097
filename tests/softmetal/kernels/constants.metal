// Function constants of every type, and what can be made of them.
#include <metal_stdlib>

using namespace metal;

constant bool     FC_bool   [[function_constant(0)]];
constant char     FC_char   [[function_constant(1)]];
constant uchar    FC_uchar  [[function_constant(2)]];
constant short    FC_short  [[function_constant(3)]];
constant ushort   FC_ushort [[function_constant(4)]];
constant int32_t  FC_int    [[function_constant(5)]];
constant uint     FC_uint   [[function_constant(6)]];
constant half     FC_half   [[function_constant(7)]];
constant float    FC_float  [[function_constant(8)]];
constant long     FC_long   [[function_constant(9)]];

#define FC_BASE 400
constant int FC_offset [[function_constant(FC_BASE + 20/2)]];

// Computed from others, and from each other.
constant int  twice    = 2*FC_int;
constant bool has_int  = is_function_constant_defined(FC_int);
constant int  or_seven = is_function_constant_defined(FC_int) ? FC_int : 7;
constant bool large    = has_int && or_seven > 100;
constant float scaled  = FC_bool ? FC_float*2.0f : -1.0f;

// Not a function constant at all.
constant int table[4] = { 10, 20, 30, 40 };

kernel void values(device float * dst) {
    dst[0]  = FC_bool;
    dst[1]  = FC_char;
    dst[2]  = FC_uchar;
    dst[3]  = FC_short;
    dst[4]  = FC_ushort;
    dst[5]  = FC_int;
    dst[6]  = FC_uint;
    dst[7]  = FC_half;
    dst[8]  = FC_float;
    dst[9]  = FC_long;
    dst[10] = FC_offset;
}

kernel void defined(device int * dst) {
    dst[0]  = is_function_constant_defined(FC_bool);
    dst[1]  = is_function_constant_defined(FC_char);
    dst[2]  = is_function_constant_defined(FC_uchar);
    dst[3]  = is_function_constant_defined(FC_short);
    dst[4]  = is_function_constant_defined(FC_ushort);
    dst[5]  = is_function_constant_defined(FC_int);
    dst[6]  = is_function_constant_defined(FC_uint);
    dst[7]  = is_function_constant_defined(FC_half);
    dst[8]  = is_function_constant_defined(FC_float);
    dst[9]  = is_function_constant_defined(FC_long);
    dst[10] = is_function_constant_defined(FC_offset);
}

static int of_function(int x) {
    return x + FC_int;
}

template <int N>
kernel void computed(device float * dst, uint i [[thread_position_in_grid]]) {
    dst[0] = twice;
    dst[1] = has_int;
    dst[2] = or_seven;
    dst[3] = large;
    dst[4] = scaled;
    dst[5] = of_function(N);
    dst[6] = table[FC_uchar%4];
    int turns = 0;
    for (int k = 0; k < FC_short; ++k) {
        turns += table[k%4];
    }
    dst[7] = turns;
    switch (FC_ushort) {
        case 1:  dst[8] = 100; break;
        case 2:  dst[8] = 200; break;
        default: dst[8] = 300;
    }
}
template [[host_name("computed_5")]] kernel void computed<5>(device float *, uint);

// A constant steers which of the barriers all lanes come to.
kernel void steered(device int * dst, threadgroup int * shmem [[threadgroup(0)]], uint i [[thread_index_in_threadgroup]],
        uint n [[threads_per_threadgroup]]) {
    shmem[i] = i;
    if (FC_bool) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        dst[i] = shmem[n - 1 - i];
    } else {
        dst[i] = simd_sum(shmem[i]);
    }
}
