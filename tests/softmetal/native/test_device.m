// The device: buffers, pipelines, encoders, command buffers, events; and what happens to requests that make no sense.

#include "metal.h"

#include "raise.h"

#include <mach/mach.h>
#include <pthread.h>
#include <unistd.h>

static id<MTLCommandQueue> queue;

static id<MTLBuffer> make_buffer(NSUInteger bytes) {
    id<MTLBuffer> buffer = [device newBufferWithLength:bytes options:MTLResourceStorageModeShared];

    CHECK(buffer && [buffer length] == bytes);
    return buffer;
}

static int at(id<MTLBuffer> buffer, int index) {
    return ((int *) [buffer contents])[index];
}

// Appends a value to the log, see append in kernels.c.
static void encode_append(id<MTLCommandBuffer> commands, id<MTLComputePipelineState> append, id<MTLBuffer> log, int value) {
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];

    [encoder setComputePipelineState:append];
    [encoder setBuffer:log offset:0 atIndex:0];
    [encoder setBytes:&value length:sizeof value atIndex:1];
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder endEncoding];
}

static void the_device_looks_like_its_profile(void) {
    CHECK(softmetal_set_profile("M7") == -1);
    char text[256];
    softmetal_last_error(text, sizeof text);
    CHECK_TEXT(text, "M1 M2 M2-Ultra M3 M4 A13 A14 paravirtual AMD");
    CHECK(strcmp([[device name] UTF8String], "Apple M2") == 0);
    CHECK([device supportsFamily:MTLGPUFamilyApple8] && ![device supportsFamily:MTLGPUFamilyApple9]);
    CHECK([device supportsFamily:MTLGPUFamilyMetal3] && ![device supportsFamily:(MTLGPUFamily) 5002]);
    CHECK([device maxThreadgroupMemoryLength] == 32768 && [device hasUnifiedMemory]);
    CHECK(softmetal_set_profile("M2") == 0 && softmetal_set_profile("M1") == -1);

    NSArray * devices = MTLCopyAllDevices();
    CHECK(devices.count == 1 && devices[0] == device);
    [devices release];
}

static int freed;

static void buffers_own_or_borrow_memory(void) {
    const NSUInteger before = [device currentAllocatedSize];
    id<MTLBuffer>    owned  = make_buffer(100);
    CHECK(at(owned, 0) == 0 && ((char *) [owned contents])[100 + 4096] == 0); // room behind the end
    id<MTLBuffer> copy = [device newBufferWithBytes:"abc" length:4 options:MTLResourceStorageModeShared];
    CHECK(strcmp([copy contents], "abc") == 0);
    static int    memory[4];
    id<MTLBuffer> borrowed = [device newBufferWithBytesNoCopy:memory
                                                       length:sizeof memory
                                                      options:MTLResourceStorageModeShared
                                                  deallocator:^(void * bytes, NSUInteger length) {
                                                      freed += bytes == memory && length == sizeof memory;
                                                  }];
    CHECK([borrowed contents] == memory);
    CHECK([device currentAllocatedSize] == before + 100 + 4 + 16);
    [owned release];
    [copy release];
    [borrowed release];
    CHECK(freed == 1 && [device currentAllocatedSize] == before);
}

static void impossible_buffers_are_nil(void) {
    CHECK(![device newBufferWithLength:0 options:MTLResourceStorageModeShared]);
    CHECK(![device newBufferWithLength:[device maxBufferLength] + 1 options:MTLResourceStorageModeShared]);
    CHECK(![device newBufferWithBytes:NULL length:4 options:MTLResourceStorageModeShared]);
    CHECK(![device newBufferWithBytesNoCopy:NULL length:4 options:MTLResourceStorageModeShared deallocator:nil]);
}

