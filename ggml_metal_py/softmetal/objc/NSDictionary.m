// Dictionaries: NSDictionary holds the table, NSMutableDictionary changes it.

#import <Foundation/Foundation.h>

#include "object_table.h"

@implementation NSDictionary

+ (id) dictionary {
    return [[self new] autorelease];
}

+ (id) dictionaryWithObjects:(const id *) objects forKeys:(const id *) keys count:(NSUInteger) count {
    NSDictionary * dictionary = [self dictionary];

    for (NSUInteger i = 0; i < count; i++) {
        id key = [keys[i] copy];

        object_table_set(dictionary->_table, key, objects[i]);
        [key release];
    }
    return dictionary;
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

- (NSArray *) allKeys {
    NSMutableArray * keys = [[NSMutableArray new] autorelease];

    for (NSUInteger i = 0; i < _table->capacity; i++) {
        if (_table->keys[i]) {
            [keys addObject:_table->keys[i]];
        }
    }
    return keys;
}

- (id) objectForKey:(id) key {
    return object_table_get(_table, key);
}

- (id) objectForKeyedSubscript:(id) key {
    return object_table_get(_table, key);
}

@end

@implementation NSMutableDictionary

- (id) copy {
    NSDictionary * copy = [NSDictionary alloc];

    copy->_table = object_table_copy(_table);
    return copy;
}

- (void) setObject:(id) object forKey:(id) key {
    id kept = [key copy];

    object_table_set(_table, kept, object);
    [kept release];
}

- (void) setObject:(id) object forKeyedSubscript:(id) key {
    [self setObject:object forKey:key];
}

@end
