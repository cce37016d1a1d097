// A kernel library's shared object, opened: the boundary behind which compiled kernels live (abi.h).
#pragma once

#include "abi.h"

#include <string>

namespace softmetal {

// Opens the shared object and checks that it fits: this ABI, this CPU, made from the source with this key.
// Opening the same path again gives the same table. It stays open for good, because threads keep workers of
// it. Throws std::runtime_error that says what does not fit.
const sm_kernels * open_module(const std::string & path, const std::string & key);

const sm_kernel * find_kernel(const sm_kernels * module, const std::string & name);

} // namespace softmetal
