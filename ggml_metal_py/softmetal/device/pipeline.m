// Pipelines. Making one is cheap; the machine code is looked for once, at the first dispatch, and a failure then
// is that dispatch's.

#include "pipeline.h"
#include "constants.h"
#include "profile.h"
#include "runtime.h"

#include <pthread.h>
#include <stdatomic.h>

@implementation SMPipeline {
    SMFunction *               _function;
    struct sm_pipeline_stats * _stats;
    pthread_mutex_t            _mutex; // of looking for the code
    struct sm_pipeline_code    _code[2];  // plain and checked: valid, and fixed, once _ready
    _Atomic bool               _ready[2];
}

+ (id) newWithFunction:(SMFunction *) function {
    SMPipeline *        pipeline = [self new];
    NSAutoreleasePool * pool     = [NSAutoreleasePool new];
    NSString *          constants = [[function constants] text];
    NSString *          name = [NSString stringWithFormat:@"%s%s", [[function name] UTF8String], [constants UTF8String]];

    pipeline->_function = [function retain];
    pipeline->_stats    = sm_pipeline_stats([name UTF8String]);
    [pool drain];
    return pipeline;
}

- (id) init {
    pthread_mutex_init(&_mutex, NULL);
    return self;
}

- (void) dealloc {
    [_function release];
    for (int i = 0; i < 2; i++) {
        free((void *) _code[i].constants);
        free((void *) _code[i].constants_set);
    }
    pthread_mutex_destroy(&_mutex);
    [super dealloc];
}

- (SMFunction *) function {
    return _function;
}

- (struct sm_pipeline_stats *) stats {
    return _stats;
}

- (NSUInteger) maxTotalThreadsPerThreadgroup {
    return sm_profile()->max_threads;
}

- (NSUInteger) threadExecutionWidth {
    return sm_profile()->simd_width;
}

- (NSUInteger) staticThreadgroupMemoryLength {
    for (int i = 0; i < 2; i++) {
        if (atomic_load(&_ready[i])) {
            return _code[i].code.kernel->static_tg_bytes;
        }
    }
    return 0;
}

// False, with a text to be freed. Only under _mutex.
- (BOOL) find:(BOOL) checked error:(char **) error {
    struct sm_pipeline_code found;

    if (!sm_library_code([_function library], [[_function name] UTF8String], checked, &found.code, error)) {
        return NO;
    }
    const struct sm_kernels * module    = found.code.module;
    int64_t *                 constants = calloc(module->n_constants + 1, sizeof *constants);
    uint8_t *                 is_set    = calloc(module->n_constants + 1, sizeof *is_set);
    char                      text[256] = "out of memory for function constants";

    if (!constants || !is_set ||
        ![[_function constants] fill:constants set:is_set for:module error:text size:sizeof text]) {
        free(constants);
        free(is_set);
        *error = strdup(text);
        return NO;
    }
    found.constants     = constants;
    found.constants_set = is_set;
    _code[checked]      = found;
    return YES;
}

- (const struct sm_pipeline_code *) code:(BOOL) checked error:(char **) error {
    _Atomic bool * ready = &_ready[checked];

    if (!atomic_load_explicit(ready, memory_order_acquire)) {
        pthread_mutex_lock(&_mutex);
        const BOOL found = atomic_load_explicit(ready, memory_order_relaxed) || [self find:checked error:error];
        atomic_store_explicit(ready, found, memory_order_release);
        pthread_mutex_unlock(&_mutex);
        if (!found) {
            return NULL;
        }
    }
    return &_code[checked];
}

@end
