// The counters. They are read while they change: each is right by itself.

#include "stats.h"
#include "runtime.h"

#include <pthread.h>
#include <softmetal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sm_pipeline_stats {
    struct sm_pipeline_stats * next;
    char *                     name;
    _Atomic uint64_t           dispatches;
    _Atomic uint64_t           ns;
};

static _Atomic uint64_t command_buffers;
static _Atomic uint64_t dispatches;
static _Atomic uint64_t threadgroups_run;
static _Atomic uint64_t busy_ns;

static pthread_mutex_t            mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sm_pipeline_stats * pipelines; // guarded by mutex; newest first

struct sm_pipeline_stats * sm_pipeline_stats(const char * name) {
    pthread_mutex_lock(&mutex);
    struct sm_pipeline_stats * entry = pipelines;
    while (entry && strcmp(entry->name, name) != 0) {
        entry = entry->next;
    }
    if (!entry) {
        entry       = objc_allocate(sizeof *entry);
        entry->name = strdup(name);
        entry->next = pipelines;
        pipelines   = entry;
    }
    pthread_mutex_unlock(&mutex);
    return entry;
}

const char * sm_pipeline_stats_name(const struct sm_pipeline_stats * pipeline) {
    return pipeline->name;
}

static void add(_Atomic uint64_t * counter, uint64_t n) {
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t get(_Atomic uint64_t * counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void reset(_Atomic uint64_t * counter) {
    atomic_store_explicit(counter, 0, memory_order_relaxed);
}

void sm_stats_add_command_buffer(void) {
    add(&command_buffers, 1);
}

void sm_stats_add_dispatch(struct sm_pipeline_stats * pipeline, uint64_t threadgroups, uint64_t ns) {
    add(&pipeline->dispatches, 1);
    add(&pipeline->ns, ns);
    add(&dispatches, 1);
    add(&threadgroups_run, threadgroups);
    add(&busy_ns, ns);
}

void softmetal_stats_reset(void) {
    reset(&command_buffers);
    reset(&dispatches);
    reset(&threadgroups_run);
    reset(&busy_ns);
    pthread_mutex_lock(&mutex);
    for (struct sm_pipeline_stats * entry = pipelines; entry; entry = entry->next) {
        reset(&entry->dispatches);
        reset(&entry->ns);
    }
    pthread_mutex_unlock(&mutex);
}

void softmetal_get_stats(struct softmetal_stats * stats) {
    stats->command_buffers = get(&command_buffers);
    stats->dispatches      = get(&dispatches);
    stats->threadgroups    = get(&threadgroups_run);
    stats->busy_ns         = get(&busy_ns);
}

int softmetal_get_pipeline_stats(int index, char * name, size_t size, uint64_t * count, uint64_t * ns) {
    int length = -1;

    pthread_mutex_lock(&mutex);
    for (struct sm_pipeline_stats * entry = pipelines; entry; entry = entry->next) {
        const uint64_t n = get(&entry->dispatches);

        if (n == 0 || index-- > 0) {
            continue;
        }
        length = (int) strlen(entry->name);
        if (name && size) {
            snprintf(name, size, "%s", entry->name);
        }
        if (count) {
            *count = n;
        }
        if (ns) {
            *ns = get(&entry->ns);
        }
        break;
    }
    pthread_mutex_unlock(&mutex);
    return length;
}
