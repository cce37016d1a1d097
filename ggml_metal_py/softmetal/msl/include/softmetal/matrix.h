// matrix<T, Cols, Rows>: float4x4, half2x4 ... stored by columns.
#pragma once

#include "vector.h"

namespace metal {

template<class T, int Cols, int Rows> struct matrix {
    vec<T, Rows> columns[Cols];

    matrix() = default;
    // Column by column, without a loop: LLVM would see plain memory that is copied, and take it apart into single
    // elements, each in a register or on the stack.
    SM_MEMBER matrix(const matrix & other) { *this = other; }
    SM_MEMBER matrix & operator=(const matrix & other) {
        columns[0].v = other.columns[0].v;
        columns[1].v = other.columns[1].v;
        if constexpr (Cols > 2) columns[2].v = other.columns[2].v;
        if constexpr (Cols > 3) columns[3].v = other.columns[3].v;
        return *this;
    }
    SM_MEMBER explicit matrix(T diagonal) {
        for (int i = 0; i < Cols; ++i) {
            columns[i] = vec<T, Rows>(T(0));
            if (i < Rows) columns[i][i] = diagonal;
        }
    }
    // By columns: one vector or Rows numbers for each.
    template<class... C, class = enable_if_t<(sizeof...(C) > 1)>> SM_MEMBER matrix(C... parts) {
        static_assert((softmetal::part<C>::elements + ...) == Cols * Rows, "the arguments must add up to the matrix's elements");
        int i = 0;
        (append(i, parts), ...);
    }
    template<class U> SM_MEMBER explicit matrix(const matrix<U, Cols, Rows> & other) {
        for (int i = 0; i < Cols; ++i) columns[i] = (vec<T, Rows>) other.columns[i];
    }

    SM_MEMBER vec<T, Rows> & operator[](size_t i) { return columns[i]; }
    SM_MEMBER const vec<T, Rows> & operator[](size_t i) const { return columns[i]; }

    SM_MEMBER friend matrix operator+(matrix a, const matrix & b) {
        for (int i = 0; i < Cols; ++i) a.columns[i] += b.columns[i];
        return a;
    }
    SM_MEMBER friend matrix operator-(matrix a, const matrix & b) {
        for (int i = 0; i < Cols; ++i) a.columns[i] -= b.columns[i];
        return a;
    }
    SM_MEMBER friend matrix operator*(matrix a, T s) {
        for (int i = 0; i < Cols; ++i) a.columns[i] *= vec<T, Rows>(s);
        return a;
    }
    SM_MEMBER friend matrix operator*(T s, matrix a) { return a * s; }
    SM_MEMBER friend vec<T, Rows> operator*(const matrix & m, vec<T, Cols> x) {
        vec<T, Rows> r = m.columns[0] * vec<T, Rows>(x.e[0]);
        for (int i = 1; i < Cols; ++i) r += m.columns[i] * vec<T, Rows>(x.e[i]);
        return r;
    }
    SM_MEMBER friend vec<T, Cols> operator*(vec<T, Rows> x, const matrix & m) {
        vec<T, Cols> r(T(0));
        for (int i = 0; i < Cols; ++i) {
            for (int j = 0; j < Rows; ++j) r.e[i] += x.e[j] * m.columns[i].e[j];
        }
        return r;
    }
    template<int C> SM_MEMBER friend matrix<T, C, Rows> operator*(const matrix & a, const matrix<T, C, Cols> & b) {
        matrix<T, C, Rows> r;
        for (int i = 0; i < C; ++i) r.columns[i] = a * b.columns[i];
        return r;
    }
    SM_MEMBER matrix & operator+=(const matrix & b) { return *this = *this + b; }
    SM_MEMBER matrix & operator-=(const matrix & b) { return *this = *this - b; }
    SM_MEMBER matrix & operator*=(T s) { return *this = *this * s; }
    SM_MEMBER friend matrix operator-(const matrix & a) { return a * T(-1); }

private:
    SM_MEMBER void append(int & i, T s) {
        columns[i / Rows].e[i % Rows] = s;
        ++i;
    }
    template<int M> SM_MEMBER void append(int & i, vec<T, M> v) {
        for (int k = 0; k < M; ++k) append(i, v.e[k]);
    }
};

template<class T, int Cols, int Rows> SM_INLINE matrix<T, Rows, Cols> transpose(const matrix<T, Cols, Rows> & m) {
    matrix<T, Rows, Cols> r;
    for (int i = 0; i < Cols; ++i) {
        for (int j = 0; j < Rows; ++j) r.columns[j].e[i] = m.columns[i].e[j];
    }
    return r;
}

template<class T> SM_INLINE T determinant(const matrix<T, 2, 2> & m) {
    return m[0].e[0] * m[1].e[1] - m[1].e[0] * m[0].e[1];
}
// Along the first column.
template<class T, int N> SM_INLINE T determinant(const matrix<T, N, N> & m) {
    T sum = T(0);
    for (int k = 0; k < N; ++k) {
        matrix<T, N - 1, N - 1> minor;
        for (int i = 1; i < N; ++i) {
            for (int j = 0; j < N - 1; ++j) minor[i - 1].e[j] = m[i].e[j < k ? j : j + 1];
        }
        const T term = m[0].e[k] * determinant(minor);
        sum          = k % 2 ? sum - term : sum + term;
    }
    return sum;
}

} // namespace metal

#define SM_MATRICES(T) \
    typedef metal::matrix<T, 2, 2> T##2x2; \
    typedef metal::matrix<T, 2, 3> T##2x3; \
    typedef metal::matrix<T, 2, 4> T##2x4; \
    typedef metal::matrix<T, 3, 2> T##3x2; \
    typedef metal::matrix<T, 3, 3> T##3x3; \
    typedef metal::matrix<T, 3, 4> T##3x4; \
    typedef metal::matrix<T, 4, 2> T##4x2; \
    typedef metal::matrix<T, 4, 3> T##4x3; \
    typedef metal::matrix<T, 4, 4> T##4x4;
SM_MATRICES(half)
SM_MATRICES(float)
#undef SM_MATRICES
