// What each sanitizer must see in a kernel, if it sees kernels at all.
#include <metal_stdlib>

using namespace metal;

constant int table[4] = { 1, 2, 3, 4 };

// thread: all threads write one word
kernel void race(device const int * src [[buffer(0)]], device int * dst [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    dst[0] = src[i];
    dst[1] = simd_sum(src[i]);
}

// undefined: an index of an array
kernel void index(device const int * src [[buffer(0)]], device int * dst [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    int own[4] = { 1, 2, 3, 4 };
    own[i % 4] = src[i];
    dst[i] = own[i % 8];
}

// address: beyond the end
kernel void beyond(device const int * src [[buffer(0)]], device int * dst [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    dst[i] = table[src[i] % 4 + int(i % 8)];
}
