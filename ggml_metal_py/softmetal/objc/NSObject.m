// The root class: reference counting, identity, and what every object answers.

#import <Foundation/Foundation.h>

#include "autorelease.h"
#include "runtime.h"

@implementation NSObject

+ (id) alloc {
    NSObject * object = objc_allocate(objc_class_instance_size(self));

    object->_class      = self;
    object->_references = 1;
    return object;
}

+ (id) new {
    return [[self alloc] init];
}

+ (Class) class {
    return self;
}

- (id) init {
    return self;
}

- (id) copy {
    return [self retain];
}

- (void) dealloc {
    free(self);
}

- (id) retain {
    __atomic_fetch_add(&_references, 1, __ATOMIC_RELAXED);
    return self;
}

- (oneway void) release {
    if (__atomic_sub_fetch(&_references, 1, __ATOMIC_ACQ_REL) == 0) {
        [self dealloc];
    }
}

- (id) autorelease {
    autorelease_add(self);
    return self;
}

- (NSUInteger) retainCount {
    return (NSUInteger) __atomic_load_n(&_references, __ATOMIC_RELAXED);
}

- (Class) class {
    return _class;
}

- (BOOL) isKindOfClass:(Class) cls {
    for (Class c = _class; c; c = objc_class_superclass(c)) {
        if (c == cls) {
            return YES;
        }
    }
    return NO;
}

- (BOOL) respondsToSelector:(SEL) selector {
    return objc_find_method(_class, selector) != NULL;
}

- (BOOL) isEqual:(id) other {
    return self == other;
}

- (NSUInteger) hash {
    return (NSUInteger) self;
}

- (NSString *) description {
    return [NSString stringWithUTF8String:objc_class_name(_class)];
}

@end

void objc_retain_object(const void * object) {
    [(id) object retain];
}

void objc_release_object(const void * object) {
    [(id) object release];
}
