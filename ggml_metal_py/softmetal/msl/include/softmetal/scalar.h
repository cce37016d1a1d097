// Scalar types, limits and the type traits that MSL has in namespace metal.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "worker.h" // SM_INLINE; exec/ is on the include path

#define SM_MEMBER inline __attribute__((always_inline))

typedef unsigned char  uchar;
typedef unsigned short ushort;
typedef unsigned int   uint;
typedef unsigned long  ulong;
typedef _Float16       half;

#define INFINITY    (__builtin_inff())
#define NAN         (__builtin_nanf(""))
#define HUGE_VALF   (__builtin_inff())
#define MAXFLOAT    3.402823466e+38f
#define FLT_MAX     3.402823466e+38f
#define FLT_MIN     1.175494351e-38f
#define FLT_EPSILON 1.192092896e-7f
#define MAXHALF     ((half) 65504.0f)
#define HALF_MAX    ((half) 65504.0f)
#define HALF_MIN    ((half) 6.103515625e-5f)
#define HALF_EPSILON ((half) 9.765625e-4f)
#define M_E_F        2.71828182845904523536f
#define M_LOG2E_F    1.44269504088896340736f
#define M_LN2_F      0.69314718055994530942f
#define M_PI_F       3.14159265358979323846f
#define M_PI_2_F     1.57079632679489661923f
#define M_1_PI_F     0.31830988618379067154f
#define M_PI_4_F     0.78539816339744830962f
#define M_2_PI_F     0.63661977236758134308f
#define M_LOG10E_F   0.43429448190325182765f
#define M_LN10_F     2.30258509299404568402f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F    1.41421356237309504880f
#define M_SQRT1_2_F  0.70710678118654752440f
#define CHAR_MAX  127
#define CHAR_MIN  (-128)
#define UCHAR_MAX 255
#define SHRT_MAX  32767
#define SHRT_MIN  (-32768)
#define USHRT_MAX 65535
#define INT_MAX   2147483647
#define INT_MIN   (-INT_MAX - 1)
#define UINT_MAX  4294967295u
#define LONG_MAX  9223372036854775807l
#define LONG_MIN  (-LONG_MAX - 1)
#define ULONG_MAX 18446744073709551615ul

namespace softmetal {
template<class T> struct only_float {};
template<> struct only_float<float> { using type = float; };
template<class T> struct not_float {};
#define SM_NOT_FLOAT(T) template<> struct not_float<T> { using type = T; };
SM_NOT_FLOAT(bool)
SM_NOT_FLOAT(char)
SM_NOT_FLOAT(signed char)
SM_NOT_FLOAT(uchar)
SM_NOT_FLOAT(short)
SM_NOT_FLOAT(ushort)
SM_NOT_FLOAT(int)
SM_NOT_FLOAT(uint)
SM_NOT_FLOAT(long)
SM_NOT_FLOAT(ulong)
SM_NOT_FLOAT(half)
#undef SM_NOT_FLOAT
template<class T> struct identity { using type = T; };

template<bool INTEGRAL> struct integer_only {};
template<> struct integer_only<true> { using type = int; };
template<class T> using only_integer = typename integer_only<__is_integral(T)>::type;

// The float next to an integer, on the side of which its last bit is odd unless it is exact: rounding that once more,
// to fewer bits, gives what rounding the integer would have given.
template<class I> SM_INLINE float to_odd_float(I value) {
    uint64_t magnitude = value < 0 ? 0 - (uint64_t) value : (uint64_t) value;
    const int drop     = 40 - (magnitude ? __builtin_clzll(magnitude) : 64);
    if (drop > 0) {
        const uint64_t dropped = magnitude & ((1ull << drop) - 1);
        magnitude              = magnitude - dropped | (uint64_t) (dropped != 0) << drop;
    }
    return value < 0 ? -(float) magnitude : (float) magnitude;
}
} // namespace softmetal

// A struct and not __bf16: clang 19 crashes on vectors of those (x86). Each operation is done in float and rounded:
// that is the correctly rounded result, as a float has more than twice as many bits.
struct bfloat {
    uint16_t bits;

    bfloat() = default;
    template<class T, int = sizeof((float) T())>
    SM_MEMBER bfloat(T value) {
        if constexpr (__is_integral(T) && sizeof(T) >= 4) {
            bits = from_float(softmetal::to_odd_float(value));
        } else {
            bits = from_float((float) value);
        }
    }
    // To float and to nothing else, or `bfloat + 1` would be ambiguous.
    template<class T, class = typename softmetal::only_float<T>::type>
    SM_MEMBER operator T() const { return __builtin_bit_cast(float, (uint32_t) bits << 16); }
    template<class T, class = typename softmetal::not_float<T>::type> SM_MEMBER explicit operator T() const { return (T) (float) *this; }

