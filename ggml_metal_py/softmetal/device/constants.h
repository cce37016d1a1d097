// MTLFunctionConstantValues: the function constants that a pipeline is specialised with.
#pragma once

#import <Metal/Metal.h>

#include "../exec/abi.h"

@interface MTLFunctionConstantValues ()
- (id) copyOfValues; // with the values of now
// Fills values and is_set, one entry for each constant a kernel library declares (see struct sm_dispatch).
// False, with a text, when a value has another type than its declaration.
- (BOOL) fill:(int64_t *) values set:(uint8_t *) is_set for:(const struct sm_kernels *) module error:(char *) text size:(size_t) size;
// "{index=value,...}", or "" without any.
- (NSString *) text;
@end
