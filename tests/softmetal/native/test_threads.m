// Many threads at once: encoding, committing out of order, waiting, making pipelines, two queues, abandoning.

#include "metal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS = 6 };

static void * in_pool(void * block) {
    @autoreleasepool {
        ((void (^)(void)) block)();
    }
    return NULL;
}

// Calls block(0) ... block(THREADS - 1), each on a thread of its own.
static void on_threads(void (^block)(int)) {
    pthread_t threads[THREADS];
    void *    blocks[THREADS];

    for (int i = 0; i < THREADS; i++) {
        blocks[i] = Block_copy(^{ block(i); });
        CHECK(pthread_create(&threads[i], NULL, in_pool, blocks[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        Block_release(blocks[i]);
    }
}

// As ggml does it: all enqueued by one thread, then encoded and committed by several.
static void buffers_encoded_by_several_threads_keep_their_order(void) {
    id<MTLCommandQueue>         queue  = [device newCommandQueue];
    id<MTLComputePipelineState> append = make_pipeline("append", nil);
    id<MTLBuffer>               log    = [device newBufferWithLength:4096 options:MTLResourceStorageModeShared];
    int *                       values = [log contents];

    for (int round = 0; round < 100; round++) {
        @autoreleasepool {
            id<MTLCommandBuffer>   commands[THREADS];
            id<MTLCommandBuffer> * all = commands;

            values[0] = 0;
            for (int i = 0; i < THREADS; i++) {
                commands[i] = [queue commandBufferWithUnretainedReferences];
                [commands[i] enqueue];
            }
            dispatch_apply(THREADS, NULL, ^(size_t i) {
                const int                    value   = (int) i;
                id<MTLComputeCommandEncoder> encoder = [all[i] computeCommandEncoder];
                [encoder setComputePipelineState:append];
                [encoder setBuffer:log offset:0 atIndex:0];
                [encoder setBytes:&value length:sizeof value atIndex:1];
                [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
                [encoder endEncoding];
                [all[i] commit];
            });
            [commands[THREADS - 1] waitUntilCompleted];
            CHECK(values[0] == THREADS);
            for (int i = 0; i < THREADS; i++) {
                CHECK(values[1 + i] == i && [commands[i] status] == MTLCommandBufferStatusCompleted);
            }
        }
    }
    [log release];
    [append release];
    [queue release];
}

// Several queues share the pool's helpers: their grids run at the same time.
static void queues_run_side_by_side(void) {
    id<MTLComputePipelineState> count = make_pipeline("count", nil);

    on_threads(^(int thread) {
        id<MTLCommandQueue> queue  = [device newCommandQueue];
        id<MTLBuffer>       counts = [device newBufferWithLength:1000 * sizeof(int) options:MTLResourceStorageModeShared];
        for (int round = 1; round <= 30; round++) {
            @autoreleasepool {
                id<MTLCommandBuffer> commands = [queue commandBuffer];
                encode(commands, count, counts, 1000);
                encode(commands, count, counts, 7);
                [commands commit];
                [commands waitUntilCompleted];
                CHECK(((int *) [counts contents])[0] == 2 * round && ((int *) [counts contents])[999] == round);
            }
        }
        [counts release];
        [queue release];
    });
    [count release];
}

// The first dispatches of one pipeline: all look for its machine code.
static void a_pipeline_may_be_first_used_by_several_threads(void) {
    for (int round = 0; round < 20; round++) {
        id<MTLComputePipelineState> count = make_pipeline("count", nil);
        on_threads(^(int thread) {
            id<MTLCommandQueue>  queue    = [device newCommandQueue];
            id<MTLBuffer>        counts   = [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
            id<MTLCommandBuffer> commands = [queue commandBuffer];
            encode(commands, count, counts, 2);
            [commands commit];
            [commands waitUntilCompleted];
            CHECK(((int *) [counts contents])[1] == 1);
            [counts release];
            [queue release];
        });
        [count release];
    }
}

static void libraries_and_functions_can_be_made_anywhere(void) {
    on_threads(^(int thread) {
        for (int i = 0; i < 50; i++) {
            @autoreleasepool {
                NSError *       error    = nil;
                id<MTLLibrary>  again    = [device newLibraryWithSource:@SOURCE options:nil error:&error];
                id<MTLFunction> function = [again newFunctionWithName:@"count"];
                CHECK(function && ![again newFunctionWithName:@"nonsense"]);
                char text[128];
                softmetal_last_error(text, sizeof text);
                int declared, prebuilt;
                softmetal_kernel_counts(&declared, &prebuilt);
                CHECK(declared == 7);
                [function release];
                [again release];
            }
        }
    });
}

static void abandoning_races_with_nothing(void) {
    id<MTLCommandQueue>         queue  = [device newCommandQueue];
    id<MTLComputePipelineState> count  = make_pipeline("count", nil);
    id<MTLBuffer>               counts = [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
    atomic_int                  ended_ = 0;
    atomic_int *                ended  = &ended_;

    on_threads(^(int thread) {
        for (int i = 0; i < 50; i++) {
            @autoreleasepool {
                id<MTLCommandBuffer> commands = [queue commandBuffer];
                if (thread == 0) {
                    softmetal_abandon();
                    continue;
                }
                encode(commands, count, counts, 2);
                if (thread == 1) {
                    [commands enqueue]; // and never commit
                } else {
                    [commands commit];
                    if (i % 10 == 0) {
                        softmetal_abandon(); // or this one waits behind what thread 1 left
                    }
                }
                atomic_fetch_add(ended, 1);
            }
        }
    });
    softmetal_abandon();
    id<MTLCommandBuffer> last = [queue commandBuffer];
    [last commit];
    [last waitUntilCompleted];
    CHECK([last status] == MTLCommandBufferStatusCompleted);
    CHECK(((int *) [counts contents])[0] == 4 * 50);
    [counts release];
    [count release];
    [queue release];
}

static void the_number_of_threads_can_change(void) {
    id<MTLCommandQueue>         queue  = [device newCommandQueue];
    id<MTLComputePipelineState> count  = make_pipeline("count", nil);
    id<MTLBuffer>               counts = [device newBufferWithLength:400 options:MTLResourceStorageModeShared];

    for (int n = 1; n <= 8; n++) {
        @autoreleasepool {
            softmetal_set_threads(n);
            CHECK(softmetal_threads() == n);
            id<MTLCommandBuffer> commands = [queue commandBuffer];
            encode(commands, count, counts, 100);
            [commands commit];
            [commands waitUntilCompleted];
            CHECK(((int *) [counts contents])[99] == n);
        }
    }
    softmetal_set_threads(0);
    CHECK(softmetal_threads() >= 1);
    [counts release];
    [count release];
    [queue release];
}

int main(int argc, char ** argv) {
    CHECK(argc == 2); // the folder of kernels.c, compiled
    @autoreleasepool {
        open_device(argv[1]);
        softmetal_set_threads(4);
        RUN(buffers_encoded_by_several_threads_keep_their_order);
        RUN(queues_run_side_by_side);
        RUN(a_pipeline_may_be_first_used_by_several_threads);
        RUN(libraries_and_functions_can_be_made_anywhere);
        RUN(abandoning_races_with_nothing);
        RUN(the_number_of_threads_can_change);
        [library release];
        [device release];
    }
    return 0;
}
