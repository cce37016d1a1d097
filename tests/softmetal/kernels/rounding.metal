// Arithmetic of half and bfloat: what each operation rounds to. T is the scalar, T4 its vector.
#include <metal_stdlib>

using namespace metal;

template <typename T>
kernel void arithmetic(device const T * a, device const T * b, device const T * c, device T * dst,
        constant uint & n, uint i [[thread_position_in_grid]]) {
    const T x = a[i], y = b[i], z = c[i];
    T sum = x, difference = x, product = x, quotient = x;
    sum        += y;
    difference -= y;
    product    *= y;
    quotient   /= y;
    dst[ 0*n + i] = x + y;
    dst[ 1*n + i] = x - y;
    dst[ 2*n + i] = x*y;
    dst[ 3*n + i] = x/y;
    dst[ 4*n + i] = sum;
    dst[ 5*n + i] = difference;
    dst[ 6*n + i] = product;
    dst[ 7*n + i] = quotient;
    dst[ 8*n + i] = x*y + z;
    dst[ 9*n + i] = (x + y)*z;
    dst[10*n + i] = min(x, y);
    dst[11*n + i] = max(x, y);
    dst[12*n + i] = clamp(x, min(y, z), max(y, z));
}

template <typename T, typename T4>
kernel void vector_arithmetic(device const T4 * a, device const T4 * b, device const T4 * c, device T4 * dst,
        constant uint & n, uint i [[thread_position_in_grid]]) {
    const T4 x = a[i], y = b[i], z = c[i];
    T4 sum = x, difference = x, product = x, quotient = x;
    sum        += y;
    difference -= y;
    product    *= y;
    quotient   /= y;
    dst[ 0*n + i] = x + y;
    dst[ 1*n + i] = x - y;
    dst[ 2*n + i] = x*y;
    dst[ 3*n + i] = x/y;
    dst[ 4*n + i] = sum;
    dst[ 5*n + i] = difference;
    dst[ 6*n + i] = product;
    dst[ 7*n + i] = quotient;
    dst[ 8*n + i] = x*y + z;
    dst[ 9*n + i] = (x + y)*z;
    dst[10*n + i] = min(x, y);
    dst[11*n + i] = max(x, y);
    dst[12*n + i] = clamp(x, min(y, z), max(y, z));
}

template <typename T>
kernel void comparisons(device const T * a, device const T * b, device uchar * dst, uint i [[thread_position_in_grid]]) {
    const T x = a[i], y = b[i];
    dst[i] = (x < y) | (x > y) << 1 | (x <= y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5;
}

template <typename T>
kernel void from_floats(device const float * src, device T * dst, uint i [[thread_position_in_grid]]) {
    dst[i] = (T) src[i];
}

template <typename T, typename T4>
kernel void from_float_vectors(device const float4 * src, device T4 * dst, uint i [[thread_position_in_grid]]) {
    dst[i] = (T4) src[i];
}

template <typename T>
kernel void from_ints(device const int * src, device const uint * unsign, device T * dst, constant uint & n,
        uint i [[thread_position_in_grid]]) {
    dst[0*n + i] = (T) src[i];
    dst[1*n + i] = (T) unsign[i];
    dst[2*n + i] = (T) (short) src[i];
    dst[3*n + i] = (T) ((long) src[i] << 20);
}

template <typename T>
kernel void to_others(device const T * src, device float * floats, device int * ints, device T * negated, device T * magnitude,
        uint i [[thread_position_in_grid]]) {
    const T x    = src[i];
    floats[i]    = x;
    ints[i]      = (int) x;
    negated[i]   = -x;
    magnitude[i] = (T) fabs(x);
}

kernel void half_to_bfloat(device const half * src, device bfloat * dst, device half * back, uint i [[thread_position_in_grid]]) {
    dst[i]  = (bfloat) src[i];
    back[i] = (half) dst[i];
}

kernel void half_functions(device const half * a, device const half * b, device const half * c, device half * dst,
        constant uint & n, uint i [[thread_position_in_grid]]) {
    dst[0*n + i] = fma(a[i], b[i], c[i]);
    dst[1*n + i] = fma(half4(a[i]), half4(b[i]), half4(c[i])).z;
    dst[2*n + i] = sqrt(a[i]);
    dst[3*n + i] = fract(a[i]);
    dst[4*n + i] = copysign(a[i], b[i]);
    dst[5*n + i] = nextafter(a[i], b[i]);
    dst[6*n + i] = abs(a[i]);
}

// With numbers of other types, and the types of the results.
kernel void mixed(device half * h, device bfloat * b, device float * f, device uint * sizes) {
    const half   x = 1.5h;
    const bfloat y = 1.5bf;
    h[0] = x + 1;
    h[1] = 3*x;
    h[2] = 0.1;          // a float, rounded
    h[3] = 0.1h;
    h[4] = x*0.1h;
    b[0] = y + 1;
    b[1] = 3*y;
    b[2] = (bfloat) 0.1;
    b[3] = 0.1bf;
    b[4] = -y;
    f[0] = x*0.1f;       // float arithmetic
    f[1] = y*0.1f;
    f[2] = 0.1f - y;
    f[3] = x/3;
    f[4] = y/3;          // rounded to bfloat first
    sizes[0] = sizeof(x + x);
    sizes[1] = sizeof(y + y);
    sizes[2] = sizeof(x + 1);
    sizes[3] = sizeof(1 - y);
    sizes[4] = sizeof(x*1.0f);
    sizes[5] = sizeof(y*1.0f);
    sizes[6] = sizeof(-x);
    sizes[7] = sizeof(-y);
    sizes[8] = sizeof(half4(x)*x);
    sizes[9] = y ? 1 : 0;
}

#define ARGUMENTS(T) (device const T *, device const T *, device const T *, device T *, constant uint &, uint)
#define BOTH(T) \
    template [[host_name("arithmetic_" #T)]]         kernel void arithmetic<T> ARGUMENTS(T); \
    template [[host_name("vector_arithmetic_" #T)]]  kernel void vector_arithmetic<T, T##4> ARGUMENTS(T##4); \
    template [[host_name("comparisons_" #T)]]        kernel void comparisons<T>(device const T *, device const T *, device uchar *, uint); \
    template [[host_name("from_floats_" #T)]]        kernel void from_floats<T>(device const float *, device T *, uint); \
    template [[host_name("from_float_vectors_" #T)]] kernel void from_float_vectors<T, T##4>(device const float4 *, device T##4 *, uint); \
    template [[host_name("from_ints_" #T)]]          kernel void from_ints<T>(device const int *, device const uint *, device T *, constant uint &, uint); \
    template [[host_name("to_others_" #T)]]          kernel void to_others<T>(device const T *, device float *, device int *, device T *, device T *, uint);
BOTH(half)
BOTH(bfloat)
