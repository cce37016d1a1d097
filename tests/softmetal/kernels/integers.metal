// Integers of every width: arithmetic, shifts, metal_integer's functions, and numbers that do not fit.
#include <metal_stdlib>

using namespace metal;

template <typename T>
kernel void arithmetic(device const T * a, device const T * b, device T * dst, constant uint & n, uint i [[thread_position_in_grid]]) {
    const T x = a[i], y = b[i];
    T sum = x, difference = x, product = x;
    sum        += y;
    difference -= y;
    product    *= y;
    dst[0*n + i] = sum;
    dst[1*n + i] = difference;
    dst[2*n + i] = product;
    dst[3*n + i] = x & y;
    dst[4*n + i] = x | y;
    dst[5*n + i] = x ^ y;
    dst[6*n + i] = ~x;
    dst[7*n + i] = min(x, y);
    dst[8*n + i] = max(x, y);
    dst[9*n + i] = y == 0 ? x : x/y;
}

// Of vectors, each element keeps its width; of scalars, small ones are promoted to int.
template <typename T, typename T4>
kernel void shifts(device const T * a, device const T * b, device T * dst, constant uint & n, uint i [[thread_position_in_grid]]) {
    const T x = a[i], y = b[i];
    T left = x, right = x;
    left  <<= y;
    right >>= y;
    T4 l = T4(x), r = T4(x);
    l <<= T4(y);
    r >>= y;
    dst[0*n + i] = x << y;
    dst[1*n + i] = x >> y;
    dst[2*n + i] = left;
    dst[3*n + i] = right;
    dst[4*n + i] = (T4(x) << T4(y))[2];
    dst[5*n + i] = (T4(x) >> T4(y))[3];
    dst[6*n + i] = l[0];
    dst[7*n + i] = r[1];
}

template <typename T, typename U, typename T4>
kernel void functions(device const T * a, device const T * b, device const T * c, device T * dst, constant uint & n,
        uint i [[thread_position_in_grid]]) {
    const T x = a[i], y = b[i], z = c[i];
    dst[ 0*n + i] = (T) abs(x);
    dst[ 1*n + i] = (T) absdiff(x, y);
    dst[ 2*n + i] = addsat(x, y);
    dst[ 3*n + i] = subsat(x, y);
    dst[ 4*n + i] = hadd(x, y);
    dst[ 5*n + i] = rhadd(x, y);
    dst[ 6*n + i] = mulhi(x, y);
    dst[ 7*n + i] = rotate(x, y);
    dst[ 8*n + i] = popcount(x);
    dst[ 9*n + i] = clz(x);
    dst[10*n + i] = ctz(x);
    dst[11*n + i] = reverse_bits(x);
    dst[12*n + i] = madhi(x, y, z);
    dst[13*n + i] = madsat(x, y, z);
    dst[14*n + i] = clamp(x, min(y, z), max(y, z));
    dst[15*n + i] = extract_bits(x, 3, 4);
    dst[16*n + i] = extract_bits(x, 0, 8*sizeof(T));
    dst[17*n + i] = insert_bits(x, y, 2, 5);
    dst[18*n + i] = insert_bits(x, y, 0, 8*sizeof(T));
    dst[19*n + i] = extract_bits(x, 5, 0);
    // the same of vectors
    dst[20*n + i] = T4(abs(T4(x)))[0] + T4(absdiff(T4(x), T4(y)))[1] + addsat(T4(x), T4(y))[2] + subsat(T4(x), T4(y))[3];
    dst[21*n + i] = hadd(T4(x), T4(y))[0] + rotate(T4(x), T4(y))[1] + popcount(T4(x))[2] + clz(T4(x))[3];
    dst[22*n + i] = mulhi(T4(x), T4(y))[0] + extract_bits(T4(x), 1, 6)[1] + insert_bits(T4(x), T4(y), 1, 6)[2];
    dst[23*n + i] = min3(x, y, z);
    dst[24*n + i] = median3(x, y, z);
}

kernel void twenty_four_bits(device const int * a, device const int * b, device int * dst, constant uint & n,
        uint i [[thread_position_in_grid]]) {
    dst[0*n + i] = mul24(a[i], b[i]);
    dst[1*n + i] = mad24(a[i], b[i], 1000);
}

kernel void promotions(device const char * a, device const uchar * b, device int * dst, uint i [[thread_position_in_grid]]) {
    dst[8*i + 0] = a[i] + b[i];
    dst[8*i + 1] = a[i]*b[i];
    dst[8*i + 2] = a[i] - b[i];
    dst[8*i + 3] = a[i] < b[i];
    dst[8*i + 4] = (char) (a[i] + a[i]);
    dst[8*i + 5] = (uchar) (b[i]*3);
    dst[8*i + 6] = -b[i];
    dst[8*i + 7] = sizeof(a[i] + b[i])*100 + sizeof(char4(a[i]) + char4(1))*10 + sizeof('c');
}

// What does not fit becomes the nearest that does, NaN becomes 0: in the optimiser's hands as well.
template <typename T, typename T4, typename F>
kernel void from_floats(device const F * src, device T * dst, constant uint & n, uint i [[thread_position_in_grid]]) {
    dst[0*n + i] = (T) src[i];
    dst[1*n + i] = T4(vec<F, 4>(src[i]))[i % 4];
    T t = 0;
    for (int k = 0; k < 3; ++k) {
        t += (T) src[i];
    }
    dst[2*n + i] = (T) (t - 2*(T) src[i]);
}

#define EACH(T, U) \
    template [[host_name("arithmetic_" #T)]] kernel void arithmetic<T>(device const T *, device const T *, device T *, constant uint &, uint); \
    template [[host_name("shifts_" #T)]]     kernel void shifts<T, T##4>(device const T *, device const T *, device T *, constant uint &, uint); \
    template [[host_name("functions_" #T)]]  kernel void functions<T, U, T##4>(device const T *, device const T *, device const T *, device T *, constant uint &, uint); \
    template [[host_name("from_float_" #T)]] kernel void from_floats<T, T##4, float>(device const float *, device T *, constant uint &, uint); \
    template [[host_name("from_half_" #T)]]  kernel void from_floats<T, T##4, half>(device const half *, device T *, constant uint &, uint); \
    template [[host_name("from_bfloat_" #T)]] kernel void from_floats<T, T##4, bfloat>(device const bfloat *, device T *, constant uint &, uint);
EACH(char, uchar) EACH(uchar, uchar) EACH(short, ushort) EACH(ushort, ushort)
EACH(int, uint) EACH(uint, uint) EACH(long, ulong) EACH(ulong, ulong)
