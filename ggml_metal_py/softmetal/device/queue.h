// MTLCommandQueue: runs command buffers one after the other, in the order in which they were enqueued. It waits
// for the commit of the one at its head, however many behind it are committed already.
#pragma once

#import <Metal/Metal.h>

#include <stdatomic.h>

@class SMCommandBuffer;

// A command buffer as its queue sees it; part of the command buffer.
struct queue_entry {
    SMCommandBuffer *              buffer;
    struct queue_entry *           next; // behind it in the queue; guarded by the queue
    _Atomic MTLCommandBufferStatus status;
    _Atomic bool                   done; // the status is final and the handlers ran
};

@interface SMCommandQueue : NSObject <MTLCommandQueue>
// The process in which the device was made (fork.h). In a forked child of it, buffers fail when they are committed.
+ (id) newInProcess:(unsigned) process;

- (void) enqueue:(struct queue_entry *) entry; // retains the buffer until it is done
- (void) commit:(struct queue_entry *) entry;
- (void) wait:(struct queue_entry *) entry;
@end
