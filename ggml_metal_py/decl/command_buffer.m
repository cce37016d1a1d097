#include "command_buffer.h"

#import <Metal/Metal.h>

#include <stdio.h>

ggml_metal_cmd_buf_t gmpy_command_buffer_new(ggml_metal_device_t device) {
    id<MTLCommandQueue> queue = (id<MTLCommandQueue>) ggml_metal_device_get_queue(device);

    return [[queue commandBuffer] retain];
}

bool gmpy_command_buffer_run(ggml_metal_cmd_buf_t buffer, char * error, size_t size) {
    id<MTLCommandBuffer> command_buffer = (id<MTLCommandBuffer>) buffer;

    [command_buffer commit];
    [command_buffer waitUntilCompleted];
    if ([command_buffer status] == MTLCommandBufferStatusCompleted) {
        return true;
    }
    const char * text = [[[command_buffer error] localizedDescription] UTF8String];
    snprintf(error, size, "%s", text ? text : "the device gave no reason");
    return false;
}

void * gmpy_metal_buffer_contents(void * metal_buffer) {
    return [(id<MTLBuffer>) metal_buffer contents];
}

void gmpy_command_buffer_free(ggml_metal_cmd_buf_t buffer) {
    [(id<MTLCommandBuffer>) buffer release];
}
