// The part of Metal that softmetal implements (device/): compute and blit. Declarations only; names, values
// and behaviour are Apple's, remarks here say where softmetal is more or less than that.
#pragma once

#import <Foundation/Foundation.h>
#include <Block.h>
#include <assert.h>
#include <dispatch/dispatch.h>

#ifdef __OBJC__

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    NSUInteger width;
    NSUInteger height;
    NSUInteger depth;
} MTLSize;

static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
    return (MTLSize) { width, height, depth };
}

typedef enum : NSInteger {
    MTLGPUFamilyApple1 = 1001,
    MTLGPUFamilyApple2,
    MTLGPUFamilyApple3,
    MTLGPUFamilyApple4,
    MTLGPUFamilyApple5,
    MTLGPUFamilyApple6,
    MTLGPUFamilyApple7,
    MTLGPUFamilyApple8,
    MTLGPUFamilyApple9,
    MTLGPUFamilyMac1 = 2001,
    MTLGPUFamilyMac2,
    MTLGPUFamilyCommon1 = 3001,
    MTLGPUFamilyCommon2,
    MTLGPUFamilyCommon3,
    MTLGPUFamilyMetal3 = 5001,
} MTLGPUFamily;

typedef enum : NSUInteger {
    MTLDataTypeNone   = 0,
    MTLDataTypeFloat  = 3,
    MTLDataTypeHalf   = 16,
    MTLDataTypeInt    = 29,
    MTLDataTypeUInt   = 33,
    MTLDataTypeShort  = 37,
    MTLDataTypeUShort = 41,
    MTLDataTypeChar   = 45,
    MTLDataTypeUChar  = 49,
    MTLDataTypeBool   = 53,
    MTLDataTypeLong   = 81,
    MTLDataTypeULong  = 85,
} MTLDataType;

typedef enum : NSUInteger {
    MTLResourceStorageModeShared  = 0 << 4,
    MTLResourceStorageModeManaged = 1 << 4,
    MTLResourceStorageModePrivate = 2 << 4,
} MTLResourceOptions;

typedef enum : NSUInteger {
    MTLDispatchTypeSerial,
    MTLDispatchTypeConcurrent, // allowed to overlap, and never does here: every dispatch waits for the one before
} MTLDispatchType;

typedef enum : NSUInteger {
    MTLBarrierScopeBuffers  = 1,
    MTLBarrierScopeTextures = 2,
} MTLBarrierScope;

typedef enum : NSUInteger {
    MTLDeviceLocationBuiltIn,
    MTLDeviceLocationSlot,
    MTLDeviceLocationExternal,
} MTLDeviceLocation;

typedef enum : NSUInteger {
    MTLCommandBufferStatusNotEnqueued,
    MTLCommandBufferStatusEnqueued,
    MTLCommandBufferStatusCommitted,
    MTLCommandBufferStatusScheduled,
    MTLCommandBufferStatusCompleted,
    MTLCommandBufferStatusError,
} MTLCommandBufferStatus;

typedef enum : NSUInteger {
    MTLLanguageVersion3_0 = 3 << 16,
    MTLLanguageVersion3_1 = (3 << 16) + 1,
} MTLLanguageVersion;

typedef enum : NSInteger {
    MTLCaptureDestinationDeveloperTools   = 1,
    MTLCaptureDestinationGPUTraceDocument = 2,
} MTLCaptureDestination;

@protocol MTLDevice, MTLCommandQueue, MTLCommandBuffer, MTLLibrary;

typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer>);

@protocol MTLBuffer <NSObject>
@property (readonly) NSUInteger length;
@property (readonly) NSUInteger allocatedSize;
- (void *) contents; // never NULL here, private storage included
@end

@protocol MTLEvent <NSObject>
@end

@protocol MTLSharedEvent <MTLEvent>
@property uint64_t signaledValue;
- (BOOL) waitUntilSignaledValue:(uint64_t) value timeoutMS:(uint64_t) milliseconds;
@end

@protocol MTLFunction <NSObject>
@property (readonly) NSString * name;
@end

