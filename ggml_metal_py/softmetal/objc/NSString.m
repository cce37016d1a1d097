// Strings: UTF-8. NSString is the face of immutable ones, made at run time or by the compiler (@"..."), and of
// NSMutableString.

#import <Foundation/Foundation.h>

#include "NSCharacterSet.h"
#include "format.h"
#include "runtime.h"

#include <errno.h>

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

// The whole file, to be freed; NULL and errno when it cannot be read.
static char * read_file(const char * path, size_t * length) {
    FILE * file = fopen(path, "rb");

    if (!file) {
        return NULL;
    }
    char * bytes = NULL;
    FILE * copy  = open_memstream(&bytes, length);
    char   part[4096];
    size_t read;
    bool   good = copy != NULL;

    while (good && (read = fread(part, 1, sizeof part, file)) > 0) {
        good = fwrite(part, 1, read, copy) == read;
    }
    good = good && !ferror(file);
    const int reason = errno;
    fclose(file);
    if (copy && fclose(copy) == 0 && good) {
        return bytes;
    }
    free(bytes);
    errno = reason;
    return NULL;
}

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
    va_list arguments;
    va_start(arguments, format);
    char * text = objc_format([format UTF8String], arguments);
    va_end(arguments);
    NSString * string = [self stringWithUTF8String:text];

    free(text);
    return string;
}

+ (id) stringWithContentsOfFile:(NSString *) path encoding:(NSStringEncoding) encoding error:(NSError **) error {
    size_t       length;
    char *       bytes  = read_file([path UTF8String], &length);
    const char * reason = bytes ? "softmetal knows UTF-8 only" : strerror(errno);
    NSString *   string = nil;

    if (bytes) {
        string = [[[self alloc] initWithBytes:bytes length:length encoding:encoding] autorelease];
        free(bytes);
    }
    if (!string && error) {
        *error = [NSError errorWithText:[[NSString stringWithFormat:@"cannot read %@: %s", path, reason] UTF8String]];
    }
    return string;
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

- (NSString *) substringToIndex:(NSUInteger) index {
    if (index > [self length]) {
        objc_raise("string index %lu is beyond the %lu bytes of \"%s\"", index, [self length], [self UTF8String]);
    }
    return [[[NSString alloc] initWithBytes:[self UTF8String] length:index encoding:NSUTF8StringEncoding] autorelease];
}

- (NSArray *) componentsSeparatedByString:(NSString *) separator {
    NSMutableArray * components = [[NSMutableArray new] autorelease];
    const char *     rest       = [self UTF8String];
    const char *     end        = [separator length] ? strstr(rest, [separator UTF8String]) : NULL;

    for (; end; end = strstr(rest, [separator UTF8String])) {
        NSString * component = [[NSString alloc] initWithBytes:rest length:(NSUInteger) (end - rest) encoding:NSUTF8StringEncoding];

        [components addObject:component];
        [component release];
        rest = end + [separator length];
    }
    [components addObject:[NSString stringWithUTF8String:rest]];
    return components;
}

- (NSString *) stringByTrimmingCharactersInSet:(NSCharacterSet *) set {
    const char *     text   = [self UTF8String];
    const NSUInteger length = [self length];
    const NSUInteger start  = [set lengthOfMembersAtStartOf:text length:length];
    const NSUInteger end    = [set lengthOfMembersAtEndOf:text + start length:length - start];

    return [[[NSString alloc] initWithBytes:text + start length:length - start - end encoding:NSUTF8StringEncoding] autorelease];
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
    enum { IS_ASCII = 0x7c8 }; // clang's flags; a literal with other characters is UTF-16
    if (_references != IS_ASCII) {
        objc_raise("a string literal has other characters than ASCII; use stringWithUTF8String:");
    }
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
