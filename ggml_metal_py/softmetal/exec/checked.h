// Checked mode: what the device and a checked kernel library agree on, beside abi.h. README.md tells what is checked.
//
// The device knows which memory there is (regions.cpp) and keeps what was found (reports.cpp). The kernel library
// follows the accesses (checked/). One dispatch runs at a time, on one thread, so nothing here needs locks.
#pragma once

#include "abi.h"

#include <softmetal.h>

#ifdef __cplusplus
extern "C" {
#endif

// An access, packed: who made it last, and when. 0: nobody did.
//
// `when` is a clock that ticks when threads wait for each other and when a threadgroup begins. What happened before
// a tick that both sides waited for is ordered; all the questions about races are comparisons of clocks.
typedef uint64_t sm_stamp;

enum {
    SM_STAMP_SPOT_BITS = 18, // place in the kernel library's list of spots
    SM_STAMP_LANE_BITS = 10, // in the threadgroup
};

// What is known about 1 << shift bytes of memory.
struct sm_cell {
    sm_stamp written;    // the last write
    sm_stamp read;       // the last read since,
    sm_stamp read_other; // and the last one by another lane, of another simdgroup where there was one
};

enum sm_space {
    SM_SPACE_DEVICE      = 0,
    SM_SPACE_THREADGROUP = 1,
    SM_SPACE_CONSTANT    = 2, // setBytes' copies, tables of the kernel library: nobody may write them
};

// Memory that kernels may touch.
struct sm_region {
    uintptr_t        start;
    size_t           bytes;
    struct sm_cell * cells;    // bytes of them, of which the first bytes >> shift are used; NULL as long as not needed
    uint8_t          shift;    // grows smaller as smaller pieces are accessed
    uint8_t          space;    // enum sm_space
    uint8_t          written;  // every byte had a value before this dispatch, whatever the cells say
    uint8_t          followed; // this dispatch may write it, so that its reads matter, too
    uint8_t          changed;  // it has been written since `written` was found out
    char             name[SOFTMETAL_NAME_BYTES];
};

enum {
    SM_OWN_REGIONS = 64, // the first ones of the list are the kernel library's: threadgroup memory, tables
};

struct sm_checked {
    struct sm_region ** regions; // SM_OWN_REGIONS places, then by address; they do not overlap
    uint32_t            n_regions;
    uint64_t            clock;
    // Keeps a copy, unless the same was reported before.
    void (*report)(struct sm_checked *, const struct softmetal_report *);
    // Gives a region cells. False when out of memory: then it is not followed.
    bool (*follow)(struct sm_checked *, struct sm_region *);
};

#ifdef __cplusplus
}
#endif
