// A process that gets no more threads: everything still runs, on the threads that call.

#include "metal.h"

#include <errno.h>
#include <pthread.h>

// Stands before the C library's.
int pthread_create(pthread_t * thread, const pthread_attr_t * attributes, void * (*start)(void *), void * argument) {
    (void) thread, (void) attributes, (void) start, (void) argument;
    return EAGAIN;
}

static void command_buffers_run_in_order(void) {
    id<MTLCommandQueue>         queue    = [device newCommandQueue];
    id<MTLComputePipelineState> append   = make_pipeline("append", nil);
    id<MTLComputePipelineState> count    = make_pipeline("count", nil);
    id<MTLBuffer>               log      = [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
    id<MTLBuffer>               counts   = [device newBufferWithLength:400 options:MTLResourceStorageModeShared];
    id<MTLCommandBuffer>        commands[3];

    for (int i = 0; i < 3; i++) {
        commands[i] = [queue commandBuffer];
        [commands[i] enqueue];
    }
    for (int i = 2; i >= 0; i--) {
        id<MTLComputeCommandEncoder> encoder = [commands[i] computeCommandEncoder];
        [encoder setComputePipelineState:append];
        [encoder setBuffer:log offset:0 atIndex:0];
        [encoder setBytes:&i length:sizeof i atIndex:1];
        [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
        [encoder setComputePipelineState:count];
        [encoder setBuffer:counts offset:0 atIndex:0];
        [encoder dispatchThreadgroups:MTLSizeMake(100, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
        [encoder endEncoding];
        [commands[i] commit];
    }
    const int * values = [log contents];
    for (int i = 0; i < 3; i++) {
        [commands[i] waitUntilCompleted];
        CHECK([commands[i] status] == MTLCommandBufferStatusCompleted && values[1 + i] == i);
    }
    CHECK(((int *) [counts contents])[99] == 3);
    [counts release];
    [log release];
    [count release];
    [append release];
    [queue release];
}

static void apply_and_groups_run(void) {
    int              n     = 0;
    int *            count = &n;
    dispatch_group_t group = dispatch_group_create();

    dispatch_apply(5, NULL, ^(size_t i) {
        *count += (int) i;
    });
    dispatch_group_async(group, NULL, ^{
        ++*count;
    });
    CHECK(dispatch_group_wait(group, DISPATCH_TIME_NOW) == 0 && n == 11);
    dispatch_release(group);
}

int main(int argc, char ** argv) {
    CHECK(argc == 2); // the folder of kernels.c, compiled
    @autoreleasepool {
        open_device(argv[1]);
        softmetal_set_threads(4);
        RUN(command_buffers_run_in_order);
        RUN(apply_and_groups_run);
        [library release];
        [device release];
    }
    return 0;
}