    SM_MEMBER bfloat & operator+=(float x) { return *this = bfloat((float) *this + x); }
    SM_MEMBER bfloat & operator-=(float x) { return *this = bfloat((float) *this - x); }
    SM_MEMBER bfloat & operator*=(float x) { return *this = bfloat((float) *this * x); }
    SM_MEMBER bfloat & operator/=(float x) { return *this = bfloat((float) *this / x); }

private:
    static SM_MEMBER uint16_t from_float(float value) {
        const uint32_t u  = __builtin_bit_cast(uint32_t, value);
        const bool is_nan = (u & 0x7fffffff) > 0x7f800000;
        return (uint16_t) (is_nan ? u >> 16 | 64 : (u + 0x7fff + (u >> 16 & 1)) >> 16); // to nearest even
    }
};

// The usual arithmetic conversions: with another bfloat or an integer a bfloat results, with a float a float.
#define SM_BFLOAT_OPERATOR(result, mixed, op) \
    SM_INLINE result operator op(bfloat a, bfloat b) { return (float) a op (float) b; } \
    SM_INLINE mixed operator op(bfloat a, float b) { return (float) a op b; } \
    SM_INLINE mixed operator op(float a, bfloat b) { return a op (float) b; } \
    template<class I, class = softmetal::only_integer<I>> SM_INLINE result operator op(bfloat a, I b) { return a op bfloat(b); } \
    template<class I, class = softmetal::only_integer<I>> SM_INLINE result operator op(I a, bfloat b) { return bfloat(a) op b; }
SM_BFLOAT_OPERATOR(bfloat, float, +)
SM_BFLOAT_OPERATOR(bfloat, float, -)
SM_BFLOAT_OPERATOR(bfloat, float, *)
SM_BFLOAT_OPERATOR(bfloat, float, /)
SM_BFLOAT_OPERATOR(bool, bool, <)
SM_BFLOAT_OPERATOR(bool, bool, >)
SM_BFLOAT_OPERATOR(bool, bool, <=)
SM_BFLOAT_OPERATOR(bool, bool, >=)
SM_BFLOAT_OPERATOR(bool, bool, ==)
SM_BFLOAT_OPERATOR(bool, bool, !=)
#undef SM_BFLOAT_OPERATOR
SM_INLINE bfloat operator-(bfloat a) { return -(float) a; }
SM_INLINE bfloat operator+(bfloat a) { return a; }

namespace metal {

template<class A, class B> struct is_same { static constexpr bool value = false; };
template<class A> struct is_same<A, A> { static constexpr bool value = true; };
template<class A, class B> constexpr bool is_same_v = is_same<A, B>::value;

template<bool B, class T = void> struct enable_if {};
template<class T> struct enable_if<true, T> { using type = T; };
template<bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;

template<bool B, class T, class F> struct conditional { using type = T; };
template<class T, class F> struct conditional<false, T, F> { using type = F; };
template<bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;

template<class T> struct is_arithmetic {
    static constexpr bool value = __is_arithmetic(T) || is_same_v<T, half> || is_same_v<T, bfloat>;
};
template<class T> constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template<class T> constexpr bool is_floating_v = is_same_v<T, float> || is_same_v<T, half> || is_same_v<T, bfloat>;

template<class T, class U> SM_INLINE T as_type(U value) { return __builtin_bit_cast(T, value); }

} // namespace metal

namespace softmetal {

// A function constant of the pipeline that runs. The loads are marked so that compile.py's pass over the
// compiler's output makes them invariant (ir.py): the value is the same for a whole dispatch.
template<class T, int SLOT> SM_INLINE T function_constant() {
    const int64_t * constants = __builtin_nontemporal_load(&current_worker().constants);
    return __builtin_nontemporal_load((const T *) &constants[SLOT]);
}

template<int SLOT> SM_INLINE bool function_constant_defined() { return current_worker().constants_set[SLOT]; }

// In checked mode there is room behind each variable, and their places are known.
#if defined(SM_CHECKED)
enum : uint32_t { VARIABLE_GAP = 256 };
extern "C" void softmetal_variable(const void * start, size_t bytes, const char * name);
SM_INLINE void note_variable(const void * start, size_t bytes, const char * name) { softmetal_variable(start, bytes, name); }
#else
enum : uint32_t { VARIABLE_GAP = 0 };
SM_INLINE void note_variable(const void *, size_t, const char *) {}
#endif

// A `threadgroup` variable declared in a kernel, the NUMBER-th, at its place in the static threadgroup memory.
template<class T, uint32_t OFFSET, uint32_t NUMBER> SM_INLINE T & threadgroup_variable(const char * name) {
    char * start = current_worker().static_threadgroup_memory + OFFSET + NUMBER * VARIABLE_GAP;
    note_variable(start, sizeof(T), name);
    return *(T *) start;
}

// Tells compile.py where a threadgroup variable ends.
template<uint32_t END> SM_INLINE void static_bytes() {}

// Bytes that threadgroup variables of a kernel may take; Metal's own limit for all threadgroup memory.
constexpr uint32_t STATIC_THREADGROUP_BYTES = 32 * 1024;

} // namespace softmetal
