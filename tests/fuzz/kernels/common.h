// What the kernels here share. They take upstream's argument structs, which the tests describe from its headers,
// and stand in for the kernels of upstream's that have their names.
//
// FAULT(right, wrong) is the one place in which a kernel is wrong, when it is built to be.

#include <metal_stdlib>
using namespace metal;

#if FAULTS
#define FAULT(right, wrong) (wrong)
#else
#define FAULT(right, wrong) (right)
#endif

// The caller's own element of each turn, whatever the threadgroups are like.
#define GRID uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]
#define FOR_EACH(i, n) \
    for (long i = at.x + (long) grid.x * (at.y + (long) grid.y * at.z); i < n; i += (long) grid.x * grid.y * grid.z)

// The caller's threadgroup, and its own columns of a row.
#define ROW                                        \
    uint3 group [[threadgroup_position_in_grid]],  \
    uint3 own [[thread_position_in_threadgroup]],    \
    uint3 threads [[threads_per_threadgroup]]
#define FOR_EACH_COLUMN(i, n) for (long i = own.x; i < n; i += threads.x)

struct place {
    long i0, i1, i2, i3;
};

template <typename A> place place_in_result(constant A & args, long i) {
    return {i % args.ne0, i / args.ne0 % args.ne1, i / args.ne0 / args.ne1 % args.ne2, i / args.ne0 / args.ne1 / args.ne2};
}

template <typename A> place place_in_source(constant A & args, long i) {
    return {i % args.ne00, i / args.ne00 % args.ne01, i / args.ne00 / args.ne01 % args.ne02,
            i / args.ne00 / args.ne01 / args.ne02};
}

template <typename T, typename A> device T & result(constant A & args, device char * dst, place p) {
    return *(device T *) (dst + p.i0 * args.nb0 + p.i1 * args.nb1 + p.i2 * args.nb2 + p.i3 * args.nb3);
}

template <typename T, typename A> device const T & source(constant A & args, device const char * src0, place p) {
    return *(device const T *) (src0 + p.i0 * args.nb00 + p.i1 * args.nb01 + p.i2 * args.nb02 + p.i3 * args.nb03);
}
