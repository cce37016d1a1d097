// metal_simdgroup_matrix: 8x8 matrices that belong to a simdgroup as a whole.
//
// On a GPU the elements are spread over the lanes. Here the simdgroup's first lane holds all of them, as eight
// rows of floats, and does all the work; for the other lanes the functions do nothing.
#pragma once

#include "simdgroup.h"

namespace softmetal {

typedef native<float, 8> Row;

template<class T> SM_INLINE Row load_row(const T * p) {
    if constexpr (is_same_v<T, bfloat>) {
        typedef native<uint16_t, 8> packed __attribute__((aligned(2)));
        return (Row) (__builtin_convertvector(*(const packed *) p, native<uint32_t, 8>) << 16);
    } else {
        typedef native<T, 8> packed __attribute__((aligned(sizeof(T))));
        return __builtin_convertvector(*(const packed *) p, Row);
    }
}

template<class T> SM_INLINE void store_row(T * p, Row row) {
    if constexpr (is_same_v<T, bfloat>) {
        for (int i = 0; i < 8; ++i) p[i] = bfloat(row[i]);
    } else {
        typedef native<T, 8> packed __attribute__((aligned(sizeof(T))));
        *(packed *) p = __builtin_convertvector(row, packed);
    }
}

// What is left of a row when its elements are of type T.
template<class T> SM_INLINE Row round_row(Row row) {
    if constexpr (!is_same_v<T, float>) {
        T stored[8];
        store_row(stored, row);
        return load_row(stored);
    }
    return row;
}

// The work itself, out of line: kernels unroll these by the hundred, and a matrix does not fit into registers anyway.
// In checked mode accesses are known by the line that they are inlined into.
#if defined(SM_CHECKED)
#define SM_OUT_OF_LINE SM_INLINE
#else
#define SM_OUT_OF_LINE static __attribute__((noinline))
#endif

template<class T> SM_OUT_OF_LINE void load(Row * rows, const T * p, ulong stride) {
    for (int i = 0; i < 8; ++i) rows[i] = load_row(p + i * stride);
}

template<class T> SM_OUT_OF_LINE void load_transposed(Row * rows, const T * p, ulong stride) {
    Row columns[8];
    for (int i = 0; i < 8; ++i) columns[i] = load_row(p + i * stride);
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) rows[i][j] = columns[j][i];
    }
}

// `left` by element: broadcasting one from memory is free, from a register it costs a shuffle.
template<class D> SM_OUT_OF_LINE void multiply_accumulate(Row * d, const float * left, const Row * right, const Row * c) {
    Row sum[8];
    for (int i = 0; i < 8; ++i) sum[i] = c[i];
    for (int k = 0; k < 8; ++k) {
        const Row row = right[k];
        for (int i = 0; i < 8; ++i) sum[i] += (Row) (left[i * 8 + k]) * row; // contracted to fma
    }
    for (int i = 0; i < 8; ++i) d[i] = round_row<D>(sum[i]);
}

} // namespace softmetal

namespace metal {

template<class T, int Cols, int Rows> struct simdgroup_matrix {
    static_assert(Cols == 8 && Rows == 8, "simdgroup matrices are 8x8");
    softmetal::Row rows[8];

    simdgroup_matrix() = default;
    SM_MEMBER explicit simdgroup_matrix(T diagonal) {
        if (!softmetal::is_leader()) return;
        for (int i = 0; i < 8; ++i) {
            rows[i]    = 0.0f;
            rows[i][i] = (float) diagonal;
        }
    }
};

typedef simdgroup_matrix<half, 8, 8>   simdgroup_half8x8;
typedef simdgroup_matrix<float, 8, 8>  simdgroup_float8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

template<class T, int Cols, int Rows = Cols> SM_INLINE simdgroup_matrix<T, Cols, Rows> make_filled_simdgroup_matrix(T value) {
    simdgroup_matrix<T, Cols, Rows> m;
    if (softmetal::is_leader()) {
        for (int i = 0; i < 8; ++i) m.rows[i] = (float) value;
    }
    return m;
}

template<class T, class P>
SM_INLINE void simdgroup_load(simdgroup_matrix<T, 8, 8> & m, const P * p, ulong stride = 8, ulong2 origin = 0, bool transpose = false) {
    if (!softmetal::is_leader()) return;
    p += origin.x + origin.y * stride;
    (transpose ? softmetal::load_transposed<P> : softmetal::load<P>)(m.rows, p, stride);
}

template<class T, class P>
SM_INLINE void simdgroup_store(const simdgroup_matrix<T, 8, 8> & m, P * p, ulong stride = 8, ulong2 origin = 0, bool transpose = false) {
    if (!softmetal::is_leader()) return;
    p += origin.x + origin.y * stride;
    for (int i = 0; i < 8; ++i) {
        if (transpose) {
            for (int j = 0; j < 8; ++j) p[j * stride + i] = (P) m.rows[i][j];
        } else {
            softmetal::store_row(p + i * stride, m.rows[i]);
        }
    }
}

// d = a b + c
template<class D, class A, class B, class C>
SM_INLINE void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> & d, const simdgroup_matrix<A, 8, 8> & a,
                                             const simdgroup_matrix<B, 8, 8> & b, const simdgroup_matrix<C, 8, 8> & c) {
    if (!softmetal::is_leader()) return;
    softmetal::multiply_accumulate<D>(d.rows, (const float *) a.rows, b.rows, c.rows);
}

template<class D, class A, class B>
SM_INLINE void simdgroup_multiply(simdgroup_matrix<D, 8, 8> & d, const simdgroup_matrix<A, 8, 8> & a, const simdgroup_matrix<B, 8, 8> & b) {
    simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<float, 8>(0.0f));
}

} // namespace metal
