// Arrays: NSArray holds the storage, NSMutableArray changes it.

#import <Foundation/Foundation.h>

#include "runtime.h"

@implementation NSArray

+ (id) arrayWithObjects:(const id *) objects count:(NSUInteger) count {
    return [[[self alloc] initWithObjects:objects count:count] autorelease];
}

- (id) initWithObjects:(const id *) objects count:(NSUInteger) count {
    _items    = objc_allocate((count + 1) * sizeof(id));
    _count    = count;
    _capacity = count + 1;
    for (NSUInteger i = 0; i < count; i++) {
        _items[i] = [objects[i] retain];
    }
    return self;
}

- (void) dealloc {
    for (NSUInteger i = 0; i < _count; i++) {
        [_items[i] release];
    }
    free(_items);
    [super dealloc];
}

- (NSUInteger) count {
    return _count;
}

- (id) objectAtIndex:(NSUInteger) index {
    if (index >= _count) {
        objc_raise("array index %lu is beyond the last of %lu objects", index, _count);
    }
    return _items[index];
}

- (id) objectAtIndexedSubscript:(NSUInteger) index {
    return [self objectAtIndex:index];
}

// All objects in one batch, straight from the storage.
- (NSUInteger) countByEnumeratingWithState:(NSFastEnumerationState *) state
                                   objects:(id *) buffer
                                     count:(NSUInteger) capacity {
    (void) buffer, (void) capacity;
    if (state->state) {
        return 0;
    }
    state->state        = 1;
    state->itemsPtr     = _items;
    state->mutationsPtr = &_mutations;
    return _count;
}

@end

@implementation NSMutableArray

- (id) copy {
    return [[NSArray alloc] initWithObjects:_items count:_count];
}

- (void) addObject:(id) object {
    if (_count == _capacity) {
        const NSUInteger capacity = _capacity ? 2 * _capacity : 8;
        id *             items    = realloc(_items, capacity * sizeof(id));

        if (!items) {
            objc_raise("out of memory for an array of %lu objects", capacity);
        }
        _items    = items;
        _capacity = capacity;
    }
    _items[_count++] = [object retain];
    _mutations++;
}

- (void) removeObject:(id) object {
    NSUInteger kept = 0;

    [object retain]; // it may live by this array alone
    for (NSUInteger i = 0; i < _count; i++) {
        if ([_items[i] isEqual:object]) {
            [_items[i] release];
        } else {
            _items[kept++] = _items[i];
        }
    }
    _count = kept;
    _mutations++;
    [object release];
}

- (void) removeLastObject {
    if (_count) {
        _mutations++;
        [_items[--_count] release];
    }
}

- (void) removeAllObjects {
    for (NSUInteger i = 0; i < _count; i++) {
        [_items[i] release];
    }
    _count = 0;
    _mutations++;
}

@end
