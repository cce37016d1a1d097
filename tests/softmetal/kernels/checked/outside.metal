#include "common.h"

kernel void store_one_beyond(ARGUMENTS) {
    dst[i + 1] = src[i]; // out-of-bounds 1.1.31
}
kernel void store_one_beyond_right(ARGUMENTS) {
    dst[i] = src[i];
}

kernel void load_one_beyond(ARGUMENTS) {
    dst[i] = i < n ? src[i + 1] : 0.0f; // out-of-bounds 1.1.31
}
kernel void load_one_beyond_right(ARGUMENTS) {
    dst[i] = i < n - 1 ? src[i + 1] : 0.0f;
}

kernel void load_one_before(ARGUMENTS) {
    dst[i] = src[(int) i - 1]; // out-of-bounds 0.0.0
}
kernel void load_one_before_right(ARGUMENTS) {
    dst[i] = src[i == 0 ? 0 : (int) i - 1];
}

kernel void vector_beyond_the_row(ARGUMENTS) {
    device const float4 * row = (device const float4 *) (src + 124);
    float4 v = row[0];
    if (i == 7) {
        v += row[1]; // out-of-bounds 0.0.7
    }
    dst[i] = v.x + v.y + v.z + v.w;
}
kernel void vector_beyond_the_row_right(ARGUMENTS) {
    device const float4 * row = (device const float4 *) (src + 120);
    float4 v = row[0];
    if (i == 7) {
        v += row[1];
    }
    dst[i] = v.x + v.y + v.z + v.w;
}

kernel void load_from_nowhere(ARGUMENTS) {
    device const float * far = src + (ulong) i * 0x1000000000;
    dst[i] = *far; // out-of-bounds 0.0.1
}

struct eight { float x[8]; };
kernel void copy_beyond(ARGUMENTS) {
    if (i < 16) {
        device eight * to         = (device eight *) dst + i;
        device const eight * from = (device const eight *) (src + 4) + i;
        *to = *from; // out-of-bounds 0.0.15
    }
}
kernel void copy_beyond_right(ARGUMENTS) {
    if (i < 16) {
        device eight * to         = (device eight *) dst + i;
        device const eight * from = (device const eight *) src + i;
        *to = *from;
    }
}

constant float table[12] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8 };
kernel void table_beyond(ARGUMENTS) {
    dst[i] = table[min(i, 12u)]; // out-of-bounds 0.0.12
}
kernel void table_beyond_right(ARGUMENTS) {
    dst[i] = table[min(i, 11u)];
}

kernel void more_threadgroup_memory_than_asked_for(ARGUMENTS) {
    shared[t + 1] = src[i]; // threadgroup-overrun 0.1.31
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = t == 0 ? 0.0f : shared[t];
}
kernel void more_threadgroup_memory_than_asked_for_right(ARGUMENTS) {
    shared[t] = src[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = shared[t];
}

kernel void threadgroup_variable_too_small(ARGUMENTS) {
    threadgroup float own[60];
    own[t] = src[i]; // threadgroup-overrun 0.1.28
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = t < 60 ? own[t] : 0.0f;
}
kernel void threadgroup_variable_too_small_right(ARGUMENTS) {
    threadgroup float own[64];
    own[t] = src[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = own[t];
}

kernel void write_to_a_constant(device float * dst [[buffer(1)]], constant uint * list [[buffer(2)]], POSITIONS) {
    *(device uint *) list = 3; // write-to-readonly 0.0.0
    dst[i] = list[0];
}

kernel void into_the_next_variable(ARGUMENTS) {
    threadgroup float one[64];
    threadgroup float two[64];
    two[t]     = 1.0f;
    one[t + 1] = src[i]; // threadgroup-overrun 0.1.31
    dst[i] = two[t];
}
kernel void into_the_next_variable_right(ARGUMENTS) {
    threadgroup float one[64];
    threadgroup float two[64];
    two[t] = 1.0f;
    one[t] = src[i];
    dst[i] = two[t];
}

kernel void tile_beyond(ARGUMENTS) {
    simdgroup_float8x8 tile = make_filled_simdgroup_matrix<float, 8>(1.0f);
    if (t < 32 && group == 0) {
        simdgroup_store(tile, dst + 100, 8); // out-of-bounds 0.0.0
    }
}
kernel void tile_beyond_right(ARGUMENTS) {
    simdgroup_float8x8 tile = make_filled_simdgroup_matrix<float, 8>(1.0f);
    if (t < 32) {
        simdgroup_store(tile, dst + group * 64, 8);
    }
}
