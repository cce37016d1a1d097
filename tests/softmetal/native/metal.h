// A device with the kernels of kernels.c, for the test programs that dispatch.
#pragma once

#import <Metal/Metal.h>

#include "testing.h"

#include <softmetal.h>

// What kernels.c pretends to be made from. The test driver knows it too: the key of its folder follows from it.
#define SOURCE "kernels by hand"

static id<MTLDevice>  device;
static id<MTLLibrary> library;

static void open_device(const char * kernels) {
    NSError * error = nil;

    softmetal_add_kernel_folder(kernels);
    device  = MTLCreateSystemDefaultDevice();
    library = [device newLibraryWithSource:@SOURCE options:nil error:&error];
    if (!library) {
        fprintf(stderr, "no library: %s\n", [[error localizedDescription] UTF8String]);
        exit(1);
    }
}

static id<MTLComputePipelineState> make_pipeline(const char * name, MTLFunctionConstantValues * constants) {
    NSError *                   error    = nil;
    id<MTLFunction>             function = [library newFunctionWithName:[NSString stringWithUTF8String:name]
                                                         constantValues:constants
                                                                  error:&error];
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:&error];

    CHECK(function && pipeline && !error);
    [function release];
    return pipeline;
}

// Encodes a dispatch of a kernel with one buffer.
static inline void encode(id<MTLCommandBuffer> commands, id<MTLComputePipelineState> pipeline, id<MTLBuffer> buffer, NSUInteger groups) {
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];

    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder dispatchThreadgroups:MTLSizeMake(groups, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    [encoder endEncoding];
}
