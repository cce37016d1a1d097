// Device profiles: which GPU softmetal claims to be. A host picks its kernels by these numbers, so a profile
// decides which of them are exercised. Results do not depend on it.
#pragma once

#include <softmetal.h>

// The profile of the device. From the first call on it is fixed.
const struct softmetal_profile * sm_profile(void);
