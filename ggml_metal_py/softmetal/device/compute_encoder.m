// Compute encoders. Arguments stay bound from one dispatch to the next, as in Metal. What an index, a size or a
// grid alone shows to be wrong is refused here; what depends on the kernel, when the dispatch runs (command.m).

#include "compute_encoder.h"
#include "pipeline.h"
#include "profile.h"

enum { MAX_SET_BYTES = 4096 };

@implementation SMComputeEncoder {
    SMPipeline * _pipeline;
    void *       _buffers[SM_MAX_BUFFERS];
    size_t       _buffer_bytes[SM_MAX_BUFFERS];
    uint32_t     _threadgroup_bytes[SM_MAX_BUFFERS];
}

- (BOOL) isSlot:(NSUInteger) index of:(const char *) what {
    if (index < SM_MAX_BUFFERS) {
        return YES;
    }
    [_buffer recordInvalid:"%s: index %lu, a kernel has argument indices 0 to %d", what, index, SM_MAX_BUFFERS - 1];
    return NO;
}

- (void) setComputePipelineState:(id<MTLComputePipelineState>) pipeline {
    [_buffer keep:pipeline];
    _pipeline = (SMPipeline *) pipeline;
}

- (void) setBytes:(const void *) bytes length:(NSUInteger) length atIndex:(NSUInteger) index {
    if (![self isSlot:index of:"setBytes"]) {
        return;
    }
    if (!bytes || length == 0 || length > MAX_SET_BYTES) {
        [_buffer recordInvalid:"setBytes: %lu bytes at index %lu, allowed are 1 to %d", length, index, MAX_SET_BYTES];
        return;
    }
    void * copy = [_buffer allocate:length];
    if (copy) {
        memcpy(copy, bytes, length);
        _buffers[index]      = copy;
        _buffer_bytes[index] = length;
    }
}

- (void) setBuffer:(id<MTLBuffer>) buffer offset:(NSUInteger) offset atIndex:(NSUInteger) index {
    if (![self isSlot:index of:"setBuffer"]) {
        return;
    }
    const NSUInteger length = [buffer length];
    if (offset > length && buffer) {
        [_buffer recordInvalid:"setBuffer: offset %lu at index %lu is beyond the buffer's %lu bytes", offset, index, length];
        return;
    }
    [_buffer keep:buffer];
    _buffers[index]      = buffer ? (char *) [buffer contents] + offset : NULL;
    _buffer_bytes[index] = buffer ? length - offset : 0;
}

- (void) setThreadgroupMemoryLength:(NSUInteger) length atIndex:(NSUInteger) index {
    const NSUInteger limit = sm_profile()->threadgroup_bytes;

    if (![self isSlot:index of:"setThreadgroupMemoryLength"]) {
        return;
    }
    if (length > limit) {
        [_buffer recordInvalid:"setThreadgroupMemoryLength: %lu bytes at index %lu, the device has %lu", length, index, limit];
        return;
    }
    _threadgroup_bytes[index] = (uint32_t) length;
}

// The volume, or limit + 1 when it is more than that.
static NSUInteger volume(MTLSize size, NSUInteger limit) {
    NSUInteger area, total;

    if (__builtin_mul_overflow(size.width, size.height, &area) || __builtin_mul_overflow(area, size.depth, &total) ||
        total > limit) {
        return limit + 1;
    }
    return total;
}

- (void) dispatchThreadgroups:(MTLSize) grid threadsPerThreadgroup:(MTLSize) threads {
    if (!_pipeline) {
        [_buffer recordInvalid:"dispatchThreadgroups: no pipeline is set"];
        return;
    }
    const NSUInteger max_threads = [_pipeline maxTotalThreadsPerThreadgroup];
    const NSUInteger n_threads   = volume(threads, max_threads);
    if (n_threads == 0 || n_threads > max_threads || volume(grid, UINT32_MAX) > UINT32_MAX) {
        [_buffer recordInvalid:"dispatchThreadgroups: kernel %s, %lu x %lu x %lu threadgroups of %lu x %lu x %lu threads; "
                               "a threadgroup has 1 to %lu threads, a grid at most %u threadgroups",
                               [[[_pipeline function] name] UTF8String], grid.width, grid.height, grid.depth, threads.width,
                               threads.height, threads.depth, max_threads, UINT32_MAX];
        return;
    }
    if (grid.width == 0 || grid.height == 0 || grid.depth == 0) {
        return;
    }
    struct dispatch_command * command = [_buffer record:COMMAND_DISPATCH size:sizeof *command];
    if (!command) {
        return;
    }
    memcpy(command->buffers, _buffers, sizeof _buffers);
    memcpy(command->buffer_bytes, _buffer_bytes, sizeof _buffer_bytes);
    command->pipeline = _pipeline;
    command->dispatch = (struct sm_dispatch) {
        .buffers      = command->buffers,
        .buffer_bytes = command->buffer_bytes,
        .grid         = { (uint32_t) grid.width, (uint32_t) grid.height, (uint32_t) grid.depth },
        .threads      = { (uint32_t) threads.width, (uint32_t) threads.height, (uint32_t) threads.depth },
    };
    memcpy(command->dispatch.tg_bytes, _threadgroup_bytes, sizeof _threadgroup_bytes);
}

// Every dispatch waits for the one before it anyway.
- (void) memoryBarrierWithScope:(MTLBarrierScope) scope {
    (void) scope;
}

@end
