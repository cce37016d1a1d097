// vec<T, N>: float4, half2, uchar3 ...
//
// Aligned like its element and not, as Metal documents it, like the whole: upstream kernels store float4 to rows
// that are aligned to 8 bytes only, and no CPU gains from more.
#pragma once

#include "scalar.h"

namespace softmetal {

using namespace metal;

// The type a vector computes in: the compiler's own vector of T, or of float for bfloat.
template<class T> struct element { using stored = T; using computed = T; };
template<> struct element<bool> { using stored = uint8_t; using computed = uint8_t; };
template<> struct element<bfloat> { using stored = uint16_t; using computed = float; };

template<class T, int N> using native = T __attribute__((ext_vector_type(N)));

template<class T, int N> struct vec_storage;

#define SM_VEC_STORAGE(N, ...) \
    template<class T> struct vec_storage<T, N> { \
        using stored = typename element<T>::stored; \
        typedef native<stored, N> unaligned __attribute__((aligned(sizeof(stored)))); \
        union { \
            unaligned v; \
            T e[N]; \
            struct { T __VA_ARGS__; }; \
        }; \
    };
SM_VEC_STORAGE(2, x, y)
SM_VEC_STORAGE(3, x, y, z, padding_)
SM_VEC_STORAGE(4, x, y, z, w)
#undef SM_VEC_STORAGE

} // namespace softmetal

namespace metal {

template<class T, int N> struct packed_vec;

template<class T, int N> struct vec : softmetal::vec_storage<T, N> {
    using element_type = T;
    using stored       = softmetal::native<typename softmetal::element<T>::stored, N>;
    using computed     = softmetal::native<typename softmetal::element<T>::computed, N>;

    vec() = default;
    SM_MEMBER vec(T s) { for (int i = 0; i < N; ++i) this->e[i] = s; }
    // A number becomes a bfloat by one conversion already, and C++ makes no second one by itself.
    template<class U, class = enable_if_t<is_same_v<T, bfloat> && __is_arithmetic(U)>>
    SM_MEMBER vec(U s) : vec(bfloat(s)) {}
    SM_MEMBER vec(T a, T b) { static_assert(N == 2, "float2(x, y)"); this->e[0] = a; this->e[1] = b; }
    SM_MEMBER vec(T a, T b, T c) {
        static_assert(N == 3, "float3(x, y, z)");
        this->e[0] = a; this->e[1] = b; this->e[2] = c;
    }
    SM_MEMBER vec(T a, T b, T c, T d) {
        static_assert(N == 4, "float4(x, y, z, w)");
        this->e[0] = a; this->e[1] = b; this->e[2] = c; this->e[3] = d;
    }
    SM_MEMBER vec(vec<T, 2> a, vec<T, 2> b) {
        static_assert(N == 4, "float4(float2, float2)");
        this->e[0] = a.e[0]; this->e[1] = a.e[1]; this->e[2] = b.e[0]; this->e[3] = b.e[1];
    }
    template<class U> SM_MEMBER explicit vec(const vec<U, N> & other) {
        *this = from(__builtin_convertvector(other.compute(), computed));
    }

    template<class U, class = enable_if_t<!is_same_v<T, U>>> SM_MEMBER explicit vec(const packed_vec<U, N> & other)
        : vec(other.unpacked()) {}

    // To and from the type that arithmetic is done in.
    SM_MEMBER computed compute() const {
        if constexpr (is_same_v<T, bfloat>) {
            return (computed) (__builtin_convertvector((stored) this->v, softmetal::native<uint32_t, N>) << 16);
        } else {
            return this->v;
        }
    }
    SM_MEMBER static vec from(computed x) {
        vec r;
        if constexpr (is_same_v<T, bfloat>) {
            for (int i = 0; i < N; ++i) r.e[i] = bfloat(x[i]);
        } else if constexpr (is_same_v<T, bool>) {
            for (int i = 0; i < N; ++i) r.e[i] = x[i] != 0;
        } else {
            r.v = x;
        }
        return r;
    }

    SM_MEMBER T & operator[](size_t i) { return this->e[i]; }
    SM_MEMBER T operator[](size_t i) const { return this->e[i]; }

#define SM_ARITHMETIC(op) \
    SM_MEMBER friend vec operator op(vec a, vec b) { return from(a.compute() op b.compute()); } \
    SM_MEMBER vec & operator op##=(vec b) { return *this = from(compute() op b.compute()); }
    SM_ARITHMETIC(+)
    SM_ARITHMETIC(-)
    SM_ARITHMETIC(*)
    SM_ARITHMETIC(/)
#undef SM_ARITHMETIC

    // Templates, so that they are only looked into for element types that have the operation.
#define SM_BITWISE(op) \
    template<class = void> SM_MEMBER friend vec operator op(vec a, vec b) { return from(a.v op b.v); } \
    template<class = void> SM_MEMBER vec & operator op##=(vec b) { return *this = from(this->v op b.v); }
    SM_BITWISE(&)
    SM_BITWISE(|)
    SM_BITWISE(^)
    SM_BITWISE(<<)
    SM_BITWISE(>>)
    SM_BITWISE(%)
#undef SM_BITWISE

#define SM_COMPARISON(op) \
    SM_MEMBER friend vec<bool, N> operator op(vec a, vec b) { return truth(a.compute() op b.compute()); }
    SM_COMPARISON(<)
    SM_COMPARISON(>)
    SM_COMPARISON(<=)
    SM_COMPARISON(>=)
    SM_COMPARISON(==)
    SM_COMPARISON(!=)
#undef SM_COMPARISON

    SM_MEMBER friend vec operator-(vec a) { return from(-a.compute()); }
    SM_MEMBER friend vec operator+(vec a) { return a; }
    template<class = void> SM_MEMBER friend vec operator~(vec a) { return from(~a.v); }
    SM_MEMBER friend vec<bool, N> operator!(vec a) { return a == vec(T(0)); }

private:
    template<class M> SM_MEMBER static vec<bool, N> truth(M mask) {
        vec<bool, N> r;
        for (int i = 0; i < N; ++i) r.e[i] = mask[i] != 0;
        return r;
    }
};

} // namespace metal

