// MTLFunction: a kernel of a library by its host name, with the function constants it is specialised with.
#pragma once

#import <Metal/Metal.h>

#include "../exec/loader.h"

@interface SMFunction : NSObject <MTLFunction>
// The constants may be nil.
+ (id) newWithName:(NSString *) name library:(struct sm_library *) library constants:(MTLFunctionConstantValues *) constants;
- (struct sm_library *) library;
- (MTLFunctionConstantValues *) constants; // never nil
@end
