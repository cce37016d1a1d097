// Command buffers: recording, running, and the order of things at the end: first the status is final, then the
// handlers run, then whoever waits goes on.

#include "command_buffer.h"
#include "arena.h"
#include "blit_encoder.h"
#include "compute_encoder.h"
#include "event.h"
#include "failure.h"
#include "queue.h"
#include "raise.h"
#include "runtime.h"
#include "stats.h"

struct reference {
    struct reference * next;
    id                 object;
};

struct handler {
    struct handler *        next;
    MTLCommandBufferHandler block;
    SMCommandBuffer *       buffer; // its argument
};

static void call_handler(void * argument) {
    const struct handler * handler = argument;

    handler->block(handler->buffer);
}

@implementation SMCommandBuffer {
    SMCommandQueue *   _queue;
    struct queue_entry _entry; // its place in the queue, and its status
    BOOL               _retains;
    SMEncoder *        _encoder; // the one that has not ended; it retains this buffer
    NSError *          _error;   // set before the final status

    struct arena       _arena; // holds all of the following
    struct command *   _first;
    struct command **  _end;
    struct reference * _references;
    struct handler *   _handlers;
    struct handler **  _handlers_end;
}

+ (id) newWithQueue:(SMCommandQueue *) queue retainsReferences:(BOOL) retains {
    SMCommandBuffer * buffer = [self new];

    buffer->_queue   = [queue retain];
    buffer->_retains = retains;
    return buffer;
}

- (id) init {
    _entry.buffer = self;
    _end          = &_first;
    _handlers_end = &_handlers;
    return self;
}

// Forgets what was recorded, and lets go of what it kept alive.
- (void) clear {
    for (struct reference * reference = _references; reference; reference = reference->next) {
        [reference->object release];
    }
    for (struct handler * handler = _handlers; handler; handler = handler->next) {
        Block_release(handler->block);
    }
    _first        = NULL;
    _end          = &_first;
    _references   = NULL;
    _handlers     = NULL;
    _handlers_end = &_handlers;
    arena_free(&_arena);
}

- (void) dealloc {
    [self clear];
    [_error release];
    [_queue release];
    [super dealloc];
}

// ---- recording

- (void *) allocate:(size_t) size {
    return arena_allocate(&_arena, size);
}

- (void *) record:(enum command_kind) kind size:(size_t) size {
    struct command * command = [self allocate:size];

    memset(command, 0, size);
    command->kind = kind;
    *_end         = command;
    _end          = &command->next;
    return command;
}

- (void) recordInvalid:(const char *) format, ... {
    char    text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    struct invalid_command * command = [self record:COMMAND_INVALID size:sizeof *command + strlen(text) + 1];

    strcpy(command->text, text);
}

- (void) keep:(id) object {
    if (!_retains || !object) {
        return;
    }
    struct reference * reference = [self allocate:sizeof *reference];

    reference->object = [object retain];
    reference->next   = _references;
    _references       = reference;
}

- (BOOL) isCommitted {
    return [self status] >= MTLCommandBufferStatusCommitted;
}

// nil for a committed buffer: what nil records is lost, and cannot race with the running.
- (id) beginEncoder:(Class) cls {
    if ([self isCommitted]) {
        sm_failure_set("a command buffer was encoded to after its commit: nothing was recorded");
        return nil;
    }
    if (_encoder) {
        [self recordInvalid:"an encoder began before the one before it had ended"];
        [_encoder detach];
    }
    _encoder = [cls newWithCommandBuffer:self];
    return [_encoder autorelease];
}

- (void) encoderEnded {
    _encoder = nil;
}

- (id<MTLComputeCommandEncoder>) computeCommandEncoder {
    return [self beginEncoder:[SMComputeEncoder class]];
}

// Concurrent dispatches may overlap; running them one after the other is one way to do that.
- (id<MTLComputeCommandEncoder>) computeCommandEncoderWithDispatchType:(MTLDispatchType) type {
    (void) type;
    return [self beginEncoder:[SMComputeEncoder class]];
}

- (id<MTLBlitCommandEncoder>) blitCommandEncoder {
    return [self beginEncoder:[SMBlitEncoder class]];
}

- (void) record:(enum command_kind) kind event:(id<MTLEvent>) event value:(uint64_t) value {
    if ([self isCommitted]) {
        sm_failure_set("an event was encoded after its command buffer's commit: nothing was recorded");
        return;
    }
    if (!event) {
        [self recordInvalid:"an event to signal or to wait for is nil"];
        return;
    }
    struct event_command * command = [self record:kind size:sizeof *command];

    [self keep:event];
    command->event = (SMEvent *) event;
    command->value = value;
}

- (void) encodeSignalEvent:(id<MTLEvent>) event value:(uint64_t) value {
    [self record:COMMAND_SIGNAL event:event value:value];
}

- (void) encodeWaitForEvent:(id<MTLEvent>) event value:(uint64_t) value {
    [self record:COMMAND_WAIT event:event value:value];
}

- (void) addCompletedHandler:(MTLCommandBufferHandler) block {
    if ([self isCommitted]) {
        objc_raise("a completion handler was added after the command buffer's commit; it would never be called");
    }
    struct handler * handler = [self allocate:sizeof *handler];

    *handler       = (struct handler) { .block = Block_copy(block), .buffer = self };
    *_handlers_end = handler;
    _handlers_end  = &handler->next;
}

// ---- life in the queue

- (MTLCommandBufferStatus) status {
    return atomic_load_explicit(&_entry.status, memory_order_acquire);
}

- (NSError *) error {
    return [self status] == MTLCommandBufferStatusError ? _error : nil;
}

- (void) enqueue {
    [_queue enqueue:&_entry];
}

- (void) commit {
    if (_encoder && ![self isCommitted]) {
        [self recordInvalid:"the command buffer was committed before its encoder had ended"];
        [_encoder detach];
    }
    [_queue commit:&_entry];
}

- (void) waitUntilCompleted {
    [_queue wait:&_entry];
}

- (void) setFinal:(const char *) failure {
    if (failure) {
        _error = [[NSError errorWithText:failure] retain];
        sm_failure_set(failure);
    }
    atomic_store_explicit(&_entry.status, failure ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted,
                          memory_order_release);
}

- (void) finish:(const char *) failure {
    NSAutoreleasePool * pool = [NSAutoreleasePool new];

    [self setFinal:failure];
    for (struct handler * handler = _handlers; handler; handler = handler->next) {
        char text[256];

        if (objc_try(call_handler, handler, text, sizeof text) != 0) {
            sm_failure_set(text);
        }
    }
    [self clear];
    [pool drain];
    sm_stats_add_command_buffer();
}

- (void) run {
    char text[4096];
    bool good = true;

    atomic_store_explicit(&_entry.status, MTLCommandBufferStatusScheduled, memory_order_release);
    for (struct command * command = _first; command && good; command = command->next) {
        good = sm_command_run(command, text, sizeof text);
    }
    [self finish:good ? NULL : text];
}

- (void) failWith:(const char *) text {
    [self finish:text];
}

- (void) failInForkedChildWith:(const char *) text {
    [self setFinal:text];
}

@end
