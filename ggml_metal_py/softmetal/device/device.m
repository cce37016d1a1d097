// MTLDevice: one for the process, looking like the profile says.

#import <Metal/Metal.h>

#include "buffer.h"
#include "event.h"
#include "failure.h"
#include "fork.h"
#include "library.h"
#include "pipeline.h"
#include "profile.h"
#include "queue.h"

#include <pthread.h>

@interface SMDevice : NSObject <MTLDevice>
@end

@implementation SMDevice {
    const struct softmetal_profile * _profile;
    NSString *                _name;
    unsigned                  _process; // where it was made
}

- (id) init {
    _profile = sm_profile();
    _name    = [[NSString stringWithUTF8String:_profile->device_name] retain];
    _process = sm_process();
    return self;
}

- (void) dealloc {
    [_name release];
    [super dealloc];
}

- (NSString *) name {
    return _name;
}

- (BOOL) hasUnifiedMemory {
    return _profile->unified_memory;
}

- (MTLDeviceLocation) location {
    return _profile->unified_memory ? MTLDeviceLocationBuiltIn : MTLDeviceLocationSlot;
}

- (NSUInteger) maxBufferLength {
    return _profile->max_buffer_bytes;
}

- (NSUInteger) maxThreadgroupMemoryLength {
    return _profile->threadgroup_bytes;
}

- (uint64_t) recommendedMaxWorkingSetSize {
    return _profile->working_set_bytes;
}

- (NSUInteger) currentAllocatedSize {
    return sm_buffers_allocated();
}

- (BOOL) supportsFamily:(MTLGPUFamily) family {
    if (family >= MTLGPUFamilyApple1 && family < MTLGPUFamilyMac1) {
        return family < MTLGPUFamilyApple1 + _profile->apple;
    }
    switch (family) {
        case MTLGPUFamilyMac2:
            return _profile->mac2;
        case MTLGPUFamilyCommon1:
        case MTLGPUFamilyCommon2:
        case MTLGPUFamilyCommon3:
            return YES;
        case MTLGPUFamilyMetal3:
            return _profile->metal3;
        default:
            return NO;
    }
}

- (id<MTLCommandQueue>) newCommandQueue {
    return [SMCommandQueue newInProcess:_process];
}

- (id<MTLEvent>) newEvent {
    return [SMEvent new];
}

- (id<MTLSharedEvent>) newSharedEvent {
    return [SMEvent new];
}

- (id<MTLLibrary>) newLibraryWithSource:(NSString *) source options:(MTLCompileOptions *) options error:(NSError **) error {
    if (error) {
        *error = nil;
    }
    return [SMLibrary newWithSource:source options:options error:error];
}

- (id<MTLLibrary>) newLibraryWithURL:(NSURL *) url error:(NSError **) error {
    if (error) {
        *error = nil;
    }
    return [SMLibrary newWithURL:url error:error];
}

- (id<MTLComputePipelineState>) newComputePipelineStateWithFunction:(id<MTLFunction>) function error:(NSError **) error {
    if (error) {
        *error = nil;
    }
    if (!function) {
        sm_failure_report("a pipeline needs a function, it was given nil", error);
        return nil;
    }
    return [SMPipeline newWithFunction:(SMFunction *) function];
}

- (id<MTLBuffer>) newBufferWithLength:(NSUInteger) length options:(MTLResourceOptions) options {
    (void) options;
    if (length == 0 || length > _profile->max_buffer_bytes) {
        return nil;
    }
    return [SMBuffer newWithLength:length];
}

- (id<MTLBuffer>) newBufferWithBytes:(const void *) bytes length:(NSUInteger) length options:(MTLResourceOptions) options {
    id<MTLBuffer> buffer = bytes ? [self newBufferWithLength:length options:options] : nil;

    if (buffer) {
        memcpy([buffer contents], bytes, length);
    }
    return buffer;
}

- (id<MTLBuffer>) newBufferWithBytesNoCopy:(void *) bytes
                                    length:(NSUInteger) length
                                   options:(MTLResourceOptions) options
                               deallocator:(void (^)(void *, NSUInteger)) deallocator {
    (void) options;
    if (!bytes || length == 0 || length > _profile->max_buffer_bytes) {
        return nil;
    }
    return [SMBuffer newWithMemory:bytes length:length deallocator:deallocator];
}

@end

static SMDevice * device;

static void make_device(void) {
    device = [SMDevice new];
}

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_device);
    return [device retain];
}

NSArray * MTLCopyAllDevices(void) {
    NSMutableArray * devices = [NSMutableArray new];
    id<MTLDevice>    only    = MTLCreateSystemDefaultDevice();

    [devices addObject:only];
    [only release];
    return devices;
}
