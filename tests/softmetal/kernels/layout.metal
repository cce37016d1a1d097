// Sizes, alignments, members of structs, elements of vectors, and matrices.
#include <metal_stdlib>

using namespace metal;

#define VECTORS(T) ONE(T) ONE(T##2) ONE(T##3) ONE(T##4)
#define PACKED(T) ONE(packed_##T##2) ONE(packed_##T##3) ONE(packed_##T##4)
#define MATRICES(T) \
    ONE(T##2x2) ONE(T##2x3) ONE(T##2x4) ONE(T##3x2) ONE(T##3x3) ONE(T##3x4) ONE(T##4x2) ONE(T##4x3) ONE(T##4x4)

// The order is TYPES in test_msl_layout.py.
kernel void sizes(device uint2 * dst) {
    int i = 0;
#define ONE(T) dst[i++] = uint2(sizeof(T), alignof(T));
    VECTORS(bool) VECTORS(char) VECTORS(uchar) VECTORS(short) VECTORS(ushort) VECTORS(int) VECTORS(uint)
    VECTORS(long) VECTORS(ulong) VECTORS(half) VECTORS(bfloat) VECTORS(float)
    PACKED(char) PACKED(uchar) PACKED(short) PACKED(ushort) PACKED(int) PACKED(uint) PACKED(long) PACKED(ulong)
    PACKED(half) PACKED(bfloat) PACKED(float)
    MATRICES(half) MATRICES(float)
#undef ONE
}

struct mixed {
    float         a;
    float4        b;
    char          c;
    half3         d;
    packed_float3 e;
    char2         f;
    float3        g;
    float         h;
    float3x3      i;
    bool          j;
    long          k;
    bfloat4       l;
    uchar         m;
};

struct nested {
    char  a;
    mixed b;
    char  c;
};

#define OFFSET(S, m) (uint) ((device char *) &s->m - (device char *) s)

kernel void offsets(device mixed * s, device uint * dst) {
    dst[0]  = OFFSET(mixed, a);
    dst[1]  = OFFSET(mixed, b);
    dst[2]  = OFFSET(mixed, c);
    dst[3]  = OFFSET(mixed, d);
    dst[4]  = OFFSET(mixed, e);
    dst[5]  = OFFSET(mixed, f);
    dst[6]  = OFFSET(mixed, g);
    dst[7]  = OFFSET(mixed, h);
    dst[8]  = OFFSET(mixed, i);
    dst[9]  = OFFSET(mixed, j);
    dst[10] = OFFSET(mixed, k);
    dst[11] = OFFSET(mixed, l);
    dst[12] = OFFSET(mixed, m);
    dst[13] = sizeof(mixed);
    dst[14] = alignof(mixed);
    dst[15] = sizeof(nested);
}

// The host's values arrive, and what is written lies where the host looks for it.
kernel void members(constant mixed & args, device mixed * dst, uint i [[thread_position_in_grid]]) {
    mixed r = args;
    r.a    += 1;
    r.b    *= 2;
    r.d    += args.d;
    r.e     = packed_float3(float3(args.e) + 1);
    r.g.y   = 9;
    r.i[2]  = args.g;
    r.k    -= 5;
    r.l    += args.l;
    dst[i]  = r;
}

// Vectors where only their elements are aligned, on both sides and through struct, reference and function.
struct boxed {
    float4 v;
};

static float4 twice(thread const float4 & x) {
    return x + x;
}

static void store(device float4 & to, float4 x) {
    to = x;
}

kernel void unaligned(device const char * src, device char * dst, constant uint & shift, uint i [[thread_position_in_grid]]) {
    device const float4 * a = (device const float4 *) (src + shift) + 4*i;
    device       float4 * b = (device       float4 *) (dst + shift) + 4*i;
    b[0] = a[0] + 1;
    b[1] = twice(a[1]);
    store(b[2], ((device const boxed *) a)[2].v);
    ((device boxed *) b)[3] = ((device const boxed *) a)[3];
    device const half4 * c = (device const half4 *) (src + 8192 + shift/2) + i;
    device       half4 * d = (device       half4 *) (dst + 8192 + shift/2) + i;
    d[0] = c[0]*2;
}

kernel void unaligned_matrices(device const char * src, device char * dst, constant uint & shift, uint i [[thread_position_in_grid]]) {
    device const float2x4 & a = ((device const float2x4 *) (src + shift))[i];
    ((device half2x4 *) (dst + shift/2))[i] = half2x4(a);
    device const float4x4 * b = (device const float4x4 *) (src + shift) + i/2;
    const float4x4 copy = *b;
    ((device float4 *) (dst + 8192 + shift))[i] = copy[2*(i % 2)] + (*b)[2*(i % 2) + 1];
}

kernel void swizzles(device const float4 * src, device float4 * dst) {
    const float4 v = src[0];
    dst[0] = v.wzyx;
    dst[1] = v.xxyy;
    dst[2] = float4(v.xy, v.zw);
    dst[3] = float4(v.bgr, v.a);
    dst[4] = float4(dot(v.xyz, v.zzz), v.r, v.g, v.b);
    float4 w = v;
    w.xw = float2(5, 6);
    dst[5] = w;
    w.wx = float2(7, 8);
    dst[6] = w;
    w.xyz = float3(3, 5, 9);
    dst[7] = w;
    w.yz += v.xy;
    w.rg *= 2;
    dst[8] = w;
    dst[9].zyxw = v;
    device float4 * p = dst + 10;
    p->xy = src->zw;
    p->zw = 1.5f;
    (*(p + 1)).xyzw = src[0].yyyy;
}

kernel void constructors(device float4 * dst) {
    const float2 a(1, 2), b(3, 4);
    const float3 c(5, 6, 7);
    dst[0] = float4(a, b);
    dst[1] = float4(a, 8, 9);
    dst[2] = float4(8, 9, a);
    dst[3] = float4(8, a, 9);
    dst[4] = float4(c, 1);
    dst[5] = float4(1, c);
    dst[6] = float4(3);
    dst[7] = float4(float3(a, 8), 0);
    dst[8] = float4(float3(8, a), 0);
    dst[9] = float4(int4(1, -2, 3, -4));
    dst[10] = float4(half4(half2(0.5h, 1), 2, 3));
    dst[11] = float4(bfloat4(bfloat2(1.5f, 2.5f), bfloat(3), 4));
    float4 d = 2;
    d[1] = 7;
    dst[12] = d;
    dst[13] = float4(packed_float4(1, 2, 3, 4)*2.0f) + packed_float4(d);
}

kernel void conversions(device const float4 * src, device int4 * dst) {
    const float4 v = src[0];
    dst[0] = int4(v);
    dst[1] = int4(char4(v));
    dst[2] = int4(ushort4(abs(v)));
    dst[3] = int4(bool4(v));
    dst[4] = as_type<int4>(v);
    dst[5] = int4(as_type<char4>(as_type<int>(v.x)));
    dst[6] = int4(int2(as_type<short2>(v.y)), int2(as_type<ushort2>(v.y)));
    dst[7] = int4(static_cast<half4>(v)*2.0h);
    dst[8] = int4(bfloat4(int4(16777217 + 65536, -3, 0, 1)));
    dst[9] = int4((float) as_type<half>((ushort) 0x3c00), (int) as_type<uint>(half2(1, 2)), as_type<int>(1.0f), 0);
}

kernel void booleans(device const float4 * a, device const float4 * b, device int4 * dst, uint i [[thread_position_in_grid]]) {
    const bool4 less = a[i] < b[i];
    const bool4 same = a[i] == b[i];
    dst[8*i + 0] = int4(less);
    dst[8*i + 1] = int4(same);
    dst[8*i + 2] = int4(!less);
    dst[8*i + 3] = int4(less || same);
    dst[8*i + 4] = int4(less && bool4(true, false, true, false));
    dst[8*i + 5] = int4(select(a[i], b[i], less));
    dst[8*i + 6] = int4(any(less), all(less), any(same), all(same));
    dst[8*i + 7] = int4(isnan(a[i]));
}

kernel void matrices(device const float4x4 * src, device float4 * dst) {
    const float4x4 a = src[0], b = src[1];
    const float4 x(1, 2, 3, 4);
    const float4x4 ab = a*b;
    for (int i = 0; i < 4; ++i) {
        dst[i]      = ab[i];
        dst[4 + i]  = (a + b*2.0f - a)[i];
        dst[8 + i]  = transpose(a)[i];
        dst[12 + i] = float4x4(3.0f)[i];
    }
    dst[16] = a*x;
    dst[17] = x*a;
    const float2x3 c(float3(1, 2, 3), float3(4, 5, 6));
    dst[18] = float4(c*float2(10, 100), 0);
    dst[19] = float4(float3(1, 10, 100)*c, determinant(float2x2(1, 2, 3, 4)), determinant(a));
    const half3x3 h(1, 2, 3, 4, 5, 6, 7, 8, 10);
    dst[20] = float4((float3) (h*half3(1, 1, 1)), (float) determinant(h));
    float3x2 d = transpose(c);
    d[1].y = 50;
    d[2][0] = 60;
    dst[21] = float4(d[0], d[1]);
    dst[22] = float4(d[2], 0, 0);
}