#define SM_VECTORS(T) \
    typedef metal::vec<T, 2> T##2; \
    typedef metal::vec<T, 3> T##3; \
    typedef metal::vec<T, 4> T##4;
SM_VECTORS(bool)
SM_VECTORS(char)
SM_VECTORS(uchar)
SM_VECTORS(short)
SM_VECTORS(ushort)
SM_VECTORS(int)
SM_VECTORS(uint)
SM_VECTORS(long)
SM_VECTORS(ulong)
SM_VECTORS(half)
SM_VECTORS(float)
SM_VECTORS(bfloat)
#undef SM_VECTORS

namespace metal {

// Three elements without padding, four for symmetry: converts to and from vec.
template<class T, int N> struct packed_vec {
    T e[N];
    packed_vec() = default;
    SM_MEMBER packed_vec(vec<T, N> a) { for (int i = 0; i < N; ++i) e[i] = a.e[i]; }
    SM_MEMBER vec<T, N> unpacked() const {
        vec<T, N> r;
        for (int i = 0; i < N; ++i) r.e[i] = e[i];
        return r;
    }
    SM_MEMBER operator vec<T, N>() const { return unpacked(); }
    SM_MEMBER T & operator[](size_t i) { return e[i]; }
    SM_MEMBER T operator[](size_t i) const { return e[i]; }
};

} // namespace metal

#define SM_PACKED(T) \
    typedef metal::packed_vec<T, 2> packed_##T##2; \
    typedef metal::packed_vec<T, 3> packed_##T##3; \
    typedef metal::packed_vec<T, 4> packed_##T##4;
SM_PACKED(char)
SM_PACKED(uchar)
SM_PACKED(short)
SM_PACKED(ushort)
SM_PACKED(int)
SM_PACKED(uint)
SM_PACKED(half)
SM_PACKED(float)
SM_PACKED(bfloat)
#undef SM_PACKED