static void mach_memory_is_zeroed_and_has_slack(void) {
    char * memory = NULL;

    CHECK(vm_allocate(mach_task_self(), &memory, 4096, VM_FLAGS_ANYWHERE) == KERN_SUCCESS);
    CHECK(memory[0] == 0 && memory[4096 + 60000] == 0);
    CHECK(vm_deallocate(mach_task_self(), (vm_address_t) memory, 4096) == KERN_SUCCESS);
    CHECK(vm_allocate(mach_task_self(), &memory, 4096, VM_FLAGS_FIXED) != KERN_SUCCESS);
}

static void unknown_functions_are_nil_with_an_error(void) {
    NSError * error = nil;

    CHECK(![library newFunctionWithName:@"nonsense" constantValues:nil error:&error]);
    CHECK_TEXT([[error localizedDescription] UTF8String], "no function called \"nonsense\"");
    CHECK(![library newFunctionWithName:@"nonsense"]);
    CHECK(![device newComputePipelineStateWithFunction:nil error:&error]);
    CHECK_TEXT([[error description] UTF8String], "given nil");
    CHECK(![device newLibraryWithURL:[NSURL fileURLWithPath:@"/x.metallib"] error:&error]);
    CHECK_TEXT([[error description] UTF8String], "/x.metallib");
}

static void out_parameters_are_written_on_success(void) {
    NSError *       error    = (NSError *) 1; // as uninitialised as a caller may leave it
    id<MTLFunction> function = [library newFunctionWithName:@"count" constantValues:nil error:&error];
    CHECK(function && !error);
    error = (NSError *) 1;
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:&error];
    CHECK(pipeline && !error);
    error = (NSError *) 1;
    id<MTLLibrary> again = [device newLibraryWithSource:@SOURCE options:nil error:&error];
    CHECK(again && !error);
    [again release];
    [pipeline release];
    [function release];
}

static void every_threadgroup_runs_once(void) {
    id<MTLComputePipelineState> count  = make_pipeline("count", nil);
    id<MTLBuffer>               counts = make_buffer(10000 * sizeof(int));

    CHECK([count maxTotalThreadsPerThreadgroup] == 1024 && [count threadExecutionWidth] == 32);
    for (NSUInteger groups = 1; groups <= 10000; groups = 10 * groups - 1) {
        memset([counts contents], 0, [counts length]);
        id<MTLCommandBuffer> commands = [queue commandBuffer];
        encode(commands, count, counts, groups);
        [commands commit];
        [commands waitUntilCompleted];
        CHECK([commands status] == MTLCommandBufferStatusCompleted && ![commands error]);
        for (int i = 0; i < 10000; i++) {
            CHECK(at(counts, i) == (i < (int) groups));
        }
    }
    [counts release];
    [count release];
}

static void a_dispatch_carries_its_arguments(void) {
    MTLFunctionConstantValues * constants = [MTLFunctionConstantValues new];
    const short                 a_short   = -2;
    const bool                  a_bool    = true;
    [constants setConstantValue:&a_bool type:MTLDataTypeBool atIndex:300];
    [constants setConstantValue:&a_short type:MTLDataTypeShort atIndex:7];
    [constants setConstantValue:&a_short type:MTLDataTypeShort atIndex:9]; // which the kernel does not have
    id<MTLComputePipelineState> describe = make_pipeline("describe", constants);
    [constants release];
    CHECK([describe staticThreadgroupMemoryLength] == 0);

    id<MTLBuffer>                out      = make_buffer(256);
    id<MTLCommandBuffer>         commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder  = [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    unsigned char                bytes[9] = { 42 };
    [encoder setComputePipelineState:describe];
    [encoder setBuffer:out offset:64 atIndex:0];
    [encoder setBytes:bytes length:sizeof bytes atIndex:1];
    bytes[0] = 0; // it was copied
    [encoder setThreadgroupMemoryLength:2048 atIndex:0];
    [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
    [encoder pushDebugGroup:@"group"];
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(2, 3, 4)];
    [encoder popDebugGroup];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];

    CHECK([commands status] == MTLCommandBufferStatusCompleted);
    const int64_t * seen = (int64_t *) [out contents] + 8;
    CHECK(seen[0] == 0 && seen[1] == 256 - 64 && seen[2] == 9 && seen[3] == 42 && seen[4] == 2048 && seen[5] == 2003004);
    CHECK((int16_t) seen[6] == -2 && seen[7] == 1);
    CHECK([describe staticThreadgroupMemoryLength] == 1024);
    [out release];
    [describe release];
}

