// Kernels with one fault each, and the same kernels without it (NAME_right). What is to be reported stands in the
// line of the fault,
//     // KIND THREADGROUP.SIMDGROUP.LANE
// and in the line that it is at odds with, if there is one:
//     // other THREADGROUP.SIMDGROUP.LANE
// All are run by 2 threadgroups of 64 threads. `src` has 128 floats; `dst` has room for as many, and no values;
// `shared` has 64 floats.
#include <metal_stdlib>
using namespace metal;

#define POSITIONS \
    uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]], \
    uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]], \
    uint sg [[simdgroup_index_in_threadgroup]]
#define ARGUMENTS \
    device const float * src [[buffer(0)]], device float * dst [[buffer(1)]], constant uint & n [[buffer(2)]], \
    device atomic_uint * counter [[buffer(3)]], threadgroup float * shared [[threadgroup(0)]], POSITIONS
