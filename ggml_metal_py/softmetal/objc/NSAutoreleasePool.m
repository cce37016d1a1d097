// Autorelease pools: one stack of objects per thread, in which a pool is a mark.
//
// A pool that is drained takes everything above its mark along, younger pools included. So an exception that
// jumps over the end of an @autoreleasepool leaves nothing behind once an outer pool is drained. Without any
// pool, objects wait for the thread's end.

#import <Foundation/Foundation.h>

#include "autorelease.h"
#include "runtime.h"

#include <pthread.h>
#include <softmetal.h>

struct stack {
    id *       objects;
    NSUInteger count;
    NSUInteger capacity;
};

static _Thread_local struct stack stack;

static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;
static pthread_key_t  thread_end;

static void pop_to(NSUInteger count) {
    while (stack.count > count) {
        id object = stack.objects[--stack.count];
        [object release];
    }
}

static void at_thread_end(void * used) {
    (void) used;
    pop_to(0);
    free(stack.objects);
    stack = (struct stack) { 0 };
}

static void make_thread_end_key(void) {
    pthread_key_create(&thread_end, at_thread_end);
}

static void grow(void) {
    if (stack.capacity == 0) {
        pthread_once(&thread_end_once, make_thread_end_key);
        pthread_setspecific(thread_end, &stack); // any value but NULL: calls at_thread_end
    }
    const NSUInteger capacity = stack.capacity ? 2 * stack.capacity : 64;
    id *             objects  = realloc(stack.objects, capacity * sizeof(id));

    if (!objects) {
        objc_raise("out of memory for %lu autoreleased objects", capacity);
    }
    stack.objects  = objects;
    stack.capacity = capacity;
}

void autorelease_add(void * object) {
    if (stack.count == stack.capacity) {
        grow();
    }
    stack.objects[stack.count++] = object;
}

@implementation NSAutoreleasePool

- (id) init {
    _mark = stack.count;
    autorelease_add(self);
    return self;
}

- (void) drain {
    // Down to the pool's own entry, which is not released like the others: that would come back here.
    if (stack.count > _mark) {
        pop_to(_mark + 1);
        stack.count = _mark;
    }
    [self dealloc];
}

- (oneway void) release {
    if (stack.count == _mark) {
        [self dealloc]; // an outer pool is draining and has just taken this entry off
    } else {
        [self drain];
    }
}

@end

void * softmetal_autorelease_push(void) {
    return [NSAutoreleasePool new];
}

void softmetal_autorelease_pop(void * pool) {
    [(NSAutoreleasePool *) pool drain];
}
