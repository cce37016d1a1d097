#include "common.h"

kernel void result_as_input(ARGUMENTS) {
    dst[i] = dst[i] + src[i]; // uninitialised-read 0.0.0
}
kernel void result_as_input_right(ARGUMENTS) {
    dst[i] = src[i];
    dst[i] = dst[i] + src[i];
}

kernel void threadgroup_memory_as_input(ARGUMENTS) {
    shared[t] += src[i]; // uninitialised-read 0.0.0
    dst[i] = shared[t];
}
kernel void threadgroup_memory_as_input_right(ARGUMENTS) {
    shared[t] = 0.0f;
    shared[t] += src[i];
    dst[i] = shared[t];
}

kernel void half_of_it_written(ARGUMENTS) {
    if (t < 40) {
        shared[t] = src[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = shared[t]; // uninitialised-read 0.1.8
}
kernel void half_of_it_written_right(ARGUMENTS) {
    if (t < 40) {
        shared[t] = src[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = t < 40 ? shared[t] : 0.0f;
}

kernel void bytes_between_unwritten(ARGUMENTS) {
    threadgroup half * halves = (threadgroup half *) shared;
    halves[2 * t] = (half) src[i];
    dst[i] = shared[t]; // uninitialised-read 0.0.0
}
kernel void bytes_between_unwritten_right(ARGUMENTS) {
    threadgroup half * halves = (threadgroup half *) shared;
    halves[2 * t]     = (half) src[i];
    halves[2 * t + 1] = 0.0h;
    dst[i] = shared[t];
}

kernel void tile_without_values(ARGUMENTS) {
    simdgroup_float8x8 tile;
    if (sg == 0) {
        simdgroup_load(tile, shared, 8); // uninitialised-read 0.0.0
        simdgroup_multiply(tile, tile, tile);
        simdgroup_store(tile, dst + group * 64, 8);
    }
}
kernel void tile_without_values_right(ARGUMENTS) {
    simdgroup_float8x8 tile;
    shared[t] = src[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (sg == 0) {
        simdgroup_load(tile, shared, 8);
        simdgroup_store(tile, dst + group * 64, 8);
    }
}
