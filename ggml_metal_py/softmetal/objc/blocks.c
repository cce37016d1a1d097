// Blocks: closures that clang lays out on the stack, copied to the heap when they must outlive it.
// https://clang.llvm.org/docs/Block-ABI-Apple.html

#include "runtime.h"

#include <Block.h>
#include <stdlib.h>
#include <string.h>

enum { // flags of a block
    REFERENCE_ONE  = 2,       // the count is in bits 1 to 15
    REFERENCE_MASK = 0xfffe,
    NEEDS_FREE     = 1 << 24, // on the heap
    HAS_HELPERS    = 1 << 25, // captures something that must be copied and disposed of
    IS_GLOBAL      = 1 << 28, // captures nothing
};

enum { // kinds of captured things
    FIELD_IS_OBJECT = 3,
    FIELD_IS_BLOCK  = 7,
    FIELD_IS_BYREF  = 8,   // a __block variable
    BYREF_CALLER    = 128, // the helper of a __block variable itself
};

struct descriptor {
    unsigned long reserved;
    unsigned long size;
    void (*copy)(void * to, const void * from);
    void (*dispose)(const void * block);
};

struct block {
    void *                    isa;
    int                       flags;
    int                       reserved;
    void (*invoke)(void);
    const struct descriptor * descriptor;
};

struct byref { // a __block variable; its value follows
    void *         isa;
    struct byref * forwarding; // where the variable is now
    int            flags;
    uint32_t       size;
    void (*copy)(void * to, void * from); // these two only with HAS_HELPERS
    void (*dispose)(void * byref);
};

#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN void * _NSConcreteStackBlock[32];
HIDDEN void * _NSConcreteGlobalBlock[32];
HIDDEN void * _NSConcreteMallocBlock[32];

void * _Block_copy(const void * argument) {
    struct block * block = (struct block *) argument;

    if (!block || block->flags & IS_GLOBAL) {
        return block;
    }
    if (block->flags & NEEDS_FREE) {
        __atomic_fetch_add(&block->flags, REFERENCE_ONE, __ATOMIC_RELAXED);
        return block;
    }
    struct block * copy = objc_allocate(block->descriptor->size);

    memcpy(copy, block, block->descriptor->size);
    copy->isa   = _NSConcreteMallocBlock;
    copy->flags = (block->flags & ~REFERENCE_MASK) | NEEDS_FREE | REFERENCE_ONE;
    if (copy->flags & HAS_HELPERS) {
        copy->descriptor->copy(copy, block);
    }
    return copy;
}

void _Block_release(const void * argument) {
    struct block * block = (struct block *) argument;

    if (!block || !(block->flags & NEEDS_FREE)) {
        return;
    }
    if ((__atomic_sub_fetch(&block->flags, REFERENCE_ONE, __ATOMIC_ACQ_REL) & REFERENCE_MASK) == 0) {
        if (block->flags & HAS_HELPERS) {
            block->descriptor->dispose(block);
        }
        free(block);
    }
}

// ---- __block variables: moved to the heap with the first block that captures them

// The copy on the heap that all share, with one reference more.
static struct byref * byref_copy(struct byref * argument) {
    struct byref * byref = argument->forwarding;

    if (byref->flags & NEEDS_FREE) {
        __atomic_fetch_add(&byref->flags, REFERENCE_ONE, __ATOMIC_RELAXED);
        return byref;
    }
    struct byref * copy = objc_allocate(byref->size);

    memcpy(copy, byref, byref->size);
    // One reference for the block that is copied, one for the scope that declares the variable.
    copy->flags       = (byref->flags & ~REFERENCE_MASK) | NEEDS_FREE | 2 * REFERENCE_ONE;
    copy->forwarding  = copy;
    byref->forwarding = copy;
    if (copy->flags & HAS_HELPERS) {
        copy->copy(copy, byref);
    }
    return copy;
}

static void byref_release(struct byref * argument) {
    struct byref * byref = argument->forwarding;

    if (!(byref->flags & NEEDS_FREE)) {
        return; // it never left the stack
    }
    if ((__atomic_sub_fetch(&byref->flags, REFERENCE_ONE, __ATOMIC_ACQ_REL) & REFERENCE_MASK) == 0) {
        if (byref->flags & HAS_HELPERS) {
            byref->dispose(byref);
        }
        free(byref);
    }
}

// What the helpers that clang emits call for each captured field.
HIDDEN void _Block_object_assign(void * field, const void * object, int kind) {
    if (!(kind & BYREF_CALLER)) {
        switch (kind & 0xf) {
            case FIELD_IS_OBJECT:
                objc_retain_object(object);
                break;
            case FIELD_IS_BLOCK:
                object = _Block_copy(object);
                break;
            case FIELD_IS_BYREF:
                object = byref_copy((void *) object);
                break;
            default:
                break;
        }
    }
    *(const void **) field = object;
}

HIDDEN void _Block_object_dispose(const void * object, int kind) {
    if (kind & BYREF_CALLER) {
        return;
    }
    switch (kind & 0xf) {
        case FIELD_IS_OBJECT:
            objc_release_object(object);
            break;
        case FIELD_IS_BLOCK:
            _Block_release(object);
            break;
        case FIELD_IS_BYREF:
            byref_release((void *) object);
            break;
        default:
            break;
    }
}
