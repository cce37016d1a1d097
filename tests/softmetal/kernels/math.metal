// Functions of floats, one value each, and of vectors, which must agree.
#include <metal_stdlib>

using namespace metal;

#define UNARY(name) \
    kernel void name##_of(device const float * x, device float * y, device float4 * z, device float * precisely, \
            device float * quickly, uint i [[thread_position_in_grid]]) { \
        y[i] = name(x[i]); \
        z[i] = name(float4(1.0f, x[i], 0.5f, x[i])); \
        precisely[i] = precise::name(x[i]); \
        quickly[i]   = fast::name(x[i]); \
    }
UNARY(exp) UNARY(exp2) UNARY(exp10) UNARY(log) UNARY(log2) UNARY(log10) UNARY(sqrt) UNARY(rsqrt)
UNARY(sin) UNARY(cos) UNARY(tan) UNARY(sinpi) UNARY(cospi) UNARY(tanpi) UNARY(asin) UNARY(acos) UNARY(atan)
UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(asinh) UNARY(acosh) UNARY(atanh)
UNARY(fabs) UNARY(floor) UNARY(ceil) UNARY(round) UNARY(rint) UNARY(trunc) UNARY(fract) UNARY(sign) UNARY(saturate)

#define BINARY(name) \
    kernel void name##_of(device const float * a, device const float * b, device float * y, device float4 * z, \
            uint i [[thread_position_in_grid]]) { \
        y[i] = name(a[i], b[i]); \
        z[i] = name(float4(1.0f, a[i], 0.5f, a[i]), float4(1.0f, b[i], 2.0f, b[i])); \
    }
BINARY(pow) BINARY(powr) BINARY(fmod) BINARY(atan2) BINARY(copysign) BINARY(fdim) BINARY(divide) BINARY(fmin) BINARY(fmax)
BINARY(step)
kernel void nextafter_of(device const float * a, device const float * b, device float * y, device float4 * z,
        uint i [[thread_position_in_grid]]) {
    y[i] = nextafter(a[i], b[i]);
    z[i] = y[i];
}

kernel void ternary(device const float * a, device const float * b, device const float * c, device float * dst, constant uint & n,
        uint i [[thread_position_in_grid]]) {
    const float x = a[i], y = b[i], z = c[i];
    dst[0*n + i] = fma(x, y, z);
    dst[1*n + i] = fma(float3(x), float3(y), float3(z)).z;
    dst[2*n + i] = mix(x, y, z);
    dst[3*n + i] = mix(float2(x), float2(y), z).y;
    dst[4*n + i] = clamp(x, -1.0f, 2.0f);
    dst[5*n + i] = clamp(float4(x), float4(-1.0f), float4(2.0f)).w;
    dst[6*n + i] = clamp(half4(x), half4(-1), half4(2)).w;
    dst[7*n + i] = smoothstep(-1.0f, 2.0f, x);
    dst[8*n + i] = smoothstep(float2(-1), float2(2), float2(x)).y;
    dst[9*n + i] = max3(x, y, z);
    dst[10*n + i] = fmedian3(x, y, z);
}

kernel void two_results(device const float * x, device float * dst, device int * exponents, constant uint & n,
        uint i [[thread_position_in_grid]]) {
    float  whole, cosine;
    float2 wholes, cosines;
    int    e;
    int2   es;
    dst[0*n + i] = modf(x[i], whole);
    dst[1*n + i] = whole;
    dst[2*n + i] = modf(float2(1.5f, x[i]), wholes).y;
    dst[3*n + i] = wholes.y;
    dst[4*n + i] = frexp(x[i], e);
    dst[5*n + i] = frexp(float2(1.5f, x[i]), es).y;
    dst[6*n + i] = sincos(x[i], cosine);
    dst[7*n + i] = cosine;
    dst[8*n + i] = sincos(float2(x[i], 0.5f), cosines).x;
    dst[9*n + i] = cosines.x;
    dst[10*n + i] = ldexp(x[i], 3);
    exponents[0*n + i] = e;
    exponents[1*n + i] = es.y;
    exponents[2*n + i] = ilogb(x[i]);
}

kernel void classes(device const float * x, device const half * h, device int * dst, uint i [[thread_position_in_grid]]) {
    dst[i] = isnan(x[i]) | isinf(x[i]) << 1 | isfinite(x[i]) << 2 | signbit(x[i]) << 3 | isnormal(x[i]) << 4
        | isunordered(x[i], 1.0f) << 5 | isordered(x[i], 1.0f) << 6
        | isnan(h[i]) << 8 | isinf(h[i]) << 9 | isfinite(h[i]) << 10 | signbit(h[i]) << 11 | isnormal(h[i]) << 12
        | any(isnan(float2(0, x[i]))) << 16 | all(isinf(half3(h[i]))) << 17;
}

kernel void geometry(device const float3 * a, device const float3 * b, device float4 * dst) {
    dst[0] = float4(cross(a[0], b[0]), dot(a[0], b[0]));
    dst[1] = float4(length(a[0]), length_squared(a[0]), distance(a[0], b[0]), distance_squared(a[0], b[0]));
    dst[2] = float4(normalize(a[0]), length(half4(3, 4, 0, 0)));
    dst[3] = float4(reflect(a[0], float3(0, 1, 0)), 0);
    dst[4] = float4(refract(normalize(a[0]), float3(0, -1, 0), 0.5f), 0);
    dst[5] = float4(faceforward(a[0], a[0], b[0]), 0);
}
