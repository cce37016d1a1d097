// Apple's compiled Metal libraries (.metallib): the names of their kernels. Their code is for Apple's GPUs.
#pragma once

#include <string>
#include <vector>

namespace softmetal {

// Host names, sorted. Throws std::runtime_error that names the file when it cannot be read or is no such library.
std::vector<std::string> read_metallib_kernels(const std::string & path);

} // namespace softmetal
