// A place in the kernels' source that accesses memory or waits. msl/instrument.py writes them, all those of a
// kernel library in one list, and gives each access its own.
#pragma once

#include <softmetal.h>
#include <stdint.h>

namespace softmetal {

struct Spot {
    const char * text; // of the line; "" where unknown
    uint32_t     line;
    uint16_t     column;
    uint8_t      access; // enum softmetal_access
    uint8_t      align;  // that the type asks for
    uint32_t     bytes;  // of a barrier: its mem_flags, once a lane came to it
    uint32_t     region; // where the last access went: that is where the next one will go, nearly always
};

// The compiler may have made several of one.
inline bool is_same_place(const Spot & a, const Spot & b) {
    return a.line == b.line && a.column == b.column;
}

static_assert(sizeof(Spot) == 24, "msl/instrument.py counts on it");

// A table in the kernels' source: `constant float values[16] = {...}`.
struct Table {
    const void * start;
    uint64_t     bytes;
    const char * name;
};

// By the linker; none where the library has no such thing.
extern "C" {
extern Spot  __start_softmetal_spots[] __attribute__((weak, visibility("hidden")));
extern Spot  __stop_softmetal_spots[] __attribute__((weak, visibility("hidden")));
extern Table __start_softmetal_tables[] __attribute__((weak, visibility("hidden")));
extern Table __stop_softmetal_tables[] __attribute__((weak, visibility("hidden")));
}

} // namespace softmetal
