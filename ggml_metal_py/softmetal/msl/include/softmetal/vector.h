// vec<T, N>: float4, half2, uchar3 ...
//
// Size and alignment are Metal's, so that structs are laid out as the host expects. Code, however, never counts on
// the alignment (msl/ir.py): kernels do store float4 to rows that are aligned to 8 bytes only.
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

#define SM_XYZW_2 x, y
#define SM_XYZW_3 x, y, z, padding_
#define SM_XYZW_4 x, y, z, w
#define SM_RGBA_2 r, g
#define SM_RGBA_3 r, g, b, colour_padding_
#define SM_RGBA_4 r, g, b, a
#define SM_VEC_STORAGE(N) \
    template<class T> struct alignas(sizeof(native<typename element<T>::stored, N>)) vec_storage<T, N> { \
        using stored = typename element<T>::stored; \
        typedef native<stored, N> unaligned __attribute__((aligned(sizeof(stored)))); \
        union { \
            unaligned v; \
            T e[N]; \
            struct { T SM_XYZW_##N; }; \
            struct { T SM_RGBA_##N; }; \
        }; \
    };
SM_VEC_STORAGE(2)
SM_VEC_STORAGE(3)
SM_VEC_STORAGE(4)
#undef SM_VEC_STORAGE

} // namespace softmetal

namespace metal {

template<class T, int N> struct packed_vec;
template<class T, int N> struct vec;

} // namespace metal

namespace softmetal {

// How many elements a constructor's argument brings, and whether it is a vector.
template<class T> struct part { static constexpr int elements = 1; static constexpr bool is_vector = false; };
template<class T, int N> struct part<vec<T, N>> { static constexpr int elements = N; static constexpr bool is_vector = true; };

// v.zx as the left side of an assignment.
template<class T, int... I> struct swizzled {
    T * elements;
    using Vector = vec<T, sizeof...(I)>;

    SM_MEMBER void operator=(Vector value) {
        int i = 0;
        ((elements[I] = value.e[i++]), ...);
    }
    SM_MEMBER Vector get() const { return Vector(elements[I]...); }
    SM_MEMBER void operator+=(Vector value) { *this = get() + value; }
    SM_MEMBER void operator-=(Vector value) { *this = get() - value; }
    SM_MEMBER void operator*=(Vector value) { *this = get() * value; }
    SM_MEMBER void operator/=(Vector value) { *this = get() / value; }
};

} // namespace softmetal

namespace metal {

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
    // float4(float2, float, float) and whatever else adds up to N elements.
    template<class A, class B, class... R,
             class = enable_if_t<softmetal::part<A>::is_vector || softmetal::part<B>::is_vector || (softmetal::part<R>::is_vector || ...)>>
    SM_MEMBER vec(A a, B b, R... rest) {
        static_assert(softmetal::part<A>::elements + softmetal::part<B>::elements + (softmetal::part<R>::elements + ... + 0) == N,
                      "the arguments must add up to the vector's elements");
        int i = 0;
        append(i, a);
        append(i, b);
        (append(i, rest), ...);
    }
    template<class U> SM_MEMBER explicit vec(const vec<U, N> & other) {
        if constexpr (is_same_v<T, bool>) {
            for (int i = 0; i < N; ++i) this->e[i] = (bool) other.e[i];
        } else if constexpr (is_same_v<T, bfloat> && __is_integral(U)) {
            for (int i = 0; i < N; ++i) this->e[i] = bfloat(other.e[i]);
        } else {
            *this = from(__builtin_convertvector(other.compute(), computed));
        }
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

    // v.xzy, and the same on the left of an assignment: translate.py spells them so.
    template<int... I> SM_MEMBER vec<T, sizeof...(I)> swizzle() const {
        static_assert(((I < N) && ...), "the vector has no such element");
        return vec<T, sizeof...(I)>(this->e[I]...);
    }
    template<int... I> SM_MEMBER softmetal::swizzled<T, I...> swizzle_to() {
        static_assert(((I < N) && ...), "the vector has no such element");
        return { this->e };
    }

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
    SM_MEMBER friend vec<bool, N> operator&&(vec a, vec b) { return (vec<bool, N>) a & (vec<bool, N>) b; }
    SM_MEMBER friend vec<bool, N> operator||(vec a, vec b) { return (vec<bool, N>) a | (vec<bool, N>) b; }
    SM_MEMBER vec & operator++() { return *this += vec(T(1)); }
    SM_MEMBER vec & operator--() { return *this -= vec(T(1)); }
    SM_MEMBER vec operator++(int) { const vec old = *this; ++*this; return old; }
    SM_MEMBER vec operator--(int) { const vec old = *this; --*this; return old; }

private:
    SM_MEMBER void append(int & i, T s) { this->e[i++] = s; }
    template<int M> SM_MEMBER void append(int & i, vec<T, M> v) {
        for (int k = 0; k < M; ++k) this->e[i++] = v.e[k];
    }

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

// Elements without padding: what lies in memory. Arithmetic is done on vec.
template<class T, int N> struct packed_storage;
template<class T> struct packed_storage<T, 2> { union { T e[2]; struct { T x, y; }; struct { T r, g; }; }; };
template<class T> struct packed_storage<T, 3> { union { T e[3]; struct { T x, y, z; }; struct { T r, g, b; }; }; };
template<class T> struct packed_storage<T, 4> { union { T e[4]; struct { T x, y, z, w; }; struct { T r, g, b, a; }; }; };

template<class T, int N> struct packed_vec : packed_storage<T, N> {
    packed_vec() = default;
    SM_MEMBER packed_vec(vec<T, N> a) { for (int i = 0; i < N; ++i) this->e[i] = a.e[i]; }
    template<class... A, class = enable_if_t<(sizeof...(A) > 1)>> SM_MEMBER packed_vec(A... parts) : packed_vec(vec<T, N>(parts...)) {}
    SM_MEMBER vec<T, N> unpacked() const {
        vec<T, N> r;
        for (int i = 0; i < N; ++i) r.e[i] = this->e[i];
        return r;
    }
    SM_MEMBER operator vec<T, N>() const { return unpacked(); }
    SM_MEMBER T & operator[](size_t i) { return this->e[i]; }
    SM_MEMBER T operator[](size_t i) const { return this->e[i]; }
    template<int... I> SM_MEMBER vec<T, sizeof...(I)> swizzle() const { return unpacked().template swizzle<I...>(); }
    template<int... I> SM_MEMBER softmetal::swizzled<T, I...> swizzle_to() {
        static_assert(((I < N) && ...), "the vector has no such element");
        return { this->e };
    }

#define SM_ARITHMETIC(op) \
    SM_MEMBER friend packed_vec operator op(packed_vec a, packed_vec b) { return a.unpacked() op b.unpacked(); } \
    SM_MEMBER friend vec<T, N> operator op(packed_vec a, vec<T, N> b) { return a.unpacked() op b; } \
    SM_MEMBER friend vec<T, N> operator op(vec<T, N> a, packed_vec b) { return a op b.unpacked(); } \
    SM_MEMBER friend packed_vec operator op(packed_vec a, T b) { return a.unpacked() op b; } \
    SM_MEMBER friend packed_vec operator op(T a, packed_vec b) { return a op b.unpacked(); } \
    SM_MEMBER packed_vec & operator op##=(vec<T, N> b) { return *this = unpacked() op b; }
    SM_ARITHMETIC(+)
    SM_ARITHMETIC(-)
    SM_ARITHMETIC(*)
    SM_ARITHMETIC(/)
#undef SM_ARITHMETIC
    SM_MEMBER friend packed_vec operator-(packed_vec a) { return -a.unpacked(); }
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
SM_PACKED(long)
SM_PACKED(ulong)
SM_PACKED(half)
SM_PACKED(float)
SM_PACKED(bfloat)
#undef SM_PACKED
