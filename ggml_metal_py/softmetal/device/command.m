// Running what was recorded.

#include "command.h"
#include "event.h"
#include "pipeline.h"
#include "profile.h"
#include "../exec/checks.h"
#include "../exec/pool.h"

#include <inttypes.h>
#include <softmetal.h>
#include <time.h>

// As long as hosts themselves wait for an event. A GPU's watchdog is less patient.
enum { LONGEST_EVENT_WAIT_MS = 60 * 1000 };

static uint64_t now_ns(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

// Whether what is bound is what the kernel declares.
static bool check_arguments(const struct dispatch_command * command, char * text, size_t size) {
    const struct sm_dispatch * dispatch = &command->dispatch;
    const struct sm_kernel *   kernel   = dispatch->kernel;
    const uint32_t             limit    = sm_profile()->threadgroup_bytes;
    uint64_t                   bytes    = kernel->static_tg_bytes;

    for (uint32_t i = 0; i < kernel->n_args; i++) {
        const struct sm_arg * arg = &kernel->args[i];

        if (arg->kind == SM_ARG_THREADGROUP) {
            bytes += dispatch->tg_bytes[arg->index];
        } else if (!command->buffers[arg->index]) {
            snprintf(text, size, "kernel %s: nothing is bound to its buffer argument %s at index %u", kernel->name, arg->name,
                     arg->index);
            return false;
        }
    }
    if (bytes > limit) {
        snprintf(text, size, "kernel %s: %" PRIu64 " bytes of threadgroup memory (%u of them its own) are more than the device's %u",
                 kernel->name, bytes, kernel->static_tg_bytes, limit);
        return false;
    }
    return true;
}

static bool run_dispatch(struct dispatch_command * command, char * text, size_t size) {
    struct sm_dispatch *            dispatch = &command->dispatch;
    char *                          error    = NULL;
    const bool                      checked  = softmetal_checked();
    const struct sm_pipeline_code * code     = [command->pipeline code:checked error:&error];

    if (!code) {
        snprintf(text, size, "%s", error);
        free(error);
        return false;
    }
    dispatch->kernel        = code->code.kernel;
    dispatch->constants     = code->constants;
    dispatch->constants_set = code->constants_set;
    if (!check_arguments(command, text, size)) {
        return false;
    }
    const uint64_t start = now_ns();
    char           what[256];
    if (checked && !sm_checks_begin(dispatch, sm_pipeline_stats_name([command->pipeline stats]))) {
        snprintf(text, size, "kernel %s: out of memory for checked mode", dispatch->kernel->name);
        return false;
    }
    const bool ran = sm_pool_run(code->code.module, dispatch, what, sizeof what);
    if (checked) {
        sm_checks_end(dispatch);
    }
    if (!ran) {
        snprintf(text, size, "kernel %s: %s", dispatch->kernel->name, what);
        return false;
    }
    const uint64_t threadgroups = (uint64_t) dispatch->grid[0] * dispatch->grid[1] * dispatch->grid[2];

    sm_stats_add_dispatch([command->pipeline stats], threadgroups, now_ns() - start);
    return true;
}

static bool run_wait(const struct event_command * command, char * text, size_t size) {
    if ([command->event waitUntilSignaledValue:command->value timeoutMS:LONGEST_EVENT_WAIT_MS]) {
        return true;
    }
    snprintf(text, size, "waited %d s for an event's value %" PRIu64 ", it is at %" PRIu64, LONGEST_EVENT_WAIT_MS / 1000,
             command->value, [command->event signaledValue]);
    return false;
}

static void note_written(const void * memory, size_t size) {
    if (softmetal_checked()) {
        sm_checks_written(memory, size);
    }
}

bool sm_command_run(struct command * command, char * text, size_t size) {
    switch (command->kind) {
        case COMMAND_DISPATCH:
            return run_dispatch((struct dispatch_command *) command, text, size);
        case COMMAND_FILL: {
            const struct fill_command * fill = (struct fill_command *) command;

            memset(fill->memory, fill->value, fill->size);
            note_written(fill->memory, fill->size);
            return true;
        }
        case COMMAND_COPY: {
            const struct copy_command * copy = (struct copy_command *) command;

            memmove(copy->to, copy->from, copy->size);
            note_written(copy->to, copy->size);
            return true;
        }
        case COMMAND_SIGNAL: {
            const struct event_command * signal = (struct event_command *) command;

            [signal->event setSignaledValue:signal->value];
            return true;
        }
        case COMMAND_WAIT:
            return run_wait((struct event_command *) command, text, size);
        case COMMAND_INVALID:
            snprintf(text, size, "%s", ((struct invalid_command *) command)->text);
            return false;
    }
    return true;
}