@protocol MTLComputePipelineState <NSObject>
@property (readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property (readonly) NSUInteger threadExecutionWidth;
@property (readonly) NSUInteger staticThreadgroupMemoryLength; // 0 until the kernel's machine code is loaded
@end

// Scalar values only.
@interface MTLFunctionConstantValues : NSObject
- (void) setConstantValue:(const void *) value type:(MTLDataType) type atIndex:(NSUInteger) index;
@end

@interface MTLCompileOptions : NSObject
@property (copy) NSDictionary<NSString *, NSString *> * preprocessorMacros;
@property MTLLanguageVersion languageVersion; // changes nothing: there is one language
@end

@protocol MTLLibrary <NSObject>
@property (readonly) NSArray<NSString *> * functionNames;
- (id<MTLFunction>) newFunctionWithName:(NSString *) name;
- (id<MTLFunction>) newFunctionWithName:(NSString *) name constantValues:(MTLFunctionConstantValues *) values error:(NSError **) error;
@end

@protocol MTLCommandEncoder <NSObject>
- (void) endEncoding;
- (void) pushDebugGroup:(NSString *) name;
- (void) popDebugGroup;
@end

@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
- (void) setComputePipelineState:(id<MTLComputePipelineState>) pipeline;
- (void) setBytes:(const void *) bytes length:(NSUInteger) length atIndex:(NSUInteger) index;
- (void) setBuffer:(id<MTLBuffer>) buffer offset:(NSUInteger) offset atIndex:(NSUInteger) index;
- (void) setThreadgroupMemoryLength:(NSUInteger) length atIndex:(NSUInteger) index;
- (void) dispatchThreadgroups:(MTLSize) threadgroups threadsPerThreadgroup:(MTLSize) threads;
- (void) memoryBarrierWithScope:(MTLBarrierScope) scope;
@end

@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
- (void) fillBuffer:(id<MTLBuffer>) buffer range:(NSRange) range value:(uint8_t) value;
- (void) copyFromBuffer:(id<MTLBuffer>) source
           sourceOffset:(NSUInteger) sourceOffset
               toBuffer:(id<MTLBuffer>) destination
      destinationOffset:(NSUInteger) destinationOffset
                   size:(NSUInteger) size;
@end

@protocol MTLCommandBuffer <NSObject>
@property (readonly) MTLCommandBufferStatus status;
@property (readonly) NSError * error;
- (id<MTLComputeCommandEncoder>) computeCommandEncoder;
- (id<MTLComputeCommandEncoder>) computeCommandEncoderWithDispatchType:(MTLDispatchType) type;
- (id<MTLBlitCommandEncoder>) blitCommandEncoder;
- (void) encodeSignalEvent:(id<MTLEvent>) event value:(uint64_t) value;
- (void) encodeWaitForEvent:(id<MTLEvent>) event value:(uint64_t) value;
- (void) addCompletedHandler:(MTLCommandBufferHandler) handler;
- (void) enqueue;
- (void) commit;
- (void) waitUntilCompleted;
@end

@protocol MTLCommandQueue <NSObject>
- (id<MTLCommandBuffer>) commandBuffer;
- (id<MTLCommandBuffer>) commandBufferWithUnretainedReferences;
@end

@protocol MTLCaptureScope <NSObject>
- (void) beginScope;
- (void) endScope;
@end

@interface MTLCaptureDescriptor : NSObject
@property (retain) id captureObject;
@property MTLCaptureDestination destination;
@property (copy) NSURL * outputURL;
@end

// There is no capture: startCaptureWithDescriptor refuses with an error.
@interface MTLCaptureManager : NSObject
+ (MTLCaptureManager *) sharedCaptureManager;
- (id<MTLCaptureScope>) newCaptureScopeWithDevice:(id<MTLDevice>) device;
- (BOOL) startCaptureWithDescriptor:(MTLCaptureDescriptor *) descriptor error:(NSError **) error;
- (void) stopCapture;
@end

@protocol MTLDevice <NSObject>
@property (readonly) NSString * name;
@property (readonly) BOOL hasUnifiedMemory;
@property (readonly) MTLDeviceLocation location;
@property (readonly) NSUInteger maxBufferLength;
@property (readonly) NSUInteger maxThreadgroupMemoryLength;
@property (readonly) uint64_t recommendedMaxWorkingSetSize;
@property (readonly) NSUInteger currentAllocatedSize;
- (BOOL) supportsFamily:(MTLGPUFamily) family;
- (id<MTLCommandQueue>) newCommandQueue;
- (id<MTLEvent>) newEvent;
- (id<MTLSharedEvent>) newSharedEvent;
- (id<MTLLibrary>) newLibraryWithSource:(NSString *) source options:(MTLCompileOptions *) options error:(NSError **) error;
- (id<MTLLibrary>) newLibraryWithURL:(NSURL *) url error:(NSError **) error; // for its functions' names
- (id<MTLComputePipelineState>) newComputePipelineStateWithFunction:(id<MTLFunction>) function error:(NSError **) error;
- (id<MTLBuffer>) newBufferWithLength:(NSUInteger) length options:(MTLResourceOptions) options;
- (id<MTLBuffer>) newBufferWithBytes:(const void *) bytes length:(NSUInteger) length options:(MTLResourceOptions) options;
- (id<MTLBuffer>) newBufferWithBytesNoCopy:(void *) bytes // needs no page alignment here
                                    length:(NSUInteger) length
                                   options:(MTLResourceOptions) options
                               deallocator:(void (^)(void * bytes, NSUInteger length)) deallocator;
@end

id<MTLDevice> MTLCreateSystemDefaultDevice(void);
NSArray *     MTLCopyAllDevices(void);

#ifdef __cplusplus
}
#endif

#endif // __OBJC__
