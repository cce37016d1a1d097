// What `#include <metal_stdlib>` means here: the part of Metal's standard library that compute kernels use,
// written for a CPU and for clang. It is C++17 on its own: no header of the C or C++ library is needed.
//
// It sees translated source (softmetal/msl/translate.py): address spaces, attributes, function constants and
// literals are plain C++ by now.
#pragma once

#include "softmetal/scalar.h"
#include "softmetal/vector.h"
#include "softmetal/matrix.h"
#include "softmetal/math.h"
#include "softmetal/relational.h"
#include "softmetal/integer.h"
#include "softmetal/atomic.h"
#include "softmetal/simdgroup.h"
#include "softmetal/simdgroup_matrix.h"
#include "softmetal/entry.h"
