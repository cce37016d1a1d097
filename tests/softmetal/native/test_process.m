// The process around the device: forked children, and ends while work is running.

#include "metal.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static id<MTLCommandQueue>         queue;
static id<MTLComputePipelineState> slow;
static id<MTLBuffer>               counts;

static id<MTLCommandBuffer> encoded_buffer(NSUInteger groups) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];

    encode(commands, slow, counts, groups);
    return commands;
}

// Runs the block in a forked child, which must end by itself and well.
static void in_child(void (^block)(void)) {
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(30); // a hang is a failure
        block();
        exit(0); // with all the handlers of exit
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void check_failed_by_fork(id<MTLCommandBuffer> commands) {
    CHECK([commands status] == MTLCommandBufferStatusError);
    CHECK_TEXT([[[commands error] localizedDescription] UTF8String], "opened before this process was forked");
}

static void a_child_that_touches_nothing_exits(void) {
    in_child(^{});
}

static void a_commit_in_a_child_fails_at_once(void) {
    id<MTLCommandBuffer> before = encoded_buffer(1);

    in_child(^{
        id<MTLCommandBuffer> commands = encoded_buffer(1);
        [commands enqueue];
        [commands commit];
        [commands waitUntilCompleted];
        check_failed_by_fork(commands);
        [before commit];
        [before waitUntilCompleted];
        check_failed_by_fork(before);

        // A queue made now belongs to the same dead device.
        [queue release];
        queue = [device newCommandQueue];
        commands = encoded_buffer(1);
        [commands commit];
        check_failed_by_fork(commands);
        softmetal_abandon();
    });
    [before commit];
    [before waitUntilCompleted];
    CHECK([before status] == MTLCommandBufferStatusCompleted);
}

static void a_child_of_a_computing_parent_does_not_wait_for_it(void) {
    id<MTLSharedEvent>   event   = [device newSharedEvent];
    id<MTLCommandBuffer> running = encoded_buffer(4);
    id<MTLCommandBuffer> open    = encoded_buffer(1);

    [running encodeWaitForEvent:event value:1];
    [running commit];
    [open enqueue];
    for (int i = 0; i < 5; i++) {
        usleep(3000);
        in_child(^{
            [running waitUntilCompleted];
            check_failed_by_fork(running);
            [open waitUntilCompleted];
            check_failed_by_fork(open);
        });
    }
    event.signaledValue = 1;
    [open commit];
    [open waitUntilCompleted];
    CHECK([running status] == MTLCommandBufferStatusCompleted && [open status] == MTLCommandBufferStatusCompleted);
    [event release];
}

static void handlers_run_in_a_child_too(void) {
    in_child(^{
        dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);
        id<MTLCommandBuffer> commands  = encoded_buffer(1);
        [commands addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
            dispatch_semaphore_signal(semaphore);
        }];
        [commands commit];
        CHECK(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW) == 0);
        dispatch_release(semaphore);
    });
}

int main(int argc, char ** argv) {
    CHECK(argc == 2); // the folder of kernels.c, compiled
    NSAutoreleasePool * pool = [NSAutoreleasePool new];
    open_device(argv[1]);
    softmetal_set_threads(2);
    queue  = [device newCommandQueue];
    slow   = make_pipeline("count_slowly", nil);
    counts = [device newBufferWithLength:4096 options:MTLResourceStorageModeShared];
    RUN(a_child_that_touches_nothing_exits);
    RUN(a_commit_in_a_child_fails_at_once);
    RUN(a_child_of_a_computing_parent_does_not_wait_for_it);
    RUN(handlers_run_in_a_child_too);

    // Ends in the middle of a grid, with everything still open.
    [encoded_buffer(200) commit];
    usleep(12000);
    printf("exit_while_computing\n");
    (void) pool;
    return 0;
}
