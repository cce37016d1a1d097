// What each sanitizer must see in a kernel, if it sees kernels at all.
#include <metal_stdlib>

using namespace metal;

constant int table[4] = { 1, 2, 3, 4 };

// thread: all threads write one word
kernel void race(device const int * src [[buffer(0)]], device int * dst [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    dst[0] = src[i];
    dst[1] = simd_sum(src[i]);
}

// undefined: more places than there are
kernel void shift(device const int * src [[buffer(0)]], device int * dst [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    dst[i] = src[i] << (src[i] + 40);
}

// address: beyond the end
kernel void beyond(device const int * src [[buffer(0)]], device int * dst [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    dst[i] = table[src[i] % 4 + int(i % 8)];
}
