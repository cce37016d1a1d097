// Fills and copies, checked against the buffers' ends when they are recorded.

#include "blit_encoder.h"

@implementation SMBlitEncoder

// A range that begins within the buffer and ends beyond it is cut: ggml fills with NSMakeRange(offset, offset + size).
- (void) fillBuffer:(id<MTLBuffer>) buffer range:(NSRange) range value:(uint8_t) value {
    const NSUInteger length = [buffer length];

    if (!buffer || range.location > length) {
        [_buffer recordInvalid:"fillBuffer: offset %lu is beyond the buffer's %lu bytes", range.location, length];
        return;
    }
    struct fill_command * fill = [_buffer record:COMMAND_FILL size:sizeof *fill];
    if (!fill) {
        return;
    }
    const NSUInteger room = length - range.location;

    [_buffer keep:buffer];
    fill->memory = (char *) [buffer contents] + range.location;
    fill->size   = range.length < room ? range.length : room;
    fill->value  = value;
}

static BOOL is_within(id<MTLBuffer> buffer, NSUInteger offset, NSUInteger size) {
    return buffer && offset <= [buffer length] && size <= [buffer length] - offset;
}

- (void) copyFromBuffer:(id<MTLBuffer>) source
           sourceOffset:(NSUInteger) sourceOffset
               toBuffer:(id<MTLBuffer>) destination
      destinationOffset:(NSUInteger) destinationOffset
                   size:(NSUInteger) size {
    if (!is_within(source, sourceOffset, size) || !is_within(destination, destinationOffset, size)) {
        [_buffer recordInvalid:"copyFromBuffer: %lu bytes from offset %lu of a buffer of %lu to offset %lu of one of %lu", size,
                               sourceOffset, [source length], destinationOffset, [destination length]];
        return;
    }
    struct copy_command * copy = [_buffer record:COMMAND_COPY size:sizeof *copy];
    if (!copy) {
        return;
    }
    [_buffer keep:source];
    [_buffer keep:destination];
    copy->from = (char *) [source contents] + sourceOffset;
    copy->to   = (char *) [destination contents] + destinationOffset;
    copy->size = size;
}

@end
