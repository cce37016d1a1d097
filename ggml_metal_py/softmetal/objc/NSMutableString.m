// Strings that grow.

#import <Foundation/Foundation.h>

#include "runtime.h"

@implementation NSMutableString {
    char *     _bytes; // with a final 0
    NSUInteger _length;
    NSUInteger _capacity;
}

- (id) init {
    return [self initWithBytes:"" length:0 encoding:NSUTF8StringEncoding];
}

- (id) initWithBytes:(const void *) bytes length:(NSUInteger) length encoding:(NSStringEncoding) encoding {
    if (encoding != NSUTF8StringEncoding) {
        [self release];
        return nil;
    }
    [self append:bytes length:length];
    return self;
}

- (void) dealloc {
    free(_bytes);
    [super dealloc];
}

- (id) copy {
    return [[NSString alloc] initWithBytes:_bytes length:_length encoding:NSUTF8StringEncoding];
}

- (void) append:(const char *) bytes length:(NSUInteger) length {
    if (_length + length >= _capacity) {
        const NSUInteger capacity = 2 * (_length + length + 1);
        char *           grown    = malloc(capacity);

        if (!grown) {
            objc_raise("out of memory for a string of %lu bytes", _length + length);
        }
        if (_length) {
            memcpy(grown, _bytes, _length);
        }
        memcpy(grown + _length, bytes, length); // before the old text goes: it may be that
        free(_bytes);
        _bytes    = grown;
        _capacity = capacity;
    } else {
        memmove(_bytes + _length, bytes, length);
    }
    _length += length;
    _bytes[_length] = 0;
}

- (void) appendString:(NSString *) string {
    if (!string) {
        objc_raise("nil cannot be appended to a string");
    }
    [self append:[string UTF8String] length:[string length]];
}

- (const char *) UTF8String {
    return _bytes; // until the next change
}

- (NSUInteger) length {
    return _length;
}

@end
