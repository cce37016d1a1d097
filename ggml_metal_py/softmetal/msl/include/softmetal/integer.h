// metal_integer, and abs of everything.
#pragma once

#include "math.h"

namespace softmetal {

template<class T> struct integer {};
#define SM_INTEGER(T, U, W) \
    template<> struct integer<T> { using type = T; using bits = U; using wide = W; }; \
    template<> struct integer<U> { using type = U; using bits = U; using wide = unsigned W; };
SM_INTEGER(char, uchar, short)
SM_INTEGER(short, ushort, int)
SM_INTEGER(int, uint, long)
SM_INTEGER(long, ulong, __int128)
#undef SM_INTEGER

template<class T> using bits_of = typename integer<T>::bits; // the unsigned type of this width
template<class T> using wide_of = typename integer<T>::wide; // the type of twice the width, that holds any product
template<class T> constexpr int width_of = 8 * sizeof(T);
template<class T> constexpr bool is_signed_v = (T) ~(T) 0 < (T) 0;
template<class T> constexpr T highest = is_signed_v<T> ? (T) (((bits_of<T>) ~(bits_of<T>) 0) >> 1) : (T) ~(T) 0;
template<class T> constexpr T lowest = (T) ~highest<T>;

template<class T> SM_INLINE T into_range(wide_of<T> x) { return x > highest<T> ? highest<T> : x < lowest<T> ? lowest<T> : (T) x; }

} // namespace softmetal

namespace metal {

// Functions of integers: scalar, and element by element. T is the type, as its unsigned twin, W the wider type.
#define SM_TYPES \
    using U = softmetal::bits_of<T>; \
    using W = softmetal::wide_of<T>; \
    constexpr int BITS = softmetal::width_of<T>; \
    (void) BITS; \
    (void) (U) 0; \
    (void) (W) 0;
#define SM_INTEGER_1(name, Result, ...) \
    template<class T> SM_INLINE typename softmetal::integer<T>::Result name(T x) { SM_TYPES return (typename softmetal::integer<T>::Result) (__VA_ARGS__); } \
    template<class T, int N> SM_INLINE vec<typename softmetal::integer<T>::Result, N> name(vec<T, N> x) { \
        vec<typename softmetal::integer<T>::Result, N> r; \
        for (int i = 0; i < N; ++i) r.e[i] = name(x.e[i]); \
        return r; \
    }
#define SM_INTEGER_2(name, Result, ...) \
    template<class T> SM_INLINE typename softmetal::integer<T>::Result name(T x, typename softmetal::identity<T>::type y) { SM_TYPES return (typename softmetal::integer<T>::Result) (__VA_ARGS__); } \
    template<class T, int N> SM_INLINE vec<typename softmetal::integer<T>::Result, N> name(vec<T, N> x, vec<T, N> y) { \
        vec<typename softmetal::integer<T>::Result, N> r; \
        for (int i = 0; i < N; ++i) r.e[i] = name(x.e[i], y.e[i]); \
        return r; \
    }
#define SM_INTEGER_3(name, ...) \
    template<class T> SM_INLINE typename softmetal::integer<T>::type name(T x, typename softmetal::identity<T>::type y, typename softmetal::identity<T>::type z) { SM_TYPES return (T) (__VA_ARGS__); } \
    template<class T, int N> SM_INLINE vec<T, N> name(vec<T, N> x, vec<T, N> y, vec<T, N> z) { \
        for (int i = 0; i < N; ++i) x.e[i] = name(x.e[i], y.e[i], z.e[i]); \
        return x; \
    }

SM_INTEGER_1(abs, type, x < 0 ? (U) (0 - (U) x) : (U) x)
SM_INTEGER_1(popcount, type, __builtin_popcountll((U) x))
SM_INTEGER_1(clz, type, x ? __builtin_clzll((ulong) (U) x) - (64 - BITS) : BITS)
SM_INTEGER_1(ctz, type, x ? __builtin_ctzll((ulong) (U) x) : BITS)
SM_INTEGER_1(reverse_bits, type, __builtin_bitreverse64((ulong) (U) x) >> (64 - BITS))
SM_INTEGER_2(absdiff, bits, x > y ? (U) x - (U) y : (U) y - (U) x)
SM_INTEGER_2(addsat, type, softmetal::into_range<T>((W) ((W) x + (W) y)))
SM_INTEGER_2(hadd, type, ((W) x + (W) y) >> 1)
SM_INTEGER_2(rhadd, type, ((W) x + (W) y + 1) >> 1)
SM_INTEGER_2(mulhi, type, ((W) x * (W) y) >> BITS)
SM_INTEGER_2(rotate, type, (U) x << ((U) y % BITS) | (U) x >> ((BITS - (U) y % BITS) % BITS))
SM_INTEGER_2(mul24, type, (U) x * (U) y)
SM_INTEGER_3(mad24, (U) x * (U) y + (U) z)
SM_INTEGER_3(madhi, (U) mulhi(x, y) + (U) z)
SM_INTEGER_3(madsat, softmetal::into_range<T>((W) x * (W) y + (W) z))

template<class T> SM_INLINE typename softmetal::integer<T>::type subsat(T x, typename softmetal::identity<T>::type y) {
    SM_TYPES
    if constexpr (!softmetal::is_signed_v<T>) return x > y ? (T) (x - y) : (T) 0;
    return softmetal::into_range<T>((W) x - (W) y);
}
template<class T, int N> SM_INLINE vec<T, N> subsat(vec<T, N> x, vec<T, N> y) {
    for (int i = 0; i < N; ++i) x.e[i] = subsat(x.e[i], y.e[i]);
    return x;
}

// `bits` bits from `offset` on, the sign bit among them repeated when T has a sign.
template<class T> SM_INLINE typename softmetal::integer<T>::type extract_bits(T x, uint offset, uint bits) {
    SM_TYPES
    if (bits == 0) return 0;
    return (T) ((T) (U) ((U) x << (BITS - bits - offset)) >> (BITS - bits));
}
template<class T, int N> SM_INLINE vec<T, N> extract_bits(vec<T, N> x, uint offset, uint bits) {
    for (int i = 0; i < N; ++i) x.e[i] = extract_bits(x.e[i], offset, bits);
    return x;
}
template<class T> SM_INLINE typename softmetal::integer<T>::type insert_bits(T base, typename softmetal::identity<T>::type from, uint offset, uint bits) {
    SM_TYPES
    if (bits == 0) return base;
    const U mask = (U) ((U) ((U) ~(U) 0 >> (BITS - bits)) << offset);
    return (T) (((U) base & ~mask) | ((U) ((U) from << offset) & mask));
}
template<class T, int N> SM_INLINE vec<T, N> insert_bits(vec<T, N> base, vec<T, N> from, uint offset, uint bits) {
    for (int i = 0; i < N; ++i) base.e[i] = insert_bits(base.e[i], from.e[i], offset, bits);
    return base;
}
#undef SM_TYPES
#undef SM_INTEGER_1
#undef SM_INTEGER_2
#undef SM_INTEGER_3

SM_INLINE float abs(float a) { return __builtin_fabsf(a); }
SM_INLINE half abs(half a) { return (half) __builtin_fabsf(a); }
template<int N> SM_INLINE vec<float, N> abs(vec<float, N> a) { return fabs(a); }
template<int N> SM_INLINE vec<half, N> abs(vec<half, N> a) { return fabs(a); }
template<int N> SM_INLINE vec<bfloat, N> abs(vec<bfloat, N> a) { return fabs(a); }

} // namespace metal
