// metal_math, metal_common, metal_integer, metal_relational and metal_geometric.
//
// exp and tanh are polynomials of our own, because the C library's are calls that no loop can be vectorised
// over; they work on a float and on a vector of floats alike. What is rarer is the C library's.
#pragma once

#include "matrix.h"

namespace softmetal {

template<class T> struct lanes { using integer = int32_t; };
template<int N> struct lanes<native<float, N>> { using integer = native<int32_t, N>; };

template<class V> SM_INLINE V choose(bool c, V a, V b) { return c ? a : b; }
template<class M, class V> SM_INLINE V choose(M c, V a, V b) { return c ? a : b; }

// e^x to within 2 ulp, and 0, infinity and NaN where they belong. F is float or a vector of floats.
template<class F> SM_INLINE F exponential(F x) {
#pragma clang fp reassociate(off) contract(fast)
    using I = typename lanes<F>::integer;
    const F low = -104.0f, high = 89.0f; // below: 0, above: infinity
    x = choose(x < low, low, x);
    x = choose(x > high, high, x);
    // x = n ln 2 + r. Adding 1.5 * 2^23 leaves the integer n in the low bits of the float.
    const F shifter = 12582912.0f;
    const F shifted = x * 1.44269504088896341f + shifter;
    const F n       = shifted - shifter;
    F r             = x - n * 0.693145751953125f;
    r               = r - n * 1.428606765330187e-6f;
    F p             = 1.9875691500e-4f;
    p               = p * r + 1.3981999507e-3f;
    p               = p * r + 8.3334519073e-3f;
    p               = p * r + 4.1665795894e-2f;
    p               = p * r + 1.6666665459e-1f;
    p               = p * r + 5.0000001201e-1f;
    p               = p * (r * r) + r + 1.0f;
    // 2^n in two steps, as n goes beyond what one float's exponent holds.
    const I exponent = __builtin_bit_cast(I, shifted) - 0x4b400000;
    const I half_way = exponent >> 1;
    const F first    = __builtin_bit_cast(F, (half_way + 127) << 23);
    const F second   = __builtin_bit_cast(F, (exponent - half_way + 127) << 23);
    return p * first * second;
}

// tanh x: a polynomial near 0, where 1 - 2 / (e^2x + 1) would cancel.
template<class F> SM_INLINE F hyperbolic_tangent(F x) {
#pragma clang fp reassociate(off) contract(fast)
    const F a     = choose(x < 0.0f, -x, x);
    const F large = 1.0f - 2.0f / (exponential(a + a) + 1.0f);
    const F z     = x * x;
    F p           = -5.70498872745e-3f;
    p             = p * z + 2.06390887954e-2f;
    p             = p * z - 5.37397155531e-2f;
    p             = p * z + 1.33314422036e-1f;
    p             = p * z - 3.33332819422e-1f;
    const F small = p * z * x + x;
    return choose(a < 0.625f, small, choose(x < 0.0f, -large, large));
}

SM_INLINE float sign(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f; }
SM_INLINE float fract(float x) { return x - __builtin_floorf(x); }
SM_INLINE float exp10(float x) { return __builtin_powf(10.0f, x); }

template<class T> SM_INLINE bool is_nan(T x) {
    if constexpr (is_floating_v<T>) return (float) x != (float) x;
    return false;
}
// Of a number and a NaN, both give the number.
template<class T> SM_INLINE T smaller(T a, T b) { return a < b || is_nan(b) ? a : b; }
template<class T> SM_INLINE T larger(T a, T b) { return a > b || is_nan(b) ? a : b; }

template<class A, class B>
using common = enable_if_t<is_arithmetic_v<A> && is_arithmetic_v<B>, decltype(true ? A() : B())>;

} // namespace softmetal

