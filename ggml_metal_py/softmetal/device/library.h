// MTLLibrary: the functions of one MSL source, or of one .metallib.
#pragma once

#import <Metal/Metal.h>

@interface SMLibrary : NSObject <MTLLibrary>
// nil and an error when the source is unknown and cannot be compiled.
+ (id) newWithSource:(NSString *) source options:(MTLCompileOptions *) options error:(NSError **) error;
// nil and an error when the file is no .metallib. Its functions can be looked up and made into pipelines, not run.
+ (id) newWithURL:(NSURL *) url error:(NSError **) error;
@end
