// CPU baselines, an architecture at a time.

#include "cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace softmetal {

#if defined(__x86_64__)

namespace {

// The feature bits that a leaf of cpuid reports. (The compiler's own __builtin_cpu_supports is not used: the
// run-time library of zig answers it with zeros.)
struct Leaf {
    explicit Leaf(unsigned number) {
        if (!__get_cpuid_count(number, 0, &a, &b, &c, &d)) {
            a = b = c = d = 0;
        }
    }
    unsigned a, b, c, d;
};

bool has(unsigned bits, unsigned wanted) {
    return (bits & wanted) == wanted;
}

// Whether the operating system saves all these registers (XCR0 bits) when it switches threads.
bool saves(unsigned wanted) {
    if (!has(Leaf(1).c, bit_OSXSAVE)) {
        return false;
    }
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return has(low, wanted);
}

constexpr unsigned SSE_AND_AVX = 0x6;
constexpr unsigned AVX512      = 0xe0;
constexpr unsigned LZCNT       = 1 << 5; // of leaf 0x80000001
constexpr unsigned LAHF        = 1 << 0;

bool is_v2() {
    return has(Leaf(1).c, bit_SSE3 | bit_SSSE3 | bit_SSE41 | bit_SSE42 | bit_POPCNT | bit_CMPXCHG16B) &&
           has(Leaf(0x80000001).c, LAHF);
}

bool is_v3() {
    return is_v2() && saves(SSE_AND_AVX) && has(Leaf(1).c, bit_AVX | bit_FMA | bit_F16C | bit_MOVBE) &&
           has(Leaf(7).b, bit_AVX2 | bit_BMI | bit_BMI2) && has(Leaf(0x80000001).c, LZCNT);
}

bool is_v4() {
    return is_v3() && saves(AVX512) &&
           has(Leaf(7).b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
}

} // namespace

bool cpu_runs(std::string_view baseline) {
    return baseline == "x86_64" || (baseline == "x86_64_v2" && is_v2()) || (baseline == "x86_64_v3" && is_v3()) ||
           (baseline == "x86_64_v4" && is_v4());
}

#elif defined(__aarch64__)

bool cpu_runs(std::string_view baseline) {
    return baseline == "generic";
}

#endif

} // namespace softmetal
