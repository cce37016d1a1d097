// Opens the library of a source file and runs one of its kernels on a buffer of 64 zeroed ints; says how that went.
//
//   open_library SOURCE KERNEL THREADGROUPS [NAME=VALUE...]     macros; folders and compiler by environment
//
// With WAIT in the environment it waits, once it has the library open, until its standard input ends.

#import <Metal/Metal.h>

#include <signal.h>
#include <softmetal.h>
#include <stdio.h>

static NSString * read_file(const char * path) {
    static char text[1 << 20];
    FILE *      file   = fopen(path, "r");
    size_t      length = file ? fread(text, 1, sizeof text, file) : 0;

    if (file) {
        fclose(file);
    }
    return [[[NSString alloc] initWithBytes:text length:length encoding:NSUTF8StringEncoding] autorelease];
}

int main(int argc, char ** argv) {
    NSAutoreleasePool *   pool    = [NSAutoreleasePool new];
    NSMutableDictionary * macros  = [NSMutableDictionary dictionary];
    MTLCompileOptions *   options = [[MTLCompileOptions new] autorelease];
    NSError *             error   = nil;

    if (getenv("KERNEL_FOLDER")) {
        softmetal_add_kernel_folder(getenv("KERNEL_FOLDER"));
    }
    if (getenv("IGNORE_CHILDREN")) {
        signal(SIGCHLD, SIG_IGN); // as some hosts do: a child's exit status is lost then
    }
    for (int i = 4; i < argc; i++) {
        char * value = strchr(argv[i], '=');
        *value++     = 0;
        [macros setObject:[NSString stringWithUTF8String:value] forKey:[NSString stringWithUTF8String:argv[i]]];
    }
    options.preprocessorMacros = macros;

    id<MTLDevice>  device  = MTLCreateSystemDefaultDevice();
    id<MTLLibrary> library = [device newLibraryWithSource:read_file(argv[1]) options:options error:&error];
    if (!library) {
        printf("library: %s\n", [[error localizedDescription] UTF8String]);
        return 0;
    }
    int declared, prebuilt;
    softmetal_kernel_counts(&declared, &prebuilt);
    printf("kernels: %d declared, %d prebuilt\n", declared, prebuilt);
    if (getenv("WAIT")) {
        fflush(stdout);
        while (getchar() != EOF) {
        }
    }

    id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:argv[2]] constantValues:nil error:&error];
    if (!function) {
        printf("function: %s\n", [[error localizedDescription] UTF8String]);
        return 0;
    }
    id<MTLComputePipelineState>  pipeline = [device newComputePipelineStateWithFunction:function error:&error];
    id<MTLBuffer>                buffer   = [device newBufferWithLength:64 * sizeof(int) options:MTLResourceStorageModeShared];
    id<MTLCommandBuffer>         commands = [[device newCommandQueue] commandBuffer];
    id<MTLComputeCommandEncoder> encoder  = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder dispatchThreadgroups:MTLSizeMake((NSUInteger) atoi(argv[3]), 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    if ([commands error]) {
        printf("dispatch: %s\n", [[[commands error] localizedDescription] UTF8String]);
        return 0;
    }
    printf("result:");
    for (int i = 0; i < 64; i++) {
        printf(" %d", ((int *) [buffer contents])[i]);
    }
    printf("\n");
    [pool drain];
    return 0;
}
