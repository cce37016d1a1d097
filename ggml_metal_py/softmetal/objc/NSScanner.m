// Scanners: a position in a string.

#import <Foundation/Foundation.h>

#include "NSCharacterSet.h"

#include <strings.h>

@implementation NSScanner {
    NSString *       _string;
    NSUInteger       _location;
    NSCharacterSet * _skipped; // nil: nothing
}

+ (id) scannerWithString:(NSString *) string {
    NSScanner * scanner = [[self new] autorelease];

    scanner->_string  = [string copy];
    scanner->_skipped = [[NSCharacterSet whitespaceCharacterSet] retain];
    return scanner;
}

- (void) dealloc {
    [_string release];
    [_skipped release];
    [super dealloc];
}

- (NSCharacterSet *) charactersToBeSkipped {
    return _skipped;
}

- (void) setCharactersToBeSkipped:(NSCharacterSet *) set {
    [set retain];
    [_skipped release];
    _skipped = set;
}

// The location behind the characters to be skipped.
- (NSUInteger) start {
    const char * rest = [_string UTF8String] + _location;

    return _location + [_skipped lengthOfMembersAtStartOf:rest length:[_string length] - _location];
}

- (BOOL) string:(NSString *) string isAt:(NSUInteger) location {
    return strncasecmp([_string UTF8String] + location, [string UTF8String], [string length]) == 0;
}

// Moves on, if that is forward, and hands out what lies between.
- (BOOL) scanFrom:(NSUInteger) start to:(NSUInteger) end into:(NSString **) result {
    if (end == start) {
        return NO;
    }
    if (result) {
        *result = [[[NSString alloc] initWithBytes:[_string UTF8String] + start
                                            length:end - start
                                          encoding:NSUTF8StringEncoding] autorelease];
    }
    _location = end;
    return YES;
}

- (BOOL) scanString:(NSString *) string intoString:(NSString **) result {
    const NSUInteger start = [self start];

    return [self string:string isAt:start] && [self scanFrom:start to:start + [string length] into:result];
}

- (BOOL) scanUpToString:(NSString *) string intoString:(NSString **) result {
    const NSUInteger start = [self start];
    NSUInteger       end   = start;

    while (end < [_string length] && ![self string:string isAt:end]) {
        end++;
    }
    return [self scanFrom:start to:end into:result];
}

@end