static void set_constant_of_type(void * type) {
    MTLFunctionConstantValues * values   = [[MTLFunctionConstantValues new] autorelease];
    const int64_t               value[2] = { 1 };

    [values setConstantValue:value type:*(MTLDataType *) type atIndex:5];
}

static void constants_are_scalars(void) {
    MTLDataType       types[] = { MTLDataTypeBool, MTLDataTypeChar, MTLDataTypeUChar, MTLDataTypeShort, MTLDataTypeUShort, MTLDataTypeInt,
                                  MTLDataTypeUInt, MTLDataTypeLong, MTLDataTypeULong, MTLDataTypeHalf, MTLDataTypeFloat };
    const MTLDataType vector  = (MTLDataType) 6; // float4
    char              text[256];

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        CHECK(objc_try(set_constant_of_type, &types[i], text, sizeof text) == 0);
    }
    CHECK(objc_try(set_constant_of_type, (void *) &vector, text, sizeof text) == -1);
    CHECK_TEXT(text, "function constant 5 cannot have the data type 6");
}

static void buffers_run_in_the_order_of_enqueueing(void) {
    enum { N = 8 };
    id<MTLComputePipelineState> append = make_pipeline("append", nil);
    id<MTLBuffer>               log    = make_buffer(100 * sizeof(int));
    id<MTLCommandBuffer>        commands[N];

    for (int i = 0; i < N; i++) {
        commands[i] = [queue commandBufferWithUnretainedReferences];
        [commands[i] enqueue];
        [commands[i] enqueue]; // the second time does nothing
    }
    for (int i = N - 1; i >= 0; i--) { // committed backwards
        CHECK([commands[i] status] == MTLCommandBufferStatusEnqueued);
        encode_append(commands[i], append, log, i);
        encode_append(commands[i], append, log, 100 + i);
        if (i == 0) {
            usleep(20000);
            CHECK(at(log, 0) == 0); // all wait for the head
        }
        [commands[i] commit];
        [commands[i] commit];
    }
    [commands[N - 1] waitUntilCompleted];
    CHECK(at(log, 0) == 2 * N);
    for (int i = 0; i < N; i++) {
        CHECK([commands[i] status] == MTLCommandBufferStatusCompleted);
        CHECK(at(log, 1 + 2 * i) == i && at(log, 2 + 2 * i) == 100 + i);
    }
    [log release];
    [append release];
}

static void the_end_is_status_then_handlers_then_waiters(void) {
    id<MTLComputePipelineState> count    = make_pipeline("count_slowly", nil);
    id<MTLBuffer>               counts   = make_buffer(64);
    id<MTLCommandBuffer>        commands = [queue commandBuffer];
    MTLCommandBufferStatus      inside   = MTLCommandBufferStatusNotEnqueued;
    MTLCommandBufferStatus *    seen     = &inside;
    int                         calls    = 0;
    int *                       n_calls  = &calls;

    encode(commands, count, counts, 2);
    for (int i = 0; i < 2; i++) {
        [commands addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
            [buffer waitUntilCompleted]; // must not wait for itself
            usleep(10000);
            *seen = [buffer status];
            ++*n_calls;
        }];
    }
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(calls == 2 && inside == MTLCommandBufferStatusCompleted);
    [counts release];
    [count release];
}

