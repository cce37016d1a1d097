// What a command buffer records: plain structures in its arena, in the order they run.
//
// They hold objects without retaining them; the command buffer does that (or does not, when it was made with
// unretained references).
#pragma once

#include "../exec/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

@class SMBuffer, SMEvent, SMPipeline;

enum command_kind {
    COMMAND_DISPATCH,
    COMMAND_FILL,
    COMMAND_COPY,
    COMMAND_SIGNAL,
    COMMAND_WAIT,
    COMMAND_INVALID, // something that could not be recorded: fails when its turn comes
};

struct command {
    struct command *  next;
    enum command_kind kind;
};

struct dispatch_command {
    struct command     command;
    SMPipeline *       pipeline;
    struct sm_dispatch dispatch; // kernel and constants are filled in when it runs
    void *             buffers[SM_MAX_BUFFERS];
    size_t             buffer_bytes[SM_MAX_BUFFERS];
};

struct fill_command {
    struct command command;
    void *         memory;
    size_t         size;
    uint8_t        value;
};

struct copy_command {
    struct command command;
    void *         to;
    const void *   from;
    size_t         size;
};

struct event_command { // signal and wait
    struct command command;
    SMEvent *      event;
    uint64_t       value;
};

struct invalid_command {
    struct command command;
    char           text[];
};

// Runs a command to its end. False, with a text, when it failed. Never raises.
bool sm_command_run(struct command * command, char * text, size_t size);
