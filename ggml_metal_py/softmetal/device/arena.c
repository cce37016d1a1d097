// Blocks that grow, each used from its start to its end.

#include "arena.h"
#include "runtime.h"

#include <stdalign.h>
#include <stdlib.h>

enum {
    FIRST_BLOCK = 32 * 1024, // some 20 dispatches
    LAST_BLOCK  = 1024 * 1024,
    SLACK       = 256, // behind each piece of the block's end: kernels read a little past their arguments
};

struct arena_block {
    struct arena_block *           next;
    size_t                         size;
    size_t                         used;
    alignas(ARENA_ALIGNMENT) char  bytes[];
};

static size_t round_up(size_t size) {
    return (size + ARENA_ALIGNMENT - 1) & ~(size_t) (ARENA_ALIGNMENT - 1);
}

static struct arena_block * new_block(size_t size) {
    struct arena_block * block;

    if (posix_memalign((void **) &block, ARENA_ALIGNMENT, sizeof *block + size + SLACK) != 0) {
        objc_raise("out of memory for recording commands");
    }
    block->size = size;
    block->used = 0;
    return block;
}

void * arena_allocate(struct arena * arena, size_t size) {
    struct arena_block * block = arena->blocks;

    size = round_up(size);
    if (!block || block->size - block->used < size) {
        size_t grown = block ? 2 * block->size : FIRST_BLOCK;
        if (grown > LAST_BLOCK) {
            grown = LAST_BLOCK;
        }
        block         = new_block(grown > size ? grown : size);
        block->next   = arena->blocks;
        arena->blocks = block;
    }
    void * memory = block->bytes + block->used;
    block->used += size;
    return memory;
}

void arena_free(struct arena * arena) {
    while (arena->blocks) {
        struct arena_block * block = arena->blocks;

        arena->blocks = block->next;
        free(block);
    }
}