static void a_command_buffer_keeps_what_it_uses(void) {
    id<MTLComputePipelineState> count    = make_pipeline("count_slowly", nil);
    id<MTLBuffer>               counts   = make_buffer(64);
    const NSUInteger            before   = [counts retainCount];
    id<MTLCommandBuffer>        commands = [queue commandBuffer];
    encode(commands, count, counts, 1);
    CHECK([counts retainCount] == before + 1);
    [count release];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK([commands status] == MTLCommandBufferStatusCompleted && [counts retainCount] == before);

    commands = [queue commandBufferWithUnretainedReferences];
    count    = make_pipeline("count", nil);
    encode(commands, count, counts, 1);
    CHECK([counts retainCount] == before);
    [commands commit];
    [commands waitUntilCompleted];
    [count release];
    [counts release];
}

static void blits_fill_and_copy_within_bounds(void) {
    id<MTLBuffer>             a        = make_buffer(100);
    id<MTLBuffer>             b        = make_buffer(100);
    id<MTLCommandBuffer>      commands = [queue commandBuffer];
    id<MTLBlitCommandEncoder> blit     = [commands blitCommandEncoder];
    const char *              bytes    = [b contents];
    [blit fillBuffer:a range:NSMakeRange(90, 190) value:7]; // cut at the end
    [blit copyFromBuffer:a sourceOffset:89 toBuffer:b destinationOffset:0 size:11];
    [blit copyFromBuffer:b sourceOffset:0 toBuffer:b destinationOffset:1 size:11];
    [blit endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK([commands status] == MTLCommandBufferStatusCompleted);
    CHECK(((char *) [a contents])[100] == 0);
    CHECK(bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 7 && bytes[11] == 7 && bytes[12] == 0);
    [a release];
    [b release];
}

// ---- what makes no sense: an error, never a crash

typedef void (^Encoding)(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder);

// The encoding fails with this text, and what was encoded after it does not run; later buffers do.
static void check_refused(const char * text, Encoding encoding) {
    @autoreleasepool {
        id<MTLComputePipelineState>  count    = make_pipeline("count", nil);
        id<MTLBuffer>                counts   = make_buffer(64);
        id<MTLCommandBuffer>         commands = [queue commandBuffer];
        id<MTLComputeCommandEncoder> encoder  = [commands computeCommandEncoder];

        [encoder setComputePipelineState:count];
        [encoder setBuffer:counts offset:0 atIndex:0];
        encoding(commands, encoder);
        [encoder endEncoding];
        encode(commands, count, counts, 1);
        [commands commit];
        [commands waitUntilCompleted];
        CHECK([commands status] == MTLCommandBufferStatusError);
        CHECK_TEXT([[[commands error] localizedDescription] UTF8String], text);
        CHECK(at(counts, 0) == 0);
        char last[512];
        CHECK(softmetal_last_error(last, sizeof last) > 0);
        CHECK_TEXT(last, text);

        commands = [queue commandBuffer];
        encode(commands, count, counts, 1);
        [commands commit];
        [commands waitUntilCompleted];
        CHECK([commands status] == MTLCommandBufferStatusCompleted && at(counts, 0) == 1);
        [counts release];
        [count release];
    }
}

static void dispatch(id<MTLComputeCommandEncoder> encoder, NSUInteger groups, NSUInteger threads) {
    [encoder dispatchThreadgroups:MTLSizeMake(groups, 1, 1) threadsPerThreadgroup:MTLSizeMake(threads, 1, 1)];
}

static void dispatch_with(id<MTLComputeCommandEncoder> encoder, const char * kernel) {
    id<MTLComputePipelineState> pipeline = make_pipeline(kernel, nil);

    [encoder setComputePipelineState:pipeline];
    dispatch(encoder, 8, 32);
    [pipeline release];
}

static void wrong_dispatches_fail_with_a_text(void) {
    check_refused("no pipeline is set", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        [encoder setComputePipelineState:nil];
        dispatch(encoder, 1, 1);
    });
    check_refused("1 to 1024 threads", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        dispatch(encoder, 1, 1025);
    });
    check_refused("1 to 1024 threads", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        dispatch(encoder, 1, 0);
    });
    check_refused("kernel count", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        [encoder dispatchThreadgroups:MTLSizeMake(1ul << 62, 1ul << 62, 16) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    });
    check_refused("kernel fail: made to fail", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        dispatch_with(encoder, "fail");
    });
    check_refused("kernel missing has no machine code", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        dispatch_with(encoder, "missing");
    });
}

