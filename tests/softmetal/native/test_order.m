// What a dispatch sees of the encoder's state at its time, and in which order things run.

#include "metal.h"

#include <unistd.h>

static id<MTLCommandQueue>         queue;
static id<MTLComputePipelineState> append; // log[++log[0]] = *value, see kernels.c
static id<MTLComputePipelineState> describe;

static id<MTLBuffer> make_buffer(NSUInteger bytes) {
    return [device newBufferWithLength:bytes options:MTLResourceStorageModeShared];
}

static int * ints(id<MTLBuffer> buffer) {
    return (int *) [buffer contents];
}

static void dispatch(id<MTLComputeCommandEncoder> encoder) {
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
}

static void run(id<MTLCommandBuffer> commands) {
    [commands commit];
    [commands waitUntilCompleted];
    CHECK([commands status] == MTLCommandBufferStatusCompleted && ![commands error]);
}

// log[0] is the number of values behind it.
#define CHECK_LOG(log, ...)                                                                                            \
    do {                                                                                                               \
        const int expected_[] = { __VA_ARGS__ };                                                                       \
        CHECK(ints(log)[0] == sizeof expected_ / sizeof expected_[0]);                                                 \
        CHECK(memcmp(ints(log) + 1, expected_, sizeof expected_) == 0);                                                \
    } while (0)

static void every_dispatch_sees_the_bytes_of_its_time(void) {
    id<MTLBuffer>                log      = make_buffer(256);
    id<MTLBuffer>                values   = make_buffer(64);
    id<MTLCommandBuffer>         commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder  = [commands computeCommandEncoder];
    int                          value    = 1;

    ints(values)[0] = 10;
    ints(values)[3] = 13;
    [encoder setComputePipelineState:append];
    [encoder setBuffer:log offset:0 atIndex:0];
    [encoder setBytes:&value length:sizeof value atIndex:1];
    value = 2; // was copied
    dispatch(encoder);
    dispatch(encoder); // still bound
    [encoder setBytes:&value length:sizeof value atIndex:1];
    dispatch(encoder);
    [encoder setBuffer:values offset:0 atIndex:1];
    dispatch(encoder);
    [encoder setBuffer:values offset:12 atIndex:1];
    dispatch(encoder);
    [encoder setBytes:&value length:sizeof value atIndex:1];
    value = 3;
    dispatch(encoder);
    [encoder endEncoding];
    ints(values)[0] = 20; // was not copied
    run(commands);
    CHECK_LOG(log, 1, 1, 2, 20, 13, 2);
    [values release];
    [log release];
}

static void offsets_go_up_to_the_end(void) {
    id<MTLBuffer>                out      = make_buffer(256);
    id<MTLBuffer>                buffer   = make_buffer(100);
    id<MTLCommandBuffer>         commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder  = [commands computeCommandEncoder];
    const int64_t *              seen     = [out contents];

    [encoder setComputePipelineState:describe];
    for (int i = 0; i < 3; i++) {
        [encoder setBuffer:out offset:64 * i atIndex:0];
        [encoder setBuffer:buffer offset:(NSUInteger[]) { 0, 99, 100 }[i] atIndex:1];
        [encoder setThreadgroupMemoryLength:(NSUInteger[]) { 4096, 16, 0 }[i] atIndex:0];
        dispatch(encoder);
    }
    [encoder endEncoding];
    ((char *) [buffer contents])[0]  = 5;
    ((char *) [buffer contents])[99] = 7;
    run(commands);
    CHECK(seen[1] == 256 && seen[8 + 1] == 192 && seen[16 + 1] == 128);       // bytes behind the offset
    CHECK(seen[2] == 100 && seen[8 + 2] == 1 && seen[16 + 2] == 0);
    CHECK(seen[3] == 5 && seen[8 + 3] == 7);
    CHECK(seen[4] == 4096 && seen[8 + 4] == 16 && seen[16 + 4] == 0);
    [buffer release];
    [out release];
}

static void check_unbound(id<MTLCommandBuffer> commands) {
    [commands commit];
    [commands waitUntilCompleted];
    CHECK([commands status] == MTLCommandBufferStatusError);
    CHECK_TEXT([[[commands error] localizedDescription] UTF8String], "nothing is bound to its buffer argument buffer1 at index 1");
}

