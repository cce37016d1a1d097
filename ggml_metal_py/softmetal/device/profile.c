// The profiles, after what Macs with 16 GB report. No M5: its Metal 4 tensors are not implemented.

#include "profile.h"
#include "failure.h"

#include <pthread.h>
#include <softmetal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAC_16GB                                                                                                       \
    .metal3 = true, .max_buffer_bytes = 8589934592, .working_set_bytes = 11453251584, .threadgroup_bytes = 32768,      \
    .max_threads = 1024, .simd_width = 32

static const struct sm_profile profiles[] = {
    { .name = "M1", .device_name = "Apple M1", .apple_family = 7, MAC_16GB },
    { .name = "M2", .device_name = "Apple M2", .apple_family = 8, MAC_16GB },
    { .name = "M3", .device_name = "Apple M3", .apple_family = 9, MAC_16GB },
    { .name = "M4", .device_name = "Apple M4", .apple_family = 9, MAC_16GB },
};

#define DEFAULT_PROFILE "M2"

static pthread_mutex_t                     mutex = PTHREAD_MUTEX_INITIALIZER;
static const struct sm_profile *           chosen; // guarded by mutex; NULL: the default
static _Atomic(const struct sm_profile *)  in_use; // set once

static const struct sm_profile * find(const char * name) {
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        if (strcmp(profiles[i].name, name) == 0) {
            return &profiles[i];
        }
    }
    char text[256];
    int  length = snprintf(text, sizeof text, "no device profile is called \"%.64s\"; there are", name);
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        length += snprintf(text + length, sizeof text - (size_t) length, " %s", profiles[i].name);
    }
    sm_failure_set(text);
    return NULL;
}

static const struct sm_profile * from_environment(void) {
    const char *              name    = getenv("SOFTMETAL_PROFILE");
    const struct sm_profile * profile = name ? find(name) : NULL;

    if (name && !profile) {
        fprintf(stderr, "softmetal: SOFTMETAL_PROFILE names no profile (\"%s\"): using " DEFAULT_PROFILE "\n", name);
    }
    return profile ? profile : find(DEFAULT_PROFILE);
}

const struct sm_profile * sm_profile(void) {
    const struct sm_profile * profile = atomic_load_explicit(&in_use, memory_order_acquire);

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
    const struct sm_profile * profile = find(name);
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
