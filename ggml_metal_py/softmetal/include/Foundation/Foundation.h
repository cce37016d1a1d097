// The Foundation classes that a Metal host needs (objc/). Declarations only; names and behaviour are Apple's,
// remarks here say where ours is more or less than that.
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

enum { NSNotFound = 0x7fffffffffffffff };

struct object_table; // objc/object_table.h

@class NSString, NSCharacterSet;

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
- (id) copy; // the same object, retained; only the mutable classes make another one, which is immutable
- (void) dealloc;
@end

@interface NSAutoreleasePool : NSObject {
    NSUInteger _mark;
}
- (void) drain;
@end

@interface NSArray<__covariant ObjectType> : NSObject {
    id *          _items;
    NSUInteger    _count;
    NSUInteger    _capacity;
    unsigned long _mutations;
}
+ (id) arrayWithObjects:(const ObjectType *) objects count:(NSUInteger) count; // @[...]
- (id) initWithObjects:(const ObjectType *) objects count:(NSUInteger) count;
- (NSUInteger) count;
- (ObjectType) objectAtIndex:(NSUInteger) index;
- (ObjectType) objectAtIndexedSubscript:(NSUInteger) index;
- (NSUInteger) countByEnumeratingWithState:(NSFastEnumerationState *) state objects:(id *) buffer count:(NSUInteger) capacity;
@end

@interface NSMutableArray<ObjectType> : NSArray<ObjectType>
- (void) addObject:(ObjectType) object;
- (void) removeObject:(ObjectType) object;
- (void) removeLastObject; // or nothing, when there is none
- (void) removeAllObjects;
@end

@interface NSDictionary<__covariant KeyType, __covariant ObjectType> : NSObject {
    struct object_table * _table;
}
+ (id) dictionary;
+ (id) dictionaryWithObjects:(const ObjectType *) objects forKeys:(const KeyType *) keys count:(NSUInteger) count; // @{...}
- (NSUInteger) count;
- (NSArray<KeyType> *) allKeys;
- (ObjectType) objectForKey:(KeyType) key;
- (ObjectType) objectForKeyedSubscript:(KeyType) key;
@end

@interface NSMutableDictionary<KeyType, ObjectType> : NSDictionary<KeyType, ObjectType>
- (void) setObject:(ObjectType) object forKey:(KeyType) key; // the key is copied
- (void) setObject:(ObjectType) object forKeyedSubscript:(KeyType) key;
@end

@interface NSSet<__covariant ObjectType> : NSObject {
    struct object_table * _table;
}
+ (id) set;
+ (id) setWithArray:(NSArray<ObjectType> *) array;
- (NSUInteger) count;
- (BOOL) containsObject:(ObjectType) object;
@end

@interface NSMutableSet<ObjectType> : NSSet<ObjectType>
- (void) addObject:(ObjectType) object;
@end

@interface NSError : NSObject
+ (id) errorWithDomain:(NSString *) domain code:(NSInteger) code userInfo:(NSDictionary<NSString *, id> *) info;
+ (id) errorWithText:(const char *) text; // ours; UTF-8
- (NSString *) domain;
- (NSInteger) code;
- (NSDictionary<NSString *, id> *) userInfo;
- (NSString *) localizedDescription; // description is the same
@end

extern NSString * const NSLocalizedDescriptionKey;

// Lengths and indexes are in bytes of UTF-8, which is what every caller here means. Literals, @"...", are ASCII.
@interface NSString : NSObject
+ (id) stringWithUTF8String:(const char *) text;
+ (id) stringWithCString:(const char *) text encoding:(NSStringEncoding) encoding;
+ (id) stringWithFormat:(NSString *) format, ... __attribute__((format(__NSString__, 1, 2)));
+ (id) stringWithContentsOfFile:(NSString *) path encoding:(NSStringEncoding) encoding error:(NSError **) error;
- (id) initWithBytes:(const void *) bytes length:(NSUInteger) length encoding:(NSStringEncoding) encoding;
- (const char *) UTF8String;
- (NSUInteger) length;
- (BOOL) containsString:(NSString *) part;
- (BOOL) isEqualToString:(NSString *) other;
- (NSString *) substringToIndex:(NSUInteger) index;
- (NSArray<NSString *> *) componentsSeparatedByString:(NSString *) separator;
- (NSString *) stringByTrimmingCharactersInSet:(NSCharacterSet *) set;
@end

@interface NSString (NSPathUtilities)
+ (NSString *) pathWithComponents:(NSArray<NSString *> *) components;
- (NSString *) stringByDeletingLastPathComponent;
- (NSString *) stringByAppendingPathComponent:(NSString *) component;
- (NSString *) stringByAppendingPathExtension:(NSString *) extension;
- (NSString *) stringByStandardizingPath; // by the text alone: follows no symbolic link, expands no ~
@end

@interface NSMutableString : NSString
- (void) appendString:(NSString *) string;
@end

@interface NSCharacterSet : NSObject
+ (NSCharacterSet *) whitespaceCharacterSet;
@end

@interface NSScanner : NSObject // ignores the case of ASCII letters, as Apple's does unless told not to
+ (id) scannerWithString:(NSString *) string;
- (NSCharacterSet *) charactersToBeSkipped;
- (void) setCharactersToBeSkipped:(NSCharacterSet *) set; // at first, whitespace
- (BOOL) scanString:(NSString *) string intoString:(NSString **) result;
- (BOOL) scanUpToString:(NSString *) string intoString:(NSString **) result;
@end

@interface NSNumber : NSObject // @(...)
+ (NSNumber *) numberWithBool:(BOOL) value;
+ (NSNumber *) numberWithInt:(int) value;
+ (NSNumber *) numberWithUnsignedInt:(unsigned) value;
+ (NSNumber *) numberWithLong:(long) value;
+ (NSNumber *) numberWithUnsignedLong:(unsigned long) value;
+ (NSNumber *) numberWithDouble:(double) value;
- (BOOL) boolValue;
- (int) intValue;
- (long) longValue;
- (unsigned long) unsignedLongValue;
- (double) doubleValue;
- (BOOL) isEqualToNumber:(NSNumber *) other;
@end

@interface NSLock : NSObject
- (void) lock;
- (void) unlock;
@end

@interface NSURL : NSObject
+ (id) fileURLWithPath:(NSString *) path;
- (NSString *) path;
@end

@interface NSFileManager : NSObject
+ (NSFileManager *) defaultManager;
- (BOOL) isReadableFileAtPath:(NSString *) path;
- (NSDictionary<NSString *, id> *) attributesOfItemAtPath:(NSString *) path error:(NSError **) error; // NSFileType, NSFileSize
- (NSString *) destinationOfSymbolicLinkAtPath:(NSString *) path error:(NSError **) error;
@end

extern NSString * const NSFileType;
extern NSString * const NSFileTypeRegular;
extern NSString * const NSFileTypeDirectory;
extern NSString * const NSFileTypeSymbolicLink;
extern NSString * const NSFileTypeUnknown; // everything else
extern NSString * const NSFileSize;

@interface NSProcessInfo : NSObject
+ (NSProcessInfo *) processInfo;
- (NSArray<NSString *> *) arguments;
- (NSDictionary<NSString *, NSString *> *) environment; // as it is now
@end

// A flat bundle: the folder of the shared object, or of the program, that the class is linked into.
@interface NSBundle : NSObject
+ (NSBundle *) bundleForClass:(Class) cls;
- (NSString *) bundlePath;
- (NSString *) pathForResource:(NSString *) name ofType:(NSString *) extension;
@end

#ifdef __cplusplus
}
#endif

#endif // __OBJC__
