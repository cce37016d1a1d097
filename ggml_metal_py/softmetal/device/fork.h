// Forked children: they have the parent's memory and none of its threads.
#pragma once

#include <stdbool.h>

// Which process this is: the number of forks between the first call and here. What uses threads remembers it.
unsigned sm_process(void);

// Whether something made in that process is used in a forked child of it, where its threads do not exist.
static inline bool sm_is_forked_from(unsigned process) {
    return sm_process() != process;
}
