// What compute and blit encoders have in common: they record into one command buffer until they end.
#pragma once

#import <Metal/Metal.h>

#include "command_buffer.h"

@interface SMEncoder : NSObject <MTLCommandEncoder> {
    SMCommandBuffer * _buffer; // nil once the encoder has ended: what it records then goes nowhere
}
+ (id) newWithCommandBuffer:(SMCommandBuffer *) buffer;
// The command buffer goes on without this encoder.
- (void) detach;
@end
