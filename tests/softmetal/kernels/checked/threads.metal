#include "common.h"

kernel void read_without_barrier(ARGUMENTS) {
    shared[t] = src[i]; // other 0.0.0
    dst[i] = sg == 1 ? shared[t - 32] : 0.0f; // race 0.1.0
}
kernel void read_without_barrier_right(ARGUMENTS) {
    shared[t] = src[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = sg == 1 ? shared[t - 32] : 0.0f;
}

kernel void overwritten_without_barrier(ARGUMENTS) {
    shared[t] = src[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = shared[t % 32]; // other 0.1.0
    threadgroup_barrier(mem_flags::mem_none);
    if (sg == 0) {
        shared[t] = 1.0f; // race 0.0.0
    }
}
kernel void overwritten_without_barrier_right(ARGUMENTS) {
    shared[t] = src[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = shared[t % 32];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (sg == 0) {
        shared[t] = 1.0f;
    }
}

kernel void barrier_for_other_memory(ARGUMENTS) {
    shared[t] = src[i]; // other 0.0.0
    threadgroup_barrier(mem_flags::mem_device);
    dst[i] = sg == 1 ? shared[t - 32] : 0.0f; // race 0.1.0
}

kernel void device_memory_without_its_barrier(ARGUMENTS) {
    dst[i] = src[i]; // other 0.0.0
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (sg == 1) {
        dst[i] = dst[i - 32] + 1.0f; // race 0.1.0
    }
}
kernel void device_memory_without_its_barrier_right(ARGUMENTS) {
    dst[i] = src[i];
    threadgroup_barrier(mem_flags::mem_device);
    if (sg == 1) {
        dst[i] = dst[i - 32] + 1.0f;
    }
}

kernel void barrier_of_the_simdgroup_only(ARGUMENTS) {
    shared[t] = src[i]; // other 0.0.0
    simdgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = sg == 1 ? shared[t - 32] : 0.0f; // race 0.1.0
}
kernel void barrier_of_the_simdgroup_only_right(ARGUMENTS) {
    shared[t] = src[i];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = shared[t ^ 1];
}

kernel void lane_0_writes_and_others_read(ARGUMENTS) {
    if (lane == 0) {
        shared[sg] = src[i]; // other 0.0.0
    }
    dst[i] = shared[sg]; // lockstep-reliance 0.0.1
}
kernel void lane_0_writes_and_others_read_right(ARGUMENTS) {
    if (lane == 0) {
        shared[sg] = src[i];
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = shared[sg];
}

kernel void ordered_by_a_sum_only(ARGUMENTS) {
    shared[t] = src[i]; // other 0.0.1
    const float sum = simd_sum(src[i]);
    dst[i] = shared[t ^ 1] + sum; // lockstep-reliance 0.0.0
}
kernel void ordered_by_a_sum_only_right(ARGUMENTS) {
    shared[t] = src[i];
    const float sum = simd_sum(src[i]);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = shared[t ^ 1] + sum;
}

kernel void all_read_and_one_overwrites(ARGUMENTS) {
    shared[t] = src[i];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    const float first = shared[sg * 32]; // other 0.0.31
    if (lane == 0) {
        shared[sg * 32] = 1.0f; // lockstep-reliance 0.0.0
    }
    dst[i] = first;
}
kernel void all_read_and_one_overwrites_right(ARGUMENTS) {
    shared[t] = src[i];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    const float first = shared[sg * 32];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) {
        shared[sg * 32] = 1.0f;
    }
    dst[i] = first;
}

kernel void two_values_for_one_place(ARGUMENTS) {
    if (sg == 0) {
        shared[t / 2] = (float) t; // race 0.0.1, other 0.0.0
    }
    dst[i] = src[i];
}
// Metal does not promise that all see the same value being written as one; nobody can tell the difference, though.
kernel void one_value_for_one_place_right(ARGUMENTS) {
    shared[0] = 7.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[i] = shared[0];
}

kernel void threadgroups_write_the_same_place(ARGUMENTS) {
    if (t == 5) {
        dst[0] = (float) group; // race 1.0.5, other 0.0.5
    }
}
kernel void threadgroups_write_the_same_place_right(ARGUMENTS) {
    if (t == 5) {
        dst[group] = (float) group;
    }
}

kernel void reads_what_another_threadgroup_wrote(ARGUMENTS) {
    dst[i] = src[i]; // other 0.0.0
    if (group == 1) {
        dst[i] += dst[i - 64]; // race 1.0.0
    }
}

kernel void counts_without_atomics(ARGUMENTS) {
    device uint * plain = (device uint *) counter;
    if (t == 0) {
        *plain = *plain + 1; // race 1.0.0, other 0.0.0
    }
    dst[i] = src[i];
}
kernel void counts_without_atomics_right(ARGUMENTS) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    dst[i] = src[i];
}

kernel void counts_with_atomics_and_reads_without(ARGUMENTS) {
    if (group == 0) {
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); // other 0.1.31
    } else if (t == 3) {
        dst[i] = (float) *(device uint *) counter; // race 1.0.3
    }
}

kernel void sum_in_steps_without_barriers(ARGUMENTS) {
    shared[t] = src[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 32) {
        shared[t] += shared[t + 32]; // other 0.0.16
    }
    simdgroup_barrier(mem_flags::mem_none);
    if (t < 16) {
        shared[t] += shared[t + 16]; // lockstep-reliance 0.0.0
    }
    dst[i] = src[i];
}
kernel void sum_in_steps_without_barriers_right(ARGUMENTS) {
    shared[t] = src[i];
    for (uint step = 32; step > 0; step /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < step) {
            shared[t] += shared[t + step];
        }
    }
    dst[i] = src[i];
}

kernel void two_buffers_one_barrier_too_few(ARGUMENTS) {
    float sum = 0.0f;
    for (uint turn = 0; turn < 3; ++turn) {
        threadgroup float * now = shared + turn % 1 * 32;
        if (sg == 0) {
            now[lane] = src[i] + turn; // other 0.0.0
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum += now[lane]; // race 0.1.0
    }
    dst[i] = sum;
}
kernel void two_buffers_one_barrier_too_few_right(ARGUMENTS) {
    float sum = 0.0f;
    for (uint turn = 0; turn < 3; ++turn) {
        threadgroup float * now = shared + turn % 2 * 32;
        if (sg == 0) {
            now[lane] = src[i] + turn;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum += now[lane];
    }
    dst[i] = sum;
}

kernel void tile_read_before_all_wrote(ARGUMENTS) {
    simdgroup_float8x8 tile;
    shared[t] = src[i]; // other 0.0.0
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (sg == 1) {
        simdgroup_load(tile, shared, 8); // race 0.1.0
        simdgroup_multiply(tile, tile, tile);
        simdgroup_store(tile, dst + group * 64, 8);
    }
}
