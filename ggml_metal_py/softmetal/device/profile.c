// The profiles, after what programs report of such devices. No M5: its Metal 4 tensors are not implemented. None of
// the GPUs whose simdgroups are not 32 wide.

#include "profile.h"
#include "failure.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB            (UINT64_C(1) << 30)
#define WHOLE_PAGES(n) (((n) + 16383) / 16384 * 16384)

// An Apple GPU takes up to two thirds of the memory it shares with the CPU, or three quarters of 48 GB and more.
#define WORKING_SET(gib) WHOLE_PAGES((gib) * GIB * ((gib) < 48 ? 8 : 9) / 12)
#define SHARED(gib, buffer)                                                                                            \
    .unified_memory = 1, .working_set_bytes = WORKING_SET(gib), .max_buffer_bytes = (buffer), ALL
#define MAC(gib)    .mac2 = 1, SHARED(gib, (gib) * GIB * ((gib) < 48 ? 8 : 9) / 16)
#define IPHONE(gib) SHARED(gib, GIB)
#define ALL         .threadgroup_bytes = 32768, .max_threads = 1024, .simd_width = 32

static const struct softmetal_profile profiles[] = {
    { .name = "M1", .device_name = "Apple M1", .apple = 7, .metal3 = 1, MAC(16) },
    { .name = "M2", .device_name = "Apple M2", .apple = 8, .metal3 = 1, MAC(16) },
    { .name = "M2-Ultra", .device_name = "Apple M2 Ultra", .apple = 8, .metal3 = 1, MAC(192) },
    { .name = "M3", .device_name = "Apple M3", .apple = 9, .metal3 = 1, MAC(16) },
    { .name = "M4", .device_name = "Apple M4", .apple = 9, .metal3 = 1, MAC(16) },
    // iPhone 11: the last without simdgroup matrices. iPhone 12.
    { .name = "A13", .device_name = "Apple A13 GPU", .apple = 6, .metal3 = 1, IPHONE(4) },
    { .name = "A14", .device_name = "Apple A14 GPU", .apple = 7, .metal3 = 1, IPHONE(4) },
    // A virtual machine on a Mac, as continuous integration has it: no simdgroup functions, no bfloat.
    { .name = "paravirtual", .device_name = "Apple Paravirtual device", .apple = 5, MAC(7) },
    // A card in an Intel Mac, with 16 GB of its own.
    { .name = "AMD", .device_name = "AMD Radeon RX 6950 XT", .mac2 = 1, .metal3 = 1, ALL,
      .working_set_bytes = UINT64_C(17163091968), .max_buffer_bytes = GIB * 7 / 2 },
};

enum { N_PROFILES = sizeof profiles / sizeof profiles[0] };

#define DEFAULT_PROFILE "M2"

static pthread_mutex_t                            mutex = PTHREAD_MUTEX_INITIALIZER;
static const struct softmetal_profile *           chosen; // guarded by mutex; NULL: the default
static _Atomic(const struct softmetal_profile *)  in_use; // set once

const struct softmetal_profile * softmetal_get_profile(int index) {
    return index >= 0 && index < N_PROFILES ? &profiles[index] : NULL;
}

static const struct softmetal_profile * find(const char * name) {
    for (int i = 0; i < N_PROFILES; i++) {
        if (strcmp(profiles[i].name, name) == 0) {
            return &profiles[i];
        }
    }
    char text[256];
    int  length = snprintf(text, sizeof text, "no device profile is called \"%.64s\"; there are", name);
    for (int i = 0; i < N_PROFILES; i++) {
        length += snprintf(text + length, sizeof text - (size_t) length, " %s", profiles[i].name);
    }
    sm_failure_set(text);
    return NULL;
}

static const struct softmetal_profile * from_environment(void) {
    const char *              name    = getenv("SOFTMETAL_PROFILE");
    const struct softmetal_profile * profile = name ? find(name) : NULL;

    if (name && !profile) {
        fprintf(stderr, "softmetal: SOFTMETAL_PROFILE names no profile (\"%s\"): using " DEFAULT_PROFILE "\n", name);
    }
    return profile ? profile : find(DEFAULT_PROFILE);
}

const struct softmetal_profile * sm_profile(void) {
    const struct softmetal_profile * profile = atomic_load_explicit(&in_use, memory_order_acquire);

    if (!profile) {
        pthread_mutex_lock(&mutex);
        if (!chosen) {
            chosen = from_environment();
        }
        profile = chosen;
        atomic_store_explicit(&in_use, profile, memory_order_release);
        pthread_mutex_unlock(&mutex);
    }
    return profile;
}

int softmetal_set_profile(const char * name) {
    const struct softmetal_profile * profile = find(name);
    int                       status  = -1;

    if (!profile) {
        return -1;
    }
    pthread_mutex_lock(&mutex);
    if (!atomic_load(&in_use) || profile == chosen) {
        chosen = profile;
        status = 0;
    }
    pthread_mutex_unlock(&mutex);
    if (status != 0) {
        sm_failure_set("the device exists already: choose its profile before opening it, or set SOFTMETAL_PROFILE");
    }
    return status;
}
