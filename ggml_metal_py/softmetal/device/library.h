// MTLLibrary: the functions of one MSL source.
#pragma once

#import <Metal/Metal.h>

@interface SMLibrary : NSObject <MTLLibrary>
// nil and an error when the source is unknown and cannot be compiled.
+ (id) newWithSource:(NSString *) source options:(MTLCompileOptions *) options error:(NSError **) error;
@end
