// Encoders: beginning and end.

#include "encoder.h"

@implementation SMEncoder

+ (id) newWithCommandBuffer:(SMCommandBuffer *) buffer {
    SMEncoder * encoder = [self new];

    encoder->_buffer = [buffer retain];
    return encoder;
}

- (void) detach {
    [_buffer encoderEnded];
    [_buffer release];
    _buffer = nil;
}

- (void) dealloc {
    [self detach];
    [super dealloc];
}

- (void) endEncoding {
    [self detach];
}

- (void) pushDebugGroup:(NSString *) name {
    (void) name;
}

- (void) popDebugGroup {
}

@end
