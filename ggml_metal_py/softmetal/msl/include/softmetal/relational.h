// metal_relational and metal_geometric.
#pragma once

#include "math.h"

namespace metal {

// Metal's default math may take these for false; here they answer.
#define SM_CLASSIFY(name, test) \
    SM_INLINE bool name(float x) { return test(x); } \
    SM_INLINE bool name(half x) { return test((float) x); } \
    template<class T, int N> SM_INLINE vec<bool, N> name(vec<T, N> a) { \
        vec<bool, N> r; \
        for (int i = 0; i < N; ++i) r.e[i] = name(a.e[i]); \
        return r; \
    }
SM_CLASSIFY(isnan, __builtin_isnan)
SM_CLASSIFY(isinf, __builtin_isinf)
SM_CLASSIFY(isfinite, __builtin_isfinite)
SM_CLASSIFY(signbit, __builtin_signbit)
#undef SM_CLASSIFY
SM_INLINE bool isnormal(float x) { return __builtin_isnormal(x); }
SM_INLINE bool isnormal(half x) { return isfinite(x) && fabs(x) >= HALF_MIN; }
template<class T> SM_INLINE auto isunordered(T a, T b) { return isnan(a) || isnan(b); }
template<class T> SM_INLINE auto isordered(T a, T b) { return !isunordered(a, b); }

template<class A, class B> SM_INLINE softmetal::common<A, B> select(A a, B b, bool c) { return c ? b : a; }
template<class T, int N> SM_INLINE vec<T, N> select(vec<T, N> a, vec<T, N> b, vec<bool, N> c) {
    for (int i = 0; i < N; ++i) a.e[i] = c.e[i] ? b.e[i] : a.e[i];
    return a;
}
template<class T, int N> SM_INLINE vec<T, N> select(vec<T, N> a, vec<T, N> b, bool c) { return c ? b : a; }

SM_INLINE bool any(bool a) { return a; }
SM_INLINE bool all(bool a) { return a; }
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
template<class T, int N> SM_INLINE T distance_squared(vec<T, N> a, vec<T, N> b) { return length_squared(a - b); }
template<class T, int N> SM_INLINE T distance(vec<T, N> a, vec<T, N> b) { return length(a - b); }
template<class T, int N> SM_INLINE vec<T, N> normalize(vec<T, N> a) { return a * vec<T, N>(rsqrt(dot(a, a))); }
template<class T> SM_INLINE vec<T, 3> cross(vec<T, 3> a, vec<T, 3> b) {
    return vec<T, 3>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
template<class T, int N> SM_INLINE vec<T, N> reflect(vec<T, N> in, vec<T, N> normal) {
    return in - normal * vec<T, N>(T(2) * dot(in, normal));
}
template<class T, int N> SM_INLINE vec<T, N> faceforward(vec<T, N> n, vec<T, N> in, vec<T, N> reference) {
    return dot(reference, in) < T(0) ? n : -n;
}
template<class T, int N> SM_INLINE vec<T, N> refract(vec<T, N> in, vec<T, N> normal, typename softmetal::identity<T>::type eta) {
    const T cosine = dot(normal, in);
    const T k      = T(1) - eta * eta * (T(1) - cosine * cosine);
    return k < T(0) ? vec<T, N>(T(0)) : in * vec<T, N>(eta) - normal * vec<T, N>(eta * cosine + sqrt(k));
}

} // namespace metal
