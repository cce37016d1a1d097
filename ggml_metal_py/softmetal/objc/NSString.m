// Strings: immutable UTF-8. NSString is the face of two classes, made at run time or by the compiler (@"...").

#import <Foundation/Foundation.h>

#include "runtime.h"

@interface SMString : NSString {
    char *     _bytes;
    NSUInteger _length;
}
@end

// Laid over what clang emits for @"...": { isa, flags, bytes, length }. NSObject's count lies on the flags.
@interface NSConstantString : NSString {
    const char * _bytes;
    long         _length;
}
@end

// The name under which clang refers to that class.
__asm__(".globl __CFConstantStringClassReference\n"
        ".hidden __CFConstantStringClassReference\n"
        ".set __CFConstantStringClassReference, \"OBJC_CLASS_$_NSConstantString\"\n");

@implementation NSString

+ (id) alloc {
    return self == [NSString class] ? [SMString alloc] : [super alloc];
}

+ (id) stringWithUTF8String:(const char *) text {
    return [[[self alloc] initWithBytes:text length:strlen(text) encoding:NSUTF8StringEncoding] autorelease];
}

+ (id) stringWithCString:(const char *) text encoding:(NSStringEncoding) encoding {
    return [[[self alloc] initWithBytes:text length:strlen(text) encoding:encoding] autorelease];
}

+ (id) stringWithFormat:(NSString *) format, ... {
    char *  text;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, [format UTF8String], arguments);
    va_end(arguments);
    if (length < 0) {
        objc_raise("cannot format a string");
    }
    NSString * string = [[self alloc] initWithBytes:text length:(NSUInteger) length encoding:NSUTF8StringEncoding];

    free(text);
    return [string autorelease];
}

- (id) initWithBytes:(const void *) bytes length:(NSUInteger) length encoding:(NSStringEncoding) encoding {
    (void) bytes, (void) length, (void) encoding;
    objc_raise("-[%s initWithBytes:length:encoding:] makes strings of class NSString only", objc_class_name([self class]));
}

- (const char *) UTF8String {
    objc_raise("class %s has no bytes", objc_class_name([self class]));
}

- (NSUInteger) length {
    return strlen([self UTF8String]);
}

- (BOOL) containsString:(NSString *) part {
    return part && strstr([self UTF8String], [part UTF8String]) != NULL;
}

- (BOOL) isEqualToString:(NSString *) other {
    return other && strcmp([self UTF8String], [other UTF8String]) == 0;
}

- (BOOL) isEqual:(id) other {
    return [other isKindOfClass:[NSString class]] && [self isEqualToString:other];
}

- (NSUInteger) hash {
    NSUInteger hash = 5381;
    for (const char * c = [self UTF8String]; *c; c++) {
        hash = hash * 33 ^ (unsigned char) *c;
    }
    return hash;
}

- (NSString *) description {
    return self;
}

@end

@implementation SMString

- (id) initWithBytes:(const void *) bytes length:(NSUInteger) length encoding:(NSStringEncoding) encoding {
    if (encoding != NSUTF8StringEncoding) {
        [self release];
        return nil;
    }
    _bytes  = objc_allocate(length + 1);
    _length = length;
    if (length) {
        memcpy(_bytes, bytes, length);
    }
    return self;
}

- (void) dealloc {
    free(_bytes);
    [super dealloc];
}

- (const char *) UTF8String {
    return _bytes ? _bytes : "";
}

- (NSUInteger) length {
    return _length;
}

@end

@implementation NSConstantString

- (const char *) UTF8String {
    return _bytes;
}

- (NSUInteger) length {
    return (NSUInteger) _length;
}

// It lives as long as the library, in memory that may be read-only.
- (id) retain {
    return self;
}

- (oneway void) release {
}

- (id) autorelease {
    return self;
}

@end
