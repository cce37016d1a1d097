// An arena: memory that is taken piece by piece and given back at once. One per command buffer.
#pragma once

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block * blocks; // newest first
};

enum { ARENA_ALIGNMENT = 64 }; // a kernel may load any vector type from what setBytes left here

// Uninitialised memory; raises when there is none.
void * arena_allocate(struct arena * arena, size_t size);
void   arena_free(struct arena * arena);
