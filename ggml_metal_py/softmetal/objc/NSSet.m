// Sets: tables whose values are the keys.

#import <Foundation/Foundation.h>

#include "object_table.h"

@implementation NSSet

+ (id) set {
    return [[self new] autorelease];
}

+ (id) setWithArray:(NSArray *) array {
    NSSet * set = [self set];

    for (id object in array) {
        object_table_set(set->_table, object, object);
    }
    return set;
}

- (id) init {
    _table = object_table_new();
    return self;
}

- (void) dealloc {
    object_table_free(_table);
    [super dealloc];
}

- (NSUInteger) count {
    return _table->count;
}

- (BOOL) containsObject:(id) object {
    return object_table_get(_table, object) != nil;
}

@end

@implementation NSMutableSet

- (id) copy {
    NSSet * copy = [NSSet alloc];

    copy->_table = object_table_copy(_table);
    return copy;
}

- (void) addObject:(id) object {
    if (![self containsObject:object]) {
        object_table_set(_table, object, object);
    }
}

@end
