// A hash table from objects to objects: what dictionaries and sets are made of. Keys are compared with isEqual:.
#pragma once

#import <Foundation/Foundation.h>

struct object_table {
    NSUInteger count;
    NSUInteger capacity; // of both arrays; a power of two, or 0
    id *       keys;     // nil where there is none
    id *       values;
};

struct object_table * object_table_new(void);
struct object_table * object_table_copy(const struct object_table * table);
void                  object_table_free(struct object_table * table);

// The value of a key, nil when there is none.
id object_table_get(const struct object_table * table, id key);
// Retains both; the key only when it is a new one.
void object_table_set(struct object_table * table, id key, id value);
