// Command buffers of a device's queue, which upstream's encoders write into and upstream makes only for graphs.
//
// One lives from `new` to `free`; it is never enqueued before it runs, so one that does not run leaves nothing
// behind in the queue. The same code serves Apple's Metal and softmetal. Knows nothing of Python.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ggml-metal-device.h"

#ifdef __cplusplus
extern "C" {
#endif

// NULL when the device's queue gives none. It keeps the objects alive that are encoded into it.
ggml_metal_cmd_buf_t gmpy_command_buffer_new(ggml_metal_device_t device);

// Commits it and waits until it is done, once; its encoders have ended. In one call, because whoever has committed
// must wait before it lets go of any memory. False when the device failed; `error` is then its text, cut to `size`.
bool gmpy_command_buffer_run(ggml_metal_cmd_buf_t buffer, char * error, size_t size);

void gmpy_command_buffer_free(ggml_metal_cmd_buf_t buffer);

// Where the memory of an MTLBuffer (ggml_metal_buffer_id.metal) begins; NULL where the CPU cannot see it.
void * gmpy_metal_buffer_contents(void * metal_buffer);

#ifdef __cplusplus
}
#endif