namespace metal {

// One function of one floating argument: scalar, and element by element.
#define SM_UNARY(name, scalar) \
    SM_INLINE float name(float x) { return scalar(x); } \
    SM_INLINE half name(half x) { return (half) scalar((float) x); } \
    template<class T, int N> SM_INLINE vec<T, N> name(vec<T, N> a) { \
        for (int i = 0; i < N; ++i) a.e[i] = (T) scalar((float) a.e[i]); \
        return a; \
    }
// The same, where the function works on whole vectors.
#define SM_UNARY_VECTOR(name, function) \
    SM_INLINE float name(float x) { return function(x); } \
    SM_INLINE half name(half x) { return (half) function((float) x); } \
    template<class T, int N> SM_INLINE vec<T, N> name(vec<T, N> a) { \
        return (vec<T, N>) vec<float, N>::from(function(((vec<float, N>) a).compute())); \
    }

#define SM_UNARY_FUNCTIONS \
    SM_UNARY_VECTOR(exp, softmetal::exponential) \
    SM_UNARY_VECTOR(tanh, softmetal::hyperbolic_tangent) \
    SM_UNARY(exp2, __builtin_exp2f) \
    SM_UNARY(exp10, softmetal::exp10) \
    SM_UNARY(log, __builtin_logf) \
    SM_UNARY(log2, __builtin_log2f) \
    SM_UNARY(log10, __builtin_log10f) \
    SM_UNARY(sqrt, __builtin_sqrtf) \
    SM_UNARY(rsqrt, 1.0f / __builtin_sqrtf) \
    SM_UNARY(sin, __builtin_sinf) \
    SM_UNARY(cos, __builtin_cosf) \
    SM_UNARY(tan, __builtin_tanf) \
    SM_UNARY(asin, __builtin_asinf) \
    SM_UNARY(acos, __builtin_acosf) \
    SM_UNARY(atan, __builtin_atanf) \
    SM_UNARY(sinh, __builtin_sinhf) \
    SM_UNARY(cosh, __builtin_coshf) \
    SM_UNARY(fabs, __builtin_fabsf) \
    SM_UNARY(floor, __builtin_floorf) \
    SM_UNARY(ceil, __builtin_ceilf) \
    SM_UNARY(round, __builtin_roundf) \
    SM_UNARY(rint, __builtin_rintf) \
    SM_UNARY(trunc, __builtin_truncf) \
    SM_UNARY(fract, softmetal::fract) \
    SM_UNARY(sign, softmetal::sign)

#define SM_BINARY(name, scalar) \
    SM_INLINE float name(float a, float b) { return scalar(a, b); } \
    SM_INLINE half name(half a, half b) { return (half) scalar((float) a, (float) b); } \
    template<class T, int N> SM_INLINE vec<T, N> name(vec<T, N> a, vec<T, N> b) { \
        for (int i = 0; i < N; ++i) a.e[i] = (T) scalar((float) a.e[i], (float) b.e[i]); \
        return a; \
    }

#define SM_BINARY_FUNCTIONS \
    SM_BINARY(pow, __builtin_powf) \
    SM_BINARY(powr, __builtin_powf) \
    SM_BINARY(fmod, __builtin_fmodf) \
    SM_BINARY(atan2, __builtin_atan2f) \
    SM_BINARY(copysign, __builtin_copysignf)

SM_UNARY_FUNCTIONS
SM_BINARY_FUNCTIONS
// Metal's fast and precise variants differ in accuracy only; here both are accurate.
namespace precise {
SM_UNARY_FUNCTIONS
SM_BINARY_FUNCTIONS
} // namespace precise
namespace fast {
SM_UNARY_FUNCTIONS
SM_BINARY_FUNCTIONS
} // namespace fast
#undef SM_UNARY
#undef SM_UNARY_VECTOR
#undef SM_UNARY_FUNCTIONS
#undef SM_BINARY
#undef SM_BINARY_FUNCTIONS

#define SM_EXTREME(name, function) \
    template<class A, class B> SM_INLINE softmetal::common<A, B> name(A a, B b) { \
        return softmetal::function<softmetal::common<A, B>>(a, b); \
    } \
    template<class T, int N> SM_INLINE vec<T, N> name(vec<T, N> a, vec<T, N> b) { \
        for (int i = 0; i < N; ++i) a.e[i] = softmetal::function<T>(a.e[i], b.e[i]); \
        return a; \
    } \
    template<class T, int N> SM_INLINE vec<T, N> name(vec<T, N> a, typename softmetal::identity<T>::type b) { \
        return name(a, vec<T, N>(b)); \
    } \
    template<class T, int N> SM_INLINE vec<T, N> name(typename softmetal::identity<T>::type a, vec<T, N> b) { \
        return name(vec<T, N>(a), b); \
    }
SM_EXTREME(min, smaller)
SM_EXTREME(max, larger)
SM_EXTREME(fmin, smaller)
SM_EXTREME(fmax, larger)
#undef SM_EXTREME

template<class A, class B, class C> SM_INLINE auto clamp(A x, B low, C high) { return min(max(x, low), high); }
template<class T> SM_INLINE T saturate(T x) { return clamp(x, T(0), T(1)); }
template<class T> SM_INLINE T mix(T a, T b, T t) { return a + (b - a) * t; }
template<class T, int N> SM_INLINE vec<T, N> mix(vec<T, N> a, vec<T, N> b, typename softmetal::identity<T>::type t) {
    return a + (b - a) * vec<T, N>(t);
}

SM_INLINE float step(float edge, float x) { return x < edge ? 0.0f : 1.0f; }
SM_INLINE half step(half edge, half x) { return x < edge ? (half) 0.0f : (half) 1.0f; }
template<class T, int N> SM_INLINE vec<T, N> step(vec<T, N> edge, vec<T, N> x) {
    for (int i = 0; i < N; ++i) x.e[i] = step(edge.e[i], x.e[i]);
    return x;
}
template<class T, int N> SM_INLINE vec<T, N> step(typename softmetal::identity<T>::type edge, vec<T, N> x) {
    return step(vec<T, N>(edge), x);
}

SM_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
SM_INLINE half fma(half a, half b, half c) { return (half) __builtin_fmaf(a, b, c); }
template<class T, int N> SM_INLINE vec<T, N> fma(vec<T, N> a, vec<T, N> b, vec<T, N> c) {
    for (int i = 0; i < N; ++i) a.e[i] = fma(a.e[i], b.e[i], c.e[i]);
    return a;
}

SM_INLINE float ldexp(float x, int e) { return __builtin_ldexpf(x, e); }

SM_INLINE int abs(int a) { return a < 0 ? -a : a; }
SM_INLINE long abs(long a) { return a < 0 ? -a : a; }
SM_INLINE float abs(float a) { return __builtin_fabsf(a); }
SM_INLINE half abs(half a) { return (half) __builtin_fabsf(a); }
template<class T, int N> SM_INLINE vec<T, N> abs(vec<T, N> a) {
    for (int i = 0; i < N; ++i) a.e[i] = a.e[i] < T(0) ? T(-a.e[i]) : a.e[i];
    return a;
}

SM_INLINE bool isnan(float a) { return __builtin_isnan(a); }
SM_INLINE bool isinf(float a) { return __builtin_isinf(a); }
SM_INLINE bool isfinite(float a) { return __builtin_isfinite(a); }
SM_INLINE bool signbit(float a) { return __builtin_signbit(a); }

template<class A, class B> SM_INLINE softmetal::common<A, B> select(A a, B b, bool c) { return c ? b : a; }
template<class T, int N> SM_INLINE vec<T, N> select(vec<T, N> a, vec<T, N> b, vec<bool, N> c) {
    for (int i = 0; i < N; ++i) a.e[i] = c.e[i] ? b.e[i] : a.e[i];
    return a;
}
template<class T, int N> SM_INLINE vec<T, N> select(vec<T, N> a, vec<T, N> b, bool c) { return c ? b : a; }

template<int N> SM_INLINE bool any(vec<bool, N> a) {
    bool r = false;
    for (int i = 0; i < N; ++i) r |= a.e[i];
    return r;
}
template<int N> SM_INLINE bool all(vec<bool, N> a) {
    bool r = true;
    for (int i = 0; i < N; ++i) r &= a.e[i];
    return r;
}

template<class T, int N> SM_INLINE T dot(vec<T, N> a, vec<T, N> b) {
    const auto p = a.compute() * b.compute();
    auto sum     = p[0];
    for (int i = 1; i < N; ++i) sum += p[i];
    return T(sum);
}
template<class T, int N> SM_INLINE T length_squared(vec<T, N> a) { return dot(a, a); }
template<class T, int N> SM_INLINE T length(vec<T, N> a) { return sqrt(dot(a, a)); }
template<class T, int N> SM_INLINE T distance(vec<T, N> a, vec<T, N> b) { return length(a - b); }
template<class T, int N> SM_INLINE vec<T, N> normalize(vec<T, N> a) { return a * vec<T, N>(rsqrt(dot(a, a))); }
template<class T> SM_INLINE vec<T, 3> cross(vec<T, 3> a, vec<T, 3> b) {
    return vec<T, 3>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

template<class T> SM_INLINE T popcount(T x) { return T(__builtin_popcountll((unsigned long long) x & (~0ull >> (64 - 8 * sizeof(T))))); }
template<class T> SM_INLINE T clz(T x) { return x ? T(__builtin_clzll((unsigned long long) x << (64 - 8 * sizeof(T)))) : T(8 * sizeof(T)); }
template<class T> SM_INLINE T ctz(T x) { return x ? T(__builtin_ctzll((unsigned long long) x)) : T(8 * sizeof(T)); }
SM_INLINE int mulhi(int a, int b) { return int((int64_t) a * b >> 32); }
SM_INLINE uint mulhi(uint a, uint b) { return uint((uint64_t) a * b >> 32); }
SM_INLINE uint rotate(uint x, uint n) { return __builtin_rotateleft32(x, n); }
template<class T> SM_INLINE T extract_bits(T x, uint offset, uint bits) { return T(x >> offset & ((T(1) << bits) - 1)); }

} // namespace metal
