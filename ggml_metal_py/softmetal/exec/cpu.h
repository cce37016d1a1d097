// What the CPU this process runs on can execute.
#pragma once

#include <string_view>

namespace softmetal {

// Whether code for a CPU baseline, named as the toolchain names it ("x86_64_v3"), runs here.
bool cpu_runs(std::string_view baseline);

} // namespace softmetal
