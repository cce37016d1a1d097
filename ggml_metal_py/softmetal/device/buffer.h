// MTLBuffer: a range of this process's memory. Shared, managed and private storage are the same.
#pragma once

#import <Metal/Metal.h>

@interface SMBuffer : NSObject <MTLBuffer>
// nil when there is no memory for it.
+ (id) newWithLength:(NSUInteger) length;
// Borrows the memory; the deallocator (may be nil) is called when the buffer goes.
+ (id) newWithMemory:(void *) memory length:(NSUInteger) length deallocator:(void (^)(void *, NSUInteger)) deallocator;
@end

// Bytes of all buffers alive.
NSUInteger sm_buffers_allocated(void);
