#include "common.h"

kernel void vector_at_a_scalar(ARGUMENTS) {
    device const float4 * v = (device const float4 *) (src + 1);
    if (t < 8) {
        dst[i] = v[t].x + v[t].w; // misaligned 0.0.0
    }
}
kernel void vector_at_a_scalar_right(ARGUMENTS) {
    device const packed_float4 * v = (device const packed_float4 *) (src + 1);
    if (t < 8) {
        dst[i] = v[t].x + v[t].w;
    }
}

kernel void two_halves_at_one(ARGUMENTS) {
    threadgroup half * halves = (threadgroup half *) shared + 2 * lane + 1;
    if (sg == 0 && lane < 31) {
        *(threadgroup half2 *) halves = half2(1.0h); // misaligned 0.0.0
    }
    dst[i] = src[i];
}

kernel void word_at_a_byte(ARGUMENTS) {
    device const uchar * bytes = (device const uchar *) src;
    dst[i] = (float) *(device const uint *) (bytes + i + 2); // misaligned 0.0.0
}