static void an_encoder_begins_with_nothing_bound(void) {
    id<MTLBuffer>                log      = make_buffer(256);
    id<MTLCommandBuffer>         commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder  = [commands computeCommandEncoder];
    int                          value    = 4;

    [encoder setComputePipelineState:append];
    [encoder setBuffer:log offset:0 atIndex:0];
    [encoder setBytes:&value length:sizeof value atIndex:1];
    dispatch(encoder);
    [encoder endEncoding];
    encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:append];
    [encoder setBuffer:log offset:0 atIndex:0];
    dispatch(encoder);
    [encoder endEncoding];
    check_unbound(commands);
    CHECK_LOG(log, 4);

    commands = [queue commandBuffer];
    encoder  = [commands computeCommandEncoder];
    [encoder setComputePipelineState:append];
    [encoder setBuffer:log offset:0 atIndex:0];
    [encoder setBytes:&value length:sizeof value atIndex:1];
    [encoder setBuffer:nil offset:0 atIndex:1];
    dispatch(encoder);
    [encoder endEncoding];
    check_unbound(commands);
    [log release];
}

static void encode_append(id<MTLCommandBuffer> commands, id<MTLBuffer> log, int value) {
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];

    [encoder setComputePipelineState:append];
    [encoder setBuffer:log offset:0 atIndex:0];
    [encoder setBytes:&value length:sizeof value atIndex:1];
    dispatch(encoder);
    [encoder endEncoding];
}

static void barriers_order_concurrent_dispatches(void) {
    enum { N = 200 };
    id<MTLBuffer>                log      = make_buffer((N + 1) * sizeof(int));
    id<MTLCommandBuffer>         commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder  = [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];

    [encoder setComputePipelineState:append];
    [encoder setBuffer:log offset:0 atIndex:0];
    for (int i = 0; i < N; i++) {
        [encoder setBytes:&i length:sizeof i atIndex:1];
        dispatch(encoder);
        [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
    }
    [encoder endEncoding];
    run(commands);
    CHECK(ints(log)[0] == N);
    for (int i = 0; i < N; i++) {
        CHECK(ints(log)[i + 1] == i);
    }
    [log release];
}

static void encoders_of_a_buffer_run_one_after_the_other(void) {
    id<MTLBuffer>        log      = make_buffer(256);
    id<MTLBuffer>        copy     = make_buffer(256);
    id<MTLCommandBuffer> commands = [queue commandBuffer];

    encode_append(commands, log, 1);
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit copyFromBuffer:log sourceOffset:0 toBuffer:copy destinationOffset:0 size:256];
    [blit endEncoding];
    encode_append(commands, log, 2);
    blit = [commands blitCommandEncoder];
    [blit fillBuffer:log range:NSMakeRange(8, 4) value:0xff]; // the value 2
    [blit endEncoding];
    encode_append(commands, log, 3);
    run(commands);
    CHECK_LOG(copy, 1);
    CHECK_LOG(log, 1, -1, 3);
    [copy release];
    [log release];
}

static void buffers_that_were_not_enqueued_run_in_the_order_of_their_commits(void) {
    enum { N = 6 };
    id<MTLBuffer>        log = make_buffer(256);
    id<MTLCommandBuffer> commands[N];

    for (int i = 0; i < N; i++) {
        commands[i] = [queue commandBuffer];
        encode_append(commands[i], log, i);
        CHECK([commands[i] status] == MTLCommandBufferStatusNotEnqueued);
    }
    for (int i = N - 1; i >= 0; i--) {
        [commands[i] commit];
        CHECK([commands[i] status] >= MTLCommandBufferStatusCommitted);
    }
    [commands[0] waitUntilCompleted];
    CHECK_LOG(log, 5, 4, 3, 2, 1, 0);
    [log release];
}

