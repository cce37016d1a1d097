// Buffers, owned or borrowed, and how much they take together.

#include "buffer.h"
#include "memory.h"

#include <stdatomic.h>

static _Atomic NSUInteger allocated;

@implementation SMBuffer {
    void *     _memory;
    NSUInteger _length;
    BOOL       _owned;
    void (^_deallocator)(void *, NSUInteger);
}

+ (id) newWithLength:(NSUInteger) length {
    void * memory = sm_memory_map(length);
    if (!memory) {
        return nil;
    }
    SMBuffer * buffer = [self newWithMemory:memory length:length deallocator:nil];

    buffer->_owned = YES;
    return buffer;
}

+ (id) newWithMemory:(void *) memory length:(NSUInteger) length deallocator:(void (^)(void *, NSUInteger)) deallocator {
    SMBuffer * buffer = [self new];

    buffer->_memory      = memory;
    buffer->_length      = length;
    buffer->_deallocator = Block_copy(deallocator);
    atomic_fetch_add_explicit(&allocated, length, memory_order_relaxed);
    return buffer;
}

- (void) dealloc {
    atomic_fetch_sub_explicit(&allocated, _length, memory_order_relaxed);
    if (_owned) {
        sm_memory_unmap(_memory, _length);
    }
    if (_deallocator) {
        _deallocator(_memory, _length);
        Block_release(_deallocator);
    }
    [super dealloc];
}

- (void *) contents {
    return _memory;
}

- (NSUInteger) length {
    return _length;
}

- (NSUInteger) allocatedSize {
    return _length;
}

@end

NSUInteger sm_buffers_allocated(void) {
    return atomic_load_explicit(&allocated, memory_order_relaxed);
}
