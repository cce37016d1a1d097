// CPU baselines, an architecture at a time.

#include "cpu.h"

namespace softmetal {

#if defined(__x86_64__)

bool cpu_runs(std::string_view baseline) {
    __builtin_cpu_init();
    if (baseline == "x86_64") {
        return true;
    }
    if (baseline == "x86_64_v2") {
        return __builtin_cpu_supports("x86-64-v2");
    }
    if (baseline == "x86_64_v3") {
        return __builtin_cpu_supports("x86-64-v3");
    }
    if (baseline == "x86_64_v4") {
        return __builtin_cpu_supports("x86-64-v4");
    }
    return false;
}

#elif defined(__aarch64__)

bool cpu_runs(std::string_view baseline) {
    return baseline == "generic";
}

#endif

} // namespace softmetal
