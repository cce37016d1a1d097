// metal_math and metal_common: functions of floating-point numbers, and min, max and clamp of all.
//
// exp and tanh are polynomials of our own, because the C library's are calls that no loop can be vectorised
// over; they work on a float and on a vector of floats alike. What is rarer is the C library's.
#pragma once

#include "matrix.h"

namespace softmetal {

template<class T> struct lanes { using integer = int32_t; using bits = uint32_t; };
template<int N> struct lanes<native<float, N>> { using integer = native<int32_t, N>; using bits = native<uint32_t, N>; };

template<class V> SM_INLINE V choose(bool c, V a, V b) { return c ? a : b; }
template<class M, class V> SM_INLINE V choose(M c, V a, V b) { return c ? a : b; }

// e^x to within 2 ulp, and 0, infinity and NaN where they belong. F is float or a vector of floats.
template<class F> SM_INLINE F exponential(F x) {
#pragma clang fp reassociate(off) contract(fast)
    using I = typename lanes<F>::integer;
    using U = typename lanes<F>::bits;
    const F low = -104.0f, high = 89.0f; // below: 0, above: infinity
    x = choose(x < low, low, x);
    x = choose(x > high, high, x);
    // x = n ln 2 + r. Adding 1.5 * 2^23 leaves the integer n in the low bits of the float.
    const F shifter = 12582912.0f;
    const F shifted = x * 1.44269504088896341f + shifter;
    const F n       = shifted - shifter;
    F r             = x - n * 0.693145751953125f;
    r               = r - n * 1.428606765330187e-6f;
    // In halves that do not wait for each other.
    const F r2 = r * r;
    const F p0 = 1.6666665459e-1f * r + 5.0000001201e-1f;
    const F p2 = 8.3334519073e-3f * r + 4.1665795894e-2f;
    const F p4 = 1.9875691500e-4f * r + 1.3981999507e-3f;
    const F p  = ((p4 * r2 + p2) * r2 + p0) * r2 + (r + 1.0f);
    // 2^n in two steps, as n goes beyond what one float's exponent holds.
    const I exponent = __builtin_bit_cast(I, shifted) - 0x4b400000;
    const I half_way = exponent >> 1;
    const F first    = __builtin_bit_cast(F, (U) (half_way + 127) << 23);
    const F second   = __builtin_bit_cast(F, (U) (exponent - half_way + 127) << 23);
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
SM_INLINE float exp10(float x) { return (float) __builtin_pow(10.0, (double) x); }

// sin and cos of pi a, for 0 <= a <= 1. What is taken off a is taken off without rounding.
SM_INLINE double sine_of_half_turns(double a) {
    const double pi = 3.14159265358979323846;
    return a <= 0.25 ? __builtin_sin(pi * a) : a <= 0.75 ? __builtin_cos(pi * (a - 0.5)) : __builtin_sin(pi * (1 - a));
}
SM_INLINE double cosine_of_half_turns(double a) {
    const double pi = 3.14159265358979323846;
    return a <= 0.25 ? __builtin_cos(pi * a) : a <= 0.75 ? __builtin_sin(pi * (0.5 - a)) : -__builtin_cos(pi * (1 - a));
}
SM_INLINE double sine_pi(float x) {
    const double turned = __builtin_remainder((double) x, 2.0);
    return __builtin_copysign(sine_of_half_turns(__builtin_fabs(turned)), turned);
}
SM_INLINE double cosine_pi(float x) { return cosine_of_half_turns(__builtin_fabs(__builtin_remainder((double) x, 2.0))); }
SM_INLINE float sinpi(float x) { return (float) sine_pi(x); }
SM_INLINE float cospi(float x) { return (float) cosine_pi(x); }
SM_INLINE float tanpi(float x) { return (float) (sine_pi(x) / cosine_pi(x)); }
SM_INLINE float fdim(float a, float b) { return a > b ? a - b : a <= b ? 0.0f : a + b; }
SM_INLINE float divide(float a, float b) { return a / b; }

// Within [0, 1): rounding alone would give 1 just below a whole number.
template<class T> SM_INLINE T fract(T x, T below_one) {
    const T r = T((float) x - __builtin_floorf((float) x));
    return r < T(1) ? r : r >= T(1) ? below_one : r;
}

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

SM_UNARY_VECTOR(exp, softmetal::exponential)
SM_UNARY_VECTOR(tanh, softmetal::hyperbolic_tangent)
SM_UNARY(exp2, __builtin_exp2f)
SM_UNARY(exp10, softmetal::exp10)
SM_UNARY(log, __builtin_logf)
SM_UNARY(log2, __builtin_log2f)
SM_UNARY(log10, __builtin_log10f)
SM_UNARY(sqrt, __builtin_sqrtf)
SM_UNARY(rsqrt, 1.0f / __builtin_sqrtf)
SM_UNARY(sin, __builtin_sinf)
SM_UNARY(cos, __builtin_cosf)
SM_UNARY(tan, __builtin_tanf)
SM_UNARY(sinpi, softmetal::sinpi)
SM_UNARY(cospi, softmetal::cospi)
SM_UNARY(tanpi, softmetal::tanpi)
SM_UNARY(asin, __builtin_asinf)
SM_UNARY(acos, __builtin_acosf)
SM_UNARY(atan, __builtin_atanf)
SM_UNARY(sinh, __builtin_sinhf)
SM_UNARY(cosh, __builtin_coshf)
SM_UNARY(asinh, __builtin_asinhf)
SM_UNARY(acosh, __builtin_acoshf)
SM_UNARY(atanh, __builtin_atanhf)
SM_UNARY(fabs, __builtin_fabsf)
SM_UNARY(floor, __builtin_floorf)
SM_UNARY(ceil, __builtin_ceilf)
SM_UNARY(round, __builtin_roundf)
SM_UNARY(rint, __builtin_rintf)
SM_UNARY(trunc, __builtin_truncf)
SM_UNARY(sign, softmetal::sign)
#undef SM_UNARY
#undef SM_UNARY_VECTOR

SM_INLINE float fract(float x) { return softmetal::fract(x, 0.999999940395355225f); }
SM_INLINE half fract(half x) { return softmetal::fract(x, (half) 0.99951171875f); }
template<class T, int N> SM_INLINE vec<T, N> fract(vec<T, N> a) {
    for (int i = 0; i < N; ++i) a.e[i] = fract(a.e[i]);
    return a;
}

#define SM_BINARY(name, scalar) \
    SM_INLINE float name(float a, float b) { return scalar(a, b); } \
    SM_INLINE half name(half a, half b) { return (half) scalar((float) a, (float) b); } \
    template<class T, int N> SM_INLINE vec<T, N> name(vec<T, N> a, vec<T, N> b) { \
        for (int i = 0; i < N; ++i) a.e[i] = (T) scalar((float) a.e[i], (float) b.e[i]); \
        return a; \
    }
SM_BINARY(pow, __builtin_powf)
SM_BINARY(powr, __builtin_powf)
SM_BINARY(fmod, __builtin_fmodf)
SM_BINARY(atan2, __builtin_atan2f)
SM_BINARY(copysign, __builtin_copysignf)
SM_BINARY(fdim, softmetal::fdim)
SM_BINARY(divide, softmetal::divide)
#undef SM_BINARY

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

template<class A, class B, class C> SM_INLINE auto min3(A a, B b, C c) { return min(min(a, b), c); }
template<class A, class B, class C> SM_INLINE auto max3(A a, B b, C c) { return max(max(a, b), c); }
template<class A, class B, class C> SM_INLINE auto median3(A a, B b, C c) { return max(min(a, b), min(max(a, b), c)); }
template<class A, class B, class C> SM_INLINE auto fmin3(A a, B b, C c) { return min3(a, b, c); }
template<class A, class B, class C> SM_INLINE auto fmax3(A a, B b, C c) { return max3(a, b, c); }
template<class A, class B, class C> SM_INLINE auto fmedian3(A a, B b, C c) { return median3(a, b, c); }

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

template<class T> SM_INLINE T smoothstep(T low, T high, T x) {
    const T t = saturate((x - low) / (high - low));
    return t * t * (T(3) - T(2) * t);
}
template<class T, int N>
SM_INLINE vec<T, N> smoothstep(typename softmetal::identity<T>::type low, typename softmetal::identity<T>::type high, vec<T, N> x) {
    return smoothstep(vec<T, N>(low), vec<T, N>(high), x);
}

SM_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
// Two halves' product and a half add up without rounding in a double, where it could matter.
SM_INLINE half fma(half a, half b, half c) { return (half) ((double) a * (double) b + (double) c); }
template<class T, int N> SM_INLINE vec<T, N> fma(vec<T, N> a, vec<T, N> b, vec<T, N> c) {
    for (int i = 0; i < N; ++i) a.e[i] = fma(a.e[i], b.e[i], c.e[i]);
    return a;
}

// Functions with a second result.
#define SM_SECOND_RESULT(name, Second) \
    template<int N> SM_INLINE vec<float, N> name(vec<float, N> x, vec<Second, N> & second) { \
        for (int i = 0; i < N; ++i) x.e[i] = name(x.e[i], second.e[i]); \
        return x; \
    }
SM_INLINE float sincos(float x, float & cosine) {
    cosine = __builtin_cosf(x);
    return __builtin_sinf(x);
}
SM_INLINE float modf(float x, float & whole) {
    whole = __builtin_truncf(x);
    return __builtin_isinf(x) ? __builtin_copysignf(0.0f, x) : __builtin_copysignf(x - whole, x);
}
SM_INLINE float frexp(float x, int & exponent) {
    exponent = 0; // what the C library leaves open for infinity and NaN
    return __builtin_frexpf(x, &exponent);
}
SM_SECOND_RESULT(sincos, float)
SM_SECOND_RESULT(modf, float)
SM_SECOND_RESULT(frexp, int)
#undef SM_SECOND_RESULT
SM_INLINE half sincos(half x, half & cosine) {
    cosine = cos(x);
    return sin(x);
}
SM_INLINE half modf(half x, half & whole) {
    float w;
    const half part = (half) modf((float) x, w);
    whole           = (half) w;
    return part;
}
SM_INLINE half frexp(half x, int & exponent) { return (half) frexp((float) x, exponent); }

SM_INLINE float ldexp(float x, int e) { return __builtin_ldexpf(x, e); }
SM_INLINE half ldexp(half x, int e) { return (half) __builtin_ldexpf((float) x, e); }
template<class T, int N> SM_INLINE vec<T, N> ldexp(vec<T, N> x, vec<int, N> e) {
    for (int i = 0; i < N; ++i) x.e[i] = ldexp(x.e[i], e.e[i]);
    return x;
}

SM_INLINE int ilogb(float x) { return __builtin_ilogbf(x); }
template<class T, int N> SM_INLINE vec<int, N> ilogb(vec<T, N> x) {
    vec<int, N> r;
    for (int i = 0; i < N; ++i) r.e[i] = ilogb((float) x.e[i]);
    return r;
}

SM_INLINE float nextafter(float a, float b) { return __builtin_nextafterf(a, b); }
SM_INLINE half nextafter(half a, half b) {
    if (!(a < b || a > b)) return a == b ? b : (half) ((float) a + (float) b);
    if (a == (half) 0.0f) return __builtin_bit_cast(half, (ushort) (b > a ? 0x0001 : 0x8001));
    const ushort bits = __builtin_bit_cast(ushort, a);
    return __builtin_bit_cast(half, (ushort) ((b > a) == (a > (half) 0.0f) ? bits + 1 : bits - 1));
}

// Metal's fast and precise variants differ in accuracy only; here both are accurate.
#define SM_VARIANTS \
    using metal::exp; using metal::tanh; using metal::exp2; using metal::exp10; using metal::log; using metal::log2; \
    using metal::log10; using metal::sqrt; using metal::rsqrt; using metal::sin; using metal::cos; using metal::tan; \
    using metal::sinpi; using metal::cospi; using metal::tanpi; using metal::asin; using metal::acos; using metal::atan; \
    using metal::sinh; using metal::cosh; using metal::asinh; using metal::acosh; using metal::atanh; using metal::fabs; \
    using metal::floor; using metal::ceil; using metal::round; using metal::rint; using metal::trunc; using metal::sign; \
    using metal::fract; using metal::pow; using metal::powr; using metal::fmod; using metal::atan2; using metal::copysign; \
    using metal::fdim; using metal::divide; using metal::min; using metal::max; using metal::fmin; using metal::fmax; \
    using metal::min3; using metal::max3; using metal::median3; using metal::fmin3; using metal::fmax3; using metal::fmedian3; \
    using metal::clamp; using metal::saturate; using metal::mix; using metal::step; using metal::smoothstep; using metal::fma; \
    using metal::sincos; using metal::modf; using metal::frexp; using metal::ldexp; using metal::ilogb; using metal::nextafter;
namespace precise { SM_VARIANTS }
namespace fast { SM_VARIANTS }
#undef SM_VARIANTS

} // namespace metal
