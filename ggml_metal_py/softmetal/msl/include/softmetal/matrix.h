// matrix<T, Cols, Rows>: float4x4, half2x4 ... stored by columns.
#pragma once

#include "vector.h"

namespace metal {

template<class T, int Cols, int Rows> struct matrix {
    vec<T, Rows> columns[Cols];

    matrix() = default;
    SM_MEMBER explicit matrix(T diagonal) {
        for (int i = 0; i < Cols; ++i) {
            columns[i] = vec<T, Rows>(T(0));
            if (i < Rows) columns[i][i] = diagonal;
        }
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
};

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
