// The order in which a grid's threadgroups begin, as softmetal_set_order says, and what they find in their memory.

#include "metal.h"

#include <stdbool.h>

enum { MOST = 300 };

static id<MTLCommandQueue>         queue;
static id<MTLComputePipelineState> record; // log[++log[0]] = threadgroup, see kernels.c

struct order {
    int begun[MOST];
};

// On one thread, so that one begins after the other.
static struct order order_of(int threadgroups, uint32_t chosen) {
    struct order  order    = { { 0 } };
    id<MTLBuffer> log      = [device newBufferWithLength:(MOST + 1) * sizeof(int) options:MTLResourceStorageModeShared];
    int *         contents = (int *) [log contents];

    softmetal_set_order(chosen);
    CHECK(softmetal_order() == chosen);
    @autoreleasepool {
        id<MTLCommandBuffer> commands = [queue commandBuffer];
        encode(commands, record, log, (NSUInteger) threadgroups);
        [commands commit];
        [commands waitUntilCompleted];
        CHECK([commands status] == MTLCommandBufferStatusCompleted);
    }
    softmetal_set_order(0);
    CHECK(contents[0] == threadgroups);
    memcpy(order.begun, contents + 1, (size_t) threadgroups * sizeof(int));
    [log release];
    return order;
}

static bool all_ran_once(const struct order * order, int threadgroups) {
    bool ran[MOST] = { false };

    for (int i = 0; i < threadgroups; i++) {
        const int at = order->begun[i];
        if (at < 0 || at >= threadgroups || ran[at]) {
            return false;
        }
        ran[at] = true;
    }
    return true;
}

static void the_usual_one_ascends(void) {
    const struct order order = order_of(100, 0);

    for (int i = 0; i < 100; i++) {
        CHECK(order.begun[i] == i);
    }
}

static void the_last_one_may_be_first(void) {
    const struct order order = order_of(100, 1);

    for (int i = 0; i < 100; i++) {
        CHECK(order.begun[i] == 99 - i);
    }
}

static void a_shuffled_one_has_every_threadgroup_once(void) {
    for (int threadgroups = 1; threadgroups <= MOST; threadgroups += threadgroups < 40 ? 1 : 65) {
        for (uint32_t seed = 2; seed < 10; seed++) {
            const struct order order = order_of(threadgroups, seed), again = order_of(threadgroups, seed);
            CHECK(all_ran_once(&order, threadgroups));
            CHECK(memcmp(&order, &again, sizeof order) == 0);
        }
    }
}

static void shuffled_ones_differ(void) {
    const struct order usual = order_of(64, 0), reversed = order_of(64, 1), last = order_of(64, UINT32_MAX);

    CHECK(all_ran_once(&last, 64));
    for (uint32_t seed = 2; seed < 20; seed++) {
        const struct order order = order_of(64, seed), next = order_of(64, seed + 1);
        int                stayed = 0;
        for (int i = 0; i < 64; i++) {
            stayed += order.begun[i] == i;
        }
        CHECK(stayed < 16);
        CHECK(memcmp(&order, &usual, sizeof order) != 0);
        CHECK(memcmp(&order, &reversed, sizeof order) != 0);
        CHECK(memcmp(&order, &next, sizeof order) != 0);
    }
}

static void every_threadgroup_runs_on_several_threads_too(void) {
    id<MTLComputePipelineState> count  = make_pipeline("count", nil); // counts[threadgroup]++
    id<MTLBuffer>               counts = [device newBufferWithLength:MOST * sizeof(int) options:MTLResourceStorageModeShared];

    softmetal_set_threads(4);
    for (uint32_t order = 0; order < 6; order++) {
        softmetal_set_order(order);
        @autoreleasepool {
            id<MTLCommandBuffer> commands = [queue commandBuffer];
            encode(commands, count, counts, MOST);
            [commands commit];
            [commands waitUntilCompleted];
        }
        for (int i = 0; i < MOST; i++) {
            CHECK(((int *) [counts contents])[i] == (int) order + 1);
        }
    }
    softmetal_set_order(0);
    [counts release];
    [count release];
}

struct dispatched {
    bool last_first;
    int  fill;
};

// What a kernel library is told of a dispatch.
static struct dispatched dispatch_once(void) {
    id<MTLComputePipelineState> describe = make_pipeline("describe", nil);
    id<MTLBuffer>               out      = [device newBufferWithLength:10 * sizeof(int64_t) options:MTLResourceStorageModeShared];
    const int64_t *             seen     = (int64_t *) [out contents];

    @autoreleasepool {
        id<MTLCommandBuffer>         commands = [queue commandBuffer];
        id<MTLComputeCommandEncoder> encoder  = [commands computeCommandEncoder];
        [encoder setComputePipelineState:describe];
        [encoder setBuffer:out offset:0 atIndex:0];
        [encoder setBuffer:out offset:0 atIndex:1];
        [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
        [encoder endEncoding];
        [commands commit];
        [commands waitUntilCompleted];
        CHECK([commands status] == MTLCommandBufferStatusCompleted);
    }
    const struct dispatched dispatched = { seen[8] != 0, (int) seen[9] };
    [out release];
    [describe release];
    return dispatched;
}

static void in_any_order_but_the_usual_one_the_last_simdgroup_is_first(void) {
    const uint32_t orders[] = { 1, 2, 0, UINT32_MAX };

    CHECK(!dispatch_once().last_first);
    for (int i = 0; i < 4; i++) {
        softmetal_set_order(orders[i]);
        CHECK(dispatch_once().last_first == (orders[i] != 0));
    }
    softmetal_set_order(0);
}

static void threadgroup_memory_is_filled_when_asked_for(void) {
    const int bytes[] = { 0, 255, -1, 0x4b, 256, -2 }, fills[] = { 0, 255, -1, 0x4b, -1, -1 };

    CHECK(softmetal_threadgroup_fill() == -1 && dispatch_once().fill == -1);
    for (int i = 0; i < 6; i++) {
        softmetal_set_threadgroup_fill(bytes[i]);
        CHECK(softmetal_threadgroup_fill() == fills[i] && dispatch_once().fill == fills[i]);
    }
}

int main(int argc, char ** argv) {
    CHECK(argc == 2); // the folder of kernels.c, compiled
    @autoreleasepool {
        open_device(argv[1]);
        softmetal_set_threads(1);
        queue  = [device newCommandQueue];
        record = make_pipeline("record", nil);
        RUN(the_usual_one_ascends);
        RUN(the_last_one_may_be_first);
        RUN(a_shuffled_one_has_every_threadgroup_once);
        RUN(shuffled_ones_differ);
        RUN(every_threadgroup_runs_on_several_threads_too);
        RUN(in_any_order_but_the_usual_one_the_last_simdgroup_is_first);
        RUN(threadgroup_memory_is_filled_when_asked_for);
        [record release];
        [queue release];
        [library release];
        [device release];
    }
    return 0;
}