static void wrong_arguments_fail_with_a_text(void) {
    static char                 big[5000];
    MTLFunctionConstantValues * wrong_type = [MTLFunctionConstantValues new];
    const int                   value      = 1;
    [wrong_type setConstantValue:&value type:MTLDataTypeInt atIndex:7];

    check_refused("index 31", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        [encoder setBuffer:nil offset:0 atIndex:31];
    });
    check_refused("index 99", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        [encoder setBytes:big length:4 atIndex:99];
    });
    check_refused("1 to 4096", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        [encoder setBytes:big length:4097 atIndex:0];
    });
    check_refused("offset 65", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        id<MTLBuffer> small = make_buffer(64);
        [encoder setBuffer:small offset:65 atIndex:0];
        [small release];
    });
    check_refused("buffer1 at index 1", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        dispatch_with(encoder, "append");
    });
    check_refused("the device has 32768", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        [encoder setThreadgroupMemoryLength:32769 atIndex:0];
    });
    check_refused("33792 bytes of threadgroup memory", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        [encoder setThreadgroupMemoryLength:32768 atIndex:0];
        [encoder setBytes:big length:4 atIndex:1];
        dispatch_with(encoder, "describe");
    });
    check_refused("function constant 7, a_short", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        id<MTLComputePipelineState> pipeline = make_pipeline("count", wrong_type);
        [encoder setComputePipelineState:pipeline];
        dispatch(encoder, 1, 1);
        [pipeline release];
    });
    [wrong_type release];
}

static void wrong_blits_and_orders_fail_with_a_text(void) {
    id<MTLBuffer> small = make_buffer(16);

    check_refused("before the one before it had ended", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
        [encoder setBuffer:nil offset:0 atIndex:31]; // goes nowhere: this encoder is over
        [blit endEncoding];
    });
    check_refused("fillBuffer: offset 17", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        [encoder endEncoding];
        id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
        [blit fillBuffer:small range:NSMakeRange(17, 1) value:0];
        [blit endEncoding];
    });
    check_refused("copyFromBuffer: 9 bytes", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        [encoder endEncoding];
        id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
        [blit copyFromBuffer:small sourceOffset:8 toBuffer:small destinationOffset:0 size:9];
        [blit endEncoding];
    });
    check_refused("copyFromBuffer", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        [encoder endEncoding];
        id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
        [blit copyFromBuffer:nil sourceOffset:0 toBuffer:small destinationOffset:~0ul size:1];
        [blit endEncoding];
    });
    check_refused("nil", ^(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
        [encoder endEncoding];
        [commands encodeSignalEvent:nil value:1];
    });
    [small release];
}

static void a_commit_with_an_open_encoder_fails(void) {
    id<MTLComputePipelineState>  count    = make_pipeline("count", nil);
    id<MTLCommandBuffer>         commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder  = [commands computeCommandEncoder];

    [commands commit];
    [encoder setComputePipelineState:count];
    dispatch(encoder, 1, 1);
    [encoder endEncoding];
    [commands waitUntilCompleted];
    CHECK_TEXT([[[commands error] description] UTF8String], "before its encoder had ended");
    CHECK(![commands computeCommandEncoder]);
    [count release];
}

static void add_handler(void * commands) {
    [(id<MTLCommandBuffer>) commands addCompletedHandler:^(id<MTLCommandBuffer> buffer) {}];
}

static void a_handler_after_the_commit_raises(void) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    char                 text[256];

    [commands commit];
    CHECK(objc_try(add_handler, commands, text, sizeof text) == -1);
    CHECK_TEXT(text, "would never be called");
    [commands waitUntilCompleted];
}

