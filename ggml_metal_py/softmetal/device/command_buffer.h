// MTLCommandBuffer: commands recorded by encoders, run by a queue in the order of enqueueing.
//
// One thread at a time records; enqueue, commit, status and waiting may come from any thread.
#pragma once

#import <Metal/Metal.h>

#include "command.h"

@class SMCommandQueue;

@interface SMCommandBuffer : NSObject <MTLCommandBuffer>
+ (id) newWithQueue:(SMCommandQueue *) queue retainsReferences:(BOOL) retains;

// ---- for encoders

// Memory that lives as long as the recorded commands, aligned for any use by a kernel.
- (void *) allocate:(size_t) size;
// Adds a command; the structure is zeroed but for its header.
- (void *) record:(enum command_kind) kind size:(size_t) size;
// Records that something impossible was asked for: the buffer fails when it comes to that.
- (void) recordInvalid:(const char *) format, ... __attribute__((format(printf, 1, 2)));
// Keeps the object alive until the buffer has run, if this buffer does so.
- (void) keep:(id) object;
- (void) encoderEnded;

// ---- for the queue

// Runs the commands and finishes.
- (void) run;
// Finishes without running anything: with status Error and this text.
- (void) failWith:(const char *) text;
// The same in a forked child, for a buffer that a thread of the parent was running: touches nothing else.
- (void) failInForkedChildWith:(const char *) text;
@end
