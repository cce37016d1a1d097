#include "common.h"

kernel void barrier_in_a_branch(ARGUMENTS) {
    dst[i] = src[i];
    if (t < 40) {
        threadgroup_barrier(mem_flags::mem_threadgroup); // divergent-barrier 0.0.0
    } // other 0.1.8 returned
}
kernel void barrier_in_a_branch_right(ARGUMENTS) {
    dst[i] = src[i];
    if (group == 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

kernel void barrier_after_return(ARGUMENTS) {
    if (t == 63) {
        return; // other 0.1.31 returned
    }
    threadgroup_barrier(mem_flags::mem_threadgroup); // divergent-barrier 0.0.0
    dst[i] = src[i];
}
kernel void barrier_after_return_right(ARGUMENTS) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 63) {
        return;
    }
    dst[i] = src[i];
}

kernel void two_barriers_in_two_branches(ARGUMENTS) {
    if (sg == 0) {
        dst[i] = src[i];
        threadgroup_barrier(mem_flags::mem_threadgroup); // divergent-barrier 0.0.0
    } else {
        threadgroup_barrier(mem_flags::mem_threadgroup); // other 0.1.0
        dst[i] = 2 * src[i];
    }
}

kernel void as_many_barriers_as_the_lane_says(ARGUMENTS) {
    for (uint turn = 0; turn < 1 + t / 60; ++turn) {
        threadgroup_barrier(mem_flags::mem_threadgroup); // divergent-barrier 0.1.28
    }
    dst[i] = src[i]; // other 0.0.0 returned
}
kernel void as_many_barriers_as_the_lane_says_right(ARGUMENTS) {
    for (uint turn = 0; turn < 1 + group; ++turn) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    dst[i] = src[i];
}
