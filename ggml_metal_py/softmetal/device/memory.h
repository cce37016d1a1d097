// Memory for buffers: zeroed pages with room behind them.
#pragma once

#include <stddef.h>

// Kernels read a little past the end of what they were given, as GPUs let them. That must not crash.
enum { SM_MEMORY_SLACK = 64 * 1024 };

// NULL when there is none.
void * sm_memory_map(size_t size);
void   sm_memory_unmap(void * memory, size_t size);
