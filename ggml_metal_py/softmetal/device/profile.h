// Device profiles: which GPU softmetal claims to be. A host picks its kernels by these numbers, so a profile
// decides which of them are exercised. Results do not depend on it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sm_profile {
    const char * name;        // what softmetal_set_profile takes
    const char * device_name; // what the device answers
    int          apple_family;
    bool         metal3;
    uint64_t     max_buffer_bytes;
    uint64_t     working_set_bytes; // recommended maximum
    uint32_t     threadgroup_bytes;
    uint32_t     max_threads; // of a threadgroup
    uint32_t     simd_width;
};

// The profile of the device. From the first call on it is fixed.
const struct sm_profile * sm_profile(void);
