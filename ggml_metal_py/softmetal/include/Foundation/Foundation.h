// The dozen Foundation classes that a Metal host needs (objc/). Declarations only.
//
// Memory is managed by retain, release and autorelease; there is no ARC, no key-value coding, no run loop.
#pragma once

#include <TargetConditionals.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Apple's nil is a plain null pointer constant, and callers use it for C pointers and integers' sake too.
#undef nil
#define nil ((void *) 0)

// Apple's Foundation brings Mach along.
#if TARGET_OS_OSX
#include <mach/mach.h>
#endif

#ifdef __OBJC__

#ifdef __cplusplus
extern "C" {
#endif

typedef signed char   BOOL;
typedef long          NSInteger;
typedef unsigned long NSUInteger;

#define YES ((BOOL) 1)
#define NO  ((BOOL) 0)

typedef NSUInteger NSStringEncoding;
enum { NSUTF8StringEncoding = 4 };

typedef struct {
    NSUInteger location;
    NSUInteger length;
} NSRange;

static inline NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
    return (NSRange) { location, length };
}

typedef struct {
    unsigned long   state;
    id *            itemsPtr;
    unsigned long * mutationsPtr;
    unsigned long   extra[5];
} NSFastEnumerationState;

@class NSString, NSArray, NSDictionary;

@protocol NSObject
- (id) retain;
- (oneway void) release;
- (id) autorelease;
- (NSUInteger) retainCount;
- (Class) class;
- (BOOL) isKindOfClass:(Class) cls;
- (BOOL) respondsToSelector:(SEL) selector;
- (BOOL) isEqual:(id) other;
- (NSUInteger) hash;
- (NSString *) description;
@end

__attribute__((objc_root_class))
@interface NSObject <NSObject> {
    Class _class; // first: what a message looks at
    int   _references; // lies on the flags word of constant strings, see NSString.m
}
+ (id) alloc;
+ (id) new;
+ (Class) class;
- (id) init;
- (id) copy; // every class here is immutable or shared: the same object, retained
- (void) dealloc;
@end

@interface NSAutoreleasePool : NSObject {
    NSUInteger _mark;
}
- (void) drain;
@end

@interface NSString : NSObject
+ (id) stringWithUTF8String:(const char *) text;
+ (id) stringWithCString:(const char *) text encoding:(NSStringEncoding) encoding;
+ (id) stringWithFormat:(NSString *) format, ...; // C conversions only, no %@
- (id) initWithBytes:(const void *) bytes length:(NSUInteger) length encoding:(NSStringEncoding) encoding;
- (const char *) UTF8String;
- (NSUInteger) length; // in bytes of UTF-8, which is what every caller here means
- (BOOL) containsString:(NSString *) part;
- (BOOL) isEqualToString:(NSString *) other;
@end

@interface NSArray : NSObject {
    id *          _items;
    NSUInteger    _count;
    NSUInteger    _capacity;
    unsigned long _mutations;
}
- (NSUInteger) count;
- (id) objectAtIndex:(NSUInteger) index;
- (id) objectAtIndexedSubscript:(NSUInteger) index;
- (NSUInteger) countByEnumeratingWithState:(NSFastEnumerationState *) state objects:(id *) buffer count:(NSUInteger) capacity;
@end

@interface NSMutableArray : NSArray
- (void) addObject:(id) object;
- (void) replaceObjectAtIndex:(NSUInteger) index withObject:(id) object;
- (void) removeObject:(id) object;
- (void) removeAllObjects;
@end

@interface NSDictionary : NSObject {
    NSMutableArray * _keys;
    NSMutableArray * _values;
}
+ (id) dictionary;
- (NSUInteger) count;
- (NSArray *) allKeys;
- (id) objectForKey:(id) key;
@end

@interface NSMutableDictionary : NSDictionary
- (void) setObject:(id) object forKey:(id) key;
@end

@interface NSError : NSObject
+ (id) errorWithText:(const char *) text; // ours; UTF-8
- (NSString *) localizedDescription;
@end

@interface NSLock : NSObject
- (void) lock;
- (void) unlock;
@end

@interface NSURL : NSObject
+ (id) fileURLWithPath:(NSString *) path;
- (NSString *) path;
@end

#ifdef __cplusplus
}
#endif

#endif // __OBJC__
