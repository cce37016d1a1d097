// Compiled kernels on several threads, from two queues at once: what threads.metal computes, and nothing else to see
// for a sanitizer.
//
//   test_kernels FOLDER SOURCE [KERNEL]     the folder of its kernels; of another source, runs one of them

#import <Metal/Metal.h>

#include "testing.h"

#include <pthread.h>
#include <softmetal.h>
#include <stdint.h>

enum { THREADS = 256, GROUPS = 120, N = THREADS * GROUPS, LAST = 77 }; // the last simdgroup of LAST threads is short

static id<MTLDevice>  device;
static id<MTLLibrary> library;

static NSString * read_file(const char * path) {
    static char text[1 << 16];
    FILE *      file = fopen(path, "r");

    CHECK(file);
    const size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    return [[[NSString alloc] initWithBytes:text length:length encoding:NSUTF8StringEncoding] autorelease];
}

struct run {
    id<MTLCommandQueue> queue;
    id<MTLBuffer>       src, dst; // N times four words
};

static struct run new_run(void) {
    return (struct run) {
        [device newCommandQueue],
        [device newBufferWithLength:N * 16 options:MTLResourceStorageModeShared],
        [device newBufferWithLength:N * 16 options:MTLResourceStorageModeShared],
    };
}

static void end_run(struct run * run) {
    [run->src release];
    [run->dst release];
    [run->queue release];
}

static void execute(struct run * run, const char * name, NSUInteger groups, NSUInteger threads) {
    MTLFunctionConstantValues * values = [[MTLFunctionConstantValues new] autorelease];
    const int                   factor = 3;

    [values setConstantValue:&factor type:MTLDataTypeInt atIndex:0];
    NSError *                   error    = nil;
    id<MTLFunction>             function = [library newFunctionWithName:[NSString stringWithUTF8String:name]
                                                         constantValues:values
                                                                  error:&error];
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:&error];
    CHECK(pipeline);
    id<MTLCommandBuffer>         commands = [run->queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder  = [commands computeCommandEncoder];
    memset([run->dst contents], 0, N * 16);
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:run->src offset:0 atIndex:0];
    [encoder setBuffer:run->dst offset:0 atIndex:1];
    if (strcmp(name, "total") == 0) {
        [encoder setThreadgroupMemoryLength:36 * sizeof(int) atIndex:0];
    }
    [encoder dispatchThreadgroups:MTLSizeMake(groups, 1, 1) threadsPerThreadgroup:MTLSizeMake(threads, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    if ([commands error]) {
        fprintf(stderr, "%s: %s\n", name, [[[commands error] localizedDescription] UTF8String]);
        exit(1);
    }
    [pipeline release];
    [function release];
}

static void check_all(struct run * run) {
    int *   src = [run->src contents];
    int *   dst = [run->dst contents];
    float * values = (float *) dst;

    for (int i = 0; i < 4 * N; i++) {
        src[i] = i % 1000;
    }
    execute(run, "scale", GROUPS, THREADS);
    for (int i = 0; i < N; i++) {
        CHECK(dst[i] == 4 * src[i]);
    }
    execute(run, "total", GROUPS, THREADS);
    for (int group = 0; group < GROUPS; group++) {
        int sum = 0;
        for (int i = 0; i < THREADS; i++) {
            sum += 3 * src[group * THREADS + i];
        }
        CHECK(dst[group] == sum);
    }
    execute(run, "total", GROUPS, LAST);
    for (int group = 0; group < GROUPS; group++) {
        int sum = 0;
        for (int i = 0; i < LAST; i++) {
            sum += 3 * src[group * LAST + i];
        }
        CHECK(dst[group] == sum);
    }
    execute(run, "reverse", GROUPS, LAST);
    for (int i = 0; i < GROUPS * LAST; i++) {
        CHECK(dst[i] == src[i / LAST * LAST + LAST - 1 - i % LAST]);
    }
    int counts[16] = { 0 };
    for (int i = 0; i < N; i++) {
        counts[src[i] % 16]++;
    }
    execute(run, "tally", GROUPS, THREADS);
    CHECK(memcmp(dst, counts, sizeof counts) == 0);

    execute(run, "divergent", GROUPS, LAST);
    for (int first = 0; first < GROUPS * LAST;) {
        const int in_group = first % LAST;
        const int lanes    = LAST - in_group < 32 ? LAST - in_group : 32;
        int       sums[2]  = { 0, 0 }, live = 0;
        for (int i = first; i < first + lanes; i++) {
            if (i % 32 != 31) {
                sums[i % 2] += src[i];
                live++;
            }
        }
        for (int i = first; i < first + lanes; i++) {
            CHECK(dst[i] == (i % 32 == 31 ? -1 : sums[i % 2] + i % 2 * 1000000 + live));
        }
        first += lanes;
    }
    float * matrices = [run->src contents];
    for (int i = 0; i < N * 2; i++) {
        matrices[i] = (float) (i % 7);
    }
    execute(run, "product", GROUPS, THREADS);
    for (int at = 0; at < N * 2; at += 64) {
        for (int i = 0; i < 64; i++) {
            float sum = 0;
            for (int k = 0; k < 8; k++) {
                sum += matrices[at + i / 8 * 8 + k] * matrices[at + i % 8 * 8 + k];
            }
            CHECK(values[at + i] == sum);
        }
    }
    for (int i = 0; i < 4 * N; i++) {
        src[i] = i % 100;
    }
    execute(run, "narrow", GROUPS, THREADS);
    for (int i = 0; i < 4 * N; i++) {
        CHECK(values[i] == src[i] * 0.5f + (float) (src[i] / 2) + (float) (src[i] * 2));
    }
}

static void * run_some(void * unused) {
    (void) unused;
    struct run run = new_run();
    for (int round = 0; round < 3; round++) {
        @autoreleasepool {
            check_all(&run);
        }
    }
    end_run(&run);
    return NULL;
}

static void run_on_two_threads(void) {
    pthread_t other;

    CHECK(pthread_create(&other, NULL, run_some, NULL) == 0);
    run_some(NULL);
    pthread_join(other, NULL);
}

static void kernels_compute_what_they_say_on_any_number_of_threads(void) {
    for (int threads = 1; threads <= 4; threads += 3) {
        softmetal_set_threads(threads);
        run_on_two_threads();
    }
}

static void and_in_any_order_whatever_is_in_threadgroup_memory(void) {
    for (uint32_t order = 1; order <= 2; order++) {
        softmetal_set_order(order);
        softmetal_set_threadgroup_fill(order == 1 ? 0xff : 0x4b);
        run_on_two_threads();
    }
}

int main(int argc, char ** argv) {
    CHECK(argc >= 3);
    @autoreleasepool {
        NSError * error = nil;
        softmetal_add_kernel_folder(argv[1]);
        device  = MTLCreateSystemDefaultDevice();
        library = [device newLibraryWithSource:read_file(argv[2]) options:nil error:&error];
        if (!library) {
            fprintf(stderr, "%s\n", [[error localizedDescription] UTF8String]);
            return 1;
        }
        if (argc == 3) {
            RUN(kernels_compute_what_they_say_on_any_number_of_threads);
            RUN(and_in_any_order_whatever_is_in_threadgroup_memory);
        } else {
            struct run run = new_run();
            softmetal_set_threads(4);
            execute(&run, argv[3], GROUPS, THREADS);
            end_run(&run);
        }
        [library release];
        [device release];
    }
    return 0;
}