static void empty_grids_do_nothing(void) {
    id<MTLComputePipelineState> count    = make_pipeline("count", nil);
    id<MTLBuffer>               counts   = make_buffer(64);
    id<MTLCommandBuffer>        commands = [queue commandBuffer];

    encode(commands, count, counts, 0);
    [commands commit];
    [commands waitUntilCompleted];
    CHECK([commands status] == MTLCommandBufferStatusCompleted && at(counts, 0) == 0);
    [counts release];
    [count release];
}

static void * wait_for(void * commands) {
    [(id<MTLCommandBuffer>) commands waitUntilCompleted];
    return NULL;
}

static void abandoned_buffers_let_the_next_ones_run(void) {
    id<MTLComputePipelineState> count     = make_pipeline("count", nil);
    id<MTLBuffer>               counts    = make_buffer(64);
    id<MTLCommandBuffer>        abandoned = [queue commandBuffer];
    id<MTLCommandBuffer>        stuck     = [queue commandBuffer];
    pthread_t                   waiter;
    int                         calls   = 0;
    int *                       n_calls = &calls;

    [abandoned enqueue];
    [abandoned addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
        ++*n_calls;
    }];
    encode(abandoned, count, counts, 1);
    encode(stuck, count, counts, 1);
    [stuck commit];
    CHECK(pthread_create(&waiter, NULL, wait_for, abandoned) == 0);
    usleep(10000);
    CHECK([stuck status] == MTLCommandBufferStatusCommitted);
    CHECK(softmetal_abandon() == 1 && softmetal_abandon() == 0);
    pthread_join(waiter, NULL);
    [stuck waitUntilCompleted];
    CHECK([stuck status] == MTLCommandBufferStatusCompleted && at(counts, 0) == 1 && calls == 1);
    CHECK([abandoned status] == MTLCommandBufferStatusError);
    CHECK_TEXT([[[abandoned error] description] UTF8String], "abandoned");
    [abandoned commit]; // too late, and harmless
    CHECK([abandoned status] == MTLCommandBufferStatusError);
    [counts release];
    [count release];
}

static void events_order_two_queues(void) {
    id<MTLCommandQueue>         other  = [device newCommandQueue];
    id<MTLSharedEvent>          event  = [device newSharedEvent];
    id<MTLComputePipelineState> append = make_pipeline("append", nil);
    id<MTLBuffer>               log    = make_buffer(64);
    id<MTLCommandBuffer>        second = [other commandBuffer];
    id<MTLCommandBuffer>        first  = [queue commandBuffer];

    [second encodeWaitForEvent:event value:5];
    encode_append(second, append, log, 2);
    [second commit];
    encode_append(first, append, log, 1);
    [first encodeSignalEvent:event value:5];
    [first commit];
    CHECK([event waitUntilSignaledValue:5 timeoutMS:60000]);
    CHECK(![event waitUntilSignaledValue:6 timeoutMS:10] && event.signaledValue == 5);
    [second waitUntilCompleted];
    CHECK(at(log, 0) == 2 && at(log, 1) == 1 && at(log, 2) == 2);
    [log release];
    [append release];
    [event release];
    [other release];
}

static void a_queue_goes_when_its_last_buffer_is_through(void) {
    id<MTLComputePipelineState> count  = make_pipeline("count_slowly", nil);
    id<MTLBuffer>               counts = make_buffer(64);

    for (int i = 0; i < 20; i++) {
        @autoreleasepool {
            id<MTLCommandQueue>  brief    = [device newCommandQueue];
            id<MTLCommandBuffer> commands = [brief commandBuffer];
            encode(commands, count, counts, 1);
            [commands commit];
            [brief release];
            if (i % 2) {
                [commands waitUntilCompleted];
            }
        }
    }
    for (int waited = 0; at(counts, 0) < 20 && waited < 1000; waited++) {
        usleep(10000);
    }
    CHECK(at(counts, 0) == 20);
    [count release];
    [counts release];
}

