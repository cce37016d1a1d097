// Hash tables with open addressing, never more than half full. Nobody removes anything.

#include "object_table.h"
#include "runtime.h"

enum { SMALLEST = 8 };

struct object_table * object_table_new(void) {
    return objc_allocate(sizeof(struct object_table));
}

// The key's slot, or the free one where it belongs. The table has free slots.
static NSUInteger slot_of(const struct object_table * table, id key) {
    NSUInteger i = [key hash];

    i ^= i >> 17; // addresses serve as hashes and are multiples of 16
    i &= table->capacity - 1;
    while (table->keys[i] && table->keys[i] != key && ![table->keys[i] isEqual:key]) {
        i = (i + 1) & (table->capacity - 1);
    }
    return i;
}

static void grow(struct object_table * table) {
    const struct object_table old = *table;

    table->capacity = old.capacity ? 2 * old.capacity : SMALLEST;
    table->keys     = objc_allocate(table->capacity * sizeof(id));
    table->values   = objc_allocate(table->capacity * sizeof(id));
    for (NSUInteger i = 0; i < old.capacity; i++) {
        if (old.keys[i]) {
            const NSUInteger slot = slot_of(table, old.keys[i]);

            table->keys[slot]   = old.keys[i];
            table->values[slot] = old.values[i];
        }
    }
    free(old.keys);
    free(old.values);
}

id object_table_get(const struct object_table * table, id key) {
    return table->count && key ? table->values[slot_of(table, key)] : nil;
}

void object_table_set(struct object_table * table, id key, id value) {
    if (!key || !value) {
        objc_raise("a dictionary or set cannot hold nil");
    }
    if (2 * (table->count + 1) > table->capacity) {
        grow(table);
    }
    const NSUInteger slot     = slot_of(table, key);
    id               replaced = table->values[slot];

    if (!table->keys[slot]) {
        table->keys[slot] = [key retain];
        table->count++;
    }
    table->values[slot] = [value retain];
    [replaced release];
}

struct object_table * object_table_copy(const struct object_table * table) {
    struct object_table * copy = object_table_new();

    for (NSUInteger i = 0; i < table->capacity; i++) {
        if (table->keys[i]) {
            object_table_set(copy, table->keys[i], table->values[i]);
        }
    }
    return copy;
}

void object_table_free(struct object_table * table) {
    for (NSUInteger i = 0; i < table->capacity; i++) {
        [table->keys[i] release];
        [table->values[i] release];
    }
    free(table->keys);
    free(table->values);
    free(table);
}
