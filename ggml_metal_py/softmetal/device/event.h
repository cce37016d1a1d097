// MTLEvent and MTLSharedEvent: a counter that threads and command buffers wait for.
#pragma once

#import <Metal/Metal.h>

@interface SMEvent : NSObject <MTLSharedEvent>
@end