static void statistics_count_what_ran(void) {
    id<MTLComputePipelineState> count    = make_pipeline("count", nil);
    id<MTLBuffer>               counts   = make_buffer(64);
    id<MTLCommandBuffer>        commands = [queue commandBuffer];
    struct softmetal_stats      stats;
    char                        name[64];
    uint64_t                    dispatches, ns;

    softmetal_stats_reset();
    CHECK(softmetal_get_pipeline_stats(0, name, sizeof name, &dispatches, &ns) == -1);
    encode(commands, count, counts, 16);
    encode(commands, count, counts, 4);
    [commands commit];
    [commands waitUntilCompleted];
    softmetal_get_stats(&stats);
    CHECK(stats.command_buffers == 1 && stats.dispatches == 2 && stats.threadgroups == 20 && stats.busy_ns > 0);
    CHECK(softmetal_get_pipeline_stats(0, name, sizeof name, &dispatches, &ns) == 5);
    CHECK(strcmp(name, "count") == 0 && dispatches == 2 && ns == stats.busy_ns);
    CHECK(softmetal_get_pipeline_stats(1, NULL, 0, NULL, NULL) == -1);
    int declared, prebuilt;
    softmetal_kernel_counts(&declared, &prebuilt);
    CHECK(declared == 7 && prebuilt == 6);
    [counts release];
    [count release];
}

static void captures_are_refused(void) {
    NSError *              error      = nil;
    MTLCaptureDescriptor * descriptor = [MTLCaptureDescriptor new];
    id<MTLCaptureScope>    scope      = [[MTLCaptureManager sharedCaptureManager] newCaptureScopeWithDevice:device];

    descriptor.captureObject = scope;
    descriptor.outputURL     = [NSURL fileURLWithPath:@"/nowhere"];
    descriptor.destination   = MTLCaptureDestinationGPUTraceDocument;
    CHECK(![[MTLCaptureManager sharedCaptureManager] startCaptureWithDescriptor:descriptor error:&error]);
    CHECK_TEXT([[error localizedDescription] UTF8String], "no GPU capture");
    [descriptor release];
    CHECK([scope retainCount] == 1);
    [scope release];
}

int main(int argc, char ** argv) {
    CHECK(argc == 2); // the folder of kernels.c, compiled
    @autoreleasepool {
        open_device(argv[1]);
        queue = [device newCommandQueue];
        RUN(the_device_looks_like_its_profile);
        RUN(buffers_own_or_borrow_memory);
        RUN(impossible_buffers_are_nil);
        RUN(mach_memory_is_zeroed_and_has_slack);
        RUN(unknown_functions_are_nil_with_an_error);
        RUN(out_parameters_are_written_on_success);
        RUN(every_threadgroup_runs_once);
        RUN(a_dispatch_carries_its_arguments);
        RUN(constants_are_scalars);
        RUN(buffers_run_in_the_order_of_enqueueing);
        RUN(the_end_is_status_then_handlers_then_waiters);
        RUN(a_command_buffer_keeps_what_it_uses);
        RUN(blits_fill_and_copy_within_bounds);
        RUN(wrong_dispatches_fail_with_a_text);
        RUN(wrong_arguments_fail_with_a_text);
        RUN(wrong_blits_and_orders_fail_with_a_text);
        RUN(a_commit_with_an_open_encoder_fails);
        RUN(a_handler_after_the_commit_raises);
        RUN(empty_grids_do_nothing);
        RUN(abandoned_buffers_let_the_next_ones_run);
        RUN(events_order_two_queues);
        RUN(a_queue_goes_when_its_last_buffer_is_through);
        RUN(statistics_count_what_ran);
        RUN(captures_are_refused);
        [queue release];
        [library release];
        [device release];
    }
    return 0;
}
