// Kernels whose threads may share their loops, and such that look alike and do not.
#include <metal_stdlib>
using namespace metal;

struct row_args {
    int  n;
    uint stride;
};

#define THREADS uint row [[threadgroup_position_in_grid]], uint thread_ [[thread_position_in_threadgroup]], uint count [[threads_per_threadgroup]]

// -- shared

kernel void product(constant row_args & args, device const char * src0, device const char * src1, device char * dst, THREADS) {
    device const float * a = (device const float *) (src0 + row*args.stride);
    device const float * b = (device const float *) (src1 + row*args.stride);
    device float * out     = (device float *) (dst + row*args.stride);

    for (int i = thread_; i < args.n; i += count) {
        const float x = a[i];
        out[i] = x/(1.0f + exp(-x))*b[i];
    }
}

kernel void pairs(constant row_args & args, device const float * src, device float * dst,
        uint2 at [[threadgroup_position_in_grid]], ushort3 thread_ [[thread_position_in_threadgroup]], ushort3 count [[threads_per_threadgroup]]) {
    if ((int) at.x > 2) {
        return;
    }
    const int first = at.x*args.n;
    for (int i = 2*thread_.x; i < args.n; i += 2*count.x) {
        float sum = 0;
        for (int k = 0; k < 2; ++k) {
            sum += src[first + i + k];
        }
        dst[first + i]     = sum;
        dst[first + i + 1] = -sum;
    }
}

constant bool twice [[function_constant(0)]];

kernel void choice(constant row_args & args, device const float * src, device float * dst, THREADS) {
    if (twice) {
        for (uint i = thread_; i < args.stride; i += count) {
            dst[i] = 2*src[i];
        }
    } else {
        for (uint i = thread_; i < args.stride; i += count) {
            if (i % 3 == 0) {
                continue;
            }
            dst[i] = src[i];
        }
    }
}

kernel void count_up(device atomic_int * dst, constant row_args & args, THREADS) {
    for (int i = thread_; i < args.n; i += count) {
        atomic_fetch_add_explicit(&dst[0], i, memory_order_relaxed);
    }
}

// -- not shared: dst[i] of a turn depends on the thread's earlier turns

kernel void last_of_thread(constant row_args & args, device const float * src, device float * dst, THREADS) {
    float last = 0;
    for (int i = thread_; i < args.n; i += count) {
        dst[i] = last;
        last   = src[i];
    }
}

kernel void member_of_thread(constant row_args & args, device const float * src, device float * dst, THREADS) {
    float2 last = 0;
    for (int i = thread_; i < args.n; i += count) {
        dst[i] = last.x;
        last.x = src[i];
    }
}

kernel void element_of_thread(constant row_args & args, device const float * src, device float * dst, THREADS) {
    float last[1] = {};
    for (int i = thread_; i < args.n; i += count) {
        dst[i]  = last[0];
        last[0] = src[i];
    }
}

static float exchange_reference(thread float & last, float next) {
    const float before = last;
    last = next;
    return before;
}
kernel void reference_of_thread(constant row_args & args, device const float * src, device float * dst, THREADS) {
    float last = 0;
    for (int i = thread_; i < args.n; i += count) {
        dst[i] = exchange_reference(last, src[i]);
    }
}

static float exchange_pointer(thread float * last, float next) {
    const float before = *last;
    *last = next;
    return before;
}
kernel void address_of_thread(constant row_args & args, device const float * src, device float * dst, THREADS) {
    float last = 0;
    for (int i = thread_; i < args.n; i += count) {
        dst[i] = exchange_pointer(&last, src[i]);
    }
}

kernel void pointer_of_thread(constant row_args & args, device const float * src, device float * dst, THREADS) {
    device const float * next = src;
    for (int i = thread_; i < args.n; i += count) {
        dst[i] = next[0];
        ++next;
    }
}

kernel void group_of_thread(constant row_args & args, device const float * src, device float * dst, THREADS) {
    for (int i = thread_; i < args.n; i += count) {
        dst[i] = src[row];
        row++;
    }
}

// -- not shared: the number of threads, or a thread, matters elsewhere

kernel void sum_of_thread(constant row_args & args, device const float * src, device float * dst, THREADS) {
    float sum = 0;
    for (int i = thread_; i < args.n; i += count) {
        sum += src[i];
    }
    dst[thread_] = sum;
}

kernel void turns_of_thread(constant row_args & args, device const float * src, device float * dst, THREADS) {
    for (int i = thread_; i < args.n; i += count) {
        dst[i] = src[i] + count;
    }
}

kernel void grid_of_thread(constant row_args & args, device const float * src, device float * dst, THREADS, uint all [[threads_per_grid]]) {
    for (int i = thread_; i < args.n; i += count) {
        dst[i] = src[i] + all;
    }
}

kernel void other_factor(constant row_args & args, device const float * src, device float * dst, THREADS) {
    for (int i = 2*thread_; i < args.n; i += count) {
        dst[i] = src[i];
    }
}

kernel void all_threads(device atomic_int * dst, constant row_args & args, THREADS) {
    const int before = atomic_fetch_add_explicit(&dst[0], 1, memory_order_relaxed);
    for (int i = thread_; i < args.n; i += count) {
        dst += before*0;
    }
}

kernel void first_turn(constant row_args & args, device const float * src, device float * dst, THREADS) {
    for (int i = thread_; i < args.n; i += count) {
        dst[i] = src[i];
        break;
    }
}