// Some enqueued, some only committed, one that fails: each in its place, and the others whole.
static void order_is_that_of_enqueueing_or_else_of_the_commit(void) {
    id<MTLBuffer>        log    = make_buffer(256);
    id<MTLCommandBuffer> first  = [queue commandBuffer];
    id<MTLCommandBuffer> second = [queue commandBuffer];
    id<MTLCommandBuffer> third  = [queue commandBuffer];
    id<MTLCommandBuffer> wrong  = [queue commandBuffer];

    [second enqueue];
    [wrong enqueue];
    encode_append(first, log, 1);
    [first commit]; // behind second and wrong
    encode_append(third, log, 3);
    [third commit];
    encode_append(wrong, log, 4);
    [[wrong blitCommandEncoder] fillBuffer:log range:NSMakeRange(999, 1) value:0]; // and its encoder stays open
    encode_append(second, log, 2);
    [wrong commit];
    usleep(10000);
    CHECK(ints(log)[0] == 0);
    [second commit];
    [third waitUntilCompleted];
    CHECK([wrong status] == MTLCommandBufferStatusError && [first status] == MTLCommandBufferStatusCompleted);
    CHECK_LOG(log, 2, 4, 1, 3);
    [log release];
}

static void queues_play_ping_pong_with_an_event(void) {
    enum { ROUNDS = 40 };
    id<MTLCommandQueue> other = [device newCommandQueue];
    id<MTLEvent>        event = [device newEvent];
    id<MTLBuffer>       log   = make_buffer((2 * ROUNDS + 1) * sizeof(int));
    id<MTLCommandBuffer> last = nil;

    for (int i = 0; i < 2 * ROUNDS; i++) {
        id<MTLCommandBuffer> commands = [i % 2 ? queue : other commandBuffer];
        if (i > 0) {
            [commands encodeWaitForEvent:event value:(uint64_t) i];
        }
        encode_append(commands, log, i);
        [commands encodeSignalEvent:event value:(uint64_t) i + 1];
        [commands commit];
        last = commands;
    }
    [last waitUntilCompleted];
    CHECK(ints(log)[0] == 2 * ROUNDS);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        CHECK(ints(log)[i + 1] == i);
    }
    [log release];
    [event release];
    [other release];
}

static void an_event_may_be_signalled_before_and_by_the_host(void) {
    id<MTLSharedEvent>   event    = [device newSharedEvent];
    id<MTLBuffer>        log      = make_buffer(64);
    id<MTLCommandBuffer> commands = [queue commandBuffer];

    event.signaledValue = 7;
    [commands encodeWaitForEvent:event value:3]; // long past
    encode_append(commands, log, 1);
    run(commands);
    commands = [queue commandBuffer];
    [commands encodeWaitForEvent:event value:8];
    encode_append(commands, log, 2);
    [commands commit];
    usleep(20000);
    CHECK(ints(log)[0] == 1);
    event.signaledValue = 8;
    [commands waitUntilCompleted];
    CHECK_LOG(log, 1, 2);
    [log release];
    [event release];
}

static void a_failed_buffer_does_not_signal(void) {
    id<MTLSharedEvent>           event    = [device newSharedEvent];
    id<MTLCommandBuffer>         commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder  = [commands computeCommandEncoder];

    dispatch(encoder); // without a pipeline
    [encoder endEncoding];
    [commands encodeSignalEvent:event value:1];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK([commands status] == MTLCommandBufferStatusError && event.signaledValue == 0);
    [event release];
}

int main(int argc, char ** argv) {
    CHECK(argc == 2); // the folder of kernels.c, compiled
    @autoreleasepool {
        open_device(argv[1]);
        queue    = [device newCommandQueue];
        append   = make_pipeline("append", nil);
        describe = make_pipeline("describe", nil);
        RUN(every_dispatch_sees_the_bytes_of_its_time);
        RUN(offsets_go_up_to_the_end);
        RUN(an_encoder_begins_with_nothing_bound);
        RUN(barriers_order_concurrent_dispatches);
        RUN(encoders_of_a_buffer_run_one_after_the_other);
        RUN(buffers_that_were_not_enqueued_run_in_the_order_of_their_commits);
        RUN(order_is_that_of_enqueueing_or_else_of_the_commit);
        RUN(queues_play_ping_pong_with_an_event);
        RUN(an_event_may_be_signalled_before_and_by_the_host);
        RUN(a_failed_buffer_does_not_signal);
        [append release];
        [describe release];
        [queue release];
        [library release];
        [device release];
    }
    return 0;
}
