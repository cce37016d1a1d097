// What NSCharacterSet tells the other classes.
#pragma once

#import <Foundation/Foundation.h>

@interface NSCharacterSet ()
// Bytes of the members that a text begins or ends with.
- (NSUInteger) lengthOfMembersAtStartOf:(const char *) text length:(NSUInteger) length;
- (NSUInteger) lengthOfMembersAtEndOf:(const char *) text length:(NSUInteger) length;
@end
