// Dictionaries: two parallel arrays, searched in order. They hold a few compile options, no more.

#import <Foundation/Foundation.h>

@implementation NSDictionary

+ (id) dictionary {
    return [[self new] autorelease];
}

- (id) init {
    _keys   = [NSMutableArray new];
    _values = [NSMutableArray new];
    return self;
}

- (void) dealloc {
    [_keys release];
    [_values release];
    [super dealloc];
}

- (NSUInteger) count {
    return [_keys count];
}

- (NSArray *) allKeys {
    return _keys;
}

- (id) objectForKey:(id) key {
    for (NSUInteger i = 0; i < [_keys count]; i++) {
        if ([[_keys objectAtIndex:i] isEqual:key]) {
            return [_values objectAtIndex:i];
        }
    }
    return nil;
}

@end

@implementation NSMutableDictionary

- (void) setObject:(id) object forKey:(id) key {
    for (NSUInteger i = 0; i < [_keys count]; i++) {
        if ([[_keys objectAtIndex:i] isEqual:key]) {
            [_values replaceObjectAtIndex:i withObject:object];
            return;
        }
    }
    [_keys addObject:key];
    [_values addObject:object];
}

@end
