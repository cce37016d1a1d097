// Opens a compiled Metal library; lists its functions, makes a pipeline of one and dispatches it.
//
//   open_metallib FILE KERNEL

#import <Metal/Metal.h>

#include <softmetal.h>
#include <stdio.h>

int main(int argc, char ** argv) {
    (void) argc;
    NSAutoreleasePool * pool    = [NSAutoreleasePool new];
    NSURL *             url     = [NSURL fileURLWithPath:[NSString stringWithUTF8String:argv[1]]];
    NSError *           error   = (NSError *) 1; // as uninitialised as a caller may leave it
    id<MTLDevice>       device  = MTLCreateSystemDefaultDevice();
    id<MTLLibrary>      library = [device newLibraryWithURL:url error:&error];

    if (!library) {
        printf("library: %s\n", [[error localizedDescription] UTF8String]);
        return 0;
    }
    printf("functions:");
    for (NSString * name in [library functionNames]) {
        printf(" %s", [name UTF8String]);
    }
    int declared, prebuilt;
    softmetal_kernel_counts(&declared, &prebuilt);
    printf("\nkernels: %d declared, %d prebuilt, error %d\n", declared, prebuilt, error != nil);

    MTLFunctionConstantValues * constants = [MTLFunctionConstantValues new];
    const short                 value     = 4;
    [constants setConstantValue:&value type:MTLDataTypeShort atIndex:600];
    id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:argv[2]] constantValues:constants error:&error];
    if (!function) {
        printf("function: %s\n", [[error localizedDescription] UTF8String]);
        return 0;
    }
    id<MTLComputePipelineState>  pipeline = [device newComputePipelineStateWithFunction:function error:&error];
    id<MTLCommandBuffer>         commands = [[device newCommandQueue] commandBuffer];
    id<MTLComputeCommandEncoder> encoder  = [commands computeCommandEncoder];
    printf("pipeline: %lu threads, error %d\n", [pipeline maxTotalThreadsPerThreadgroup], error != nil);
    [encoder setComputePipelineState:pipeline];
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    printf("dispatch: %s\n", [[[commands error] localizedDescription] UTF8String]);
    [pool drain];
    return 0;
}
