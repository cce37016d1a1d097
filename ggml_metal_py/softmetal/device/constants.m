// Function constants: few of them per pipeline, kept in a list sorted by index.

#include "constants.h"
#include "runtime.h"

struct value {
    uint32_t    index;
    MTLDataType type;
    int64_t     bits; // the value's memory image
};

static size_t size_of(MTLDataType type) {
    switch (type) {
        case MTLDataTypeBool:
        case MTLDataTypeChar:
        case MTLDataTypeUChar:
            return 1;
        case MTLDataTypeShort:
        case MTLDataTypeUShort:
        case MTLDataTypeHalf:
            return 2;
        case MTLDataTypeInt:
        case MTLDataTypeUInt:
        case MTLDataTypeFloat:
            return 4;
        case MTLDataTypeLong:
        case MTLDataTypeULong:
            return 8;
        case MTLDataTypeNone:
            break;
    }
    return 0;
}

@implementation MTLFunctionConstantValues {
    struct value * _values;
    size_t         _count;
}

- (void) dealloc {
    free(_values);
    [super dealloc];
}

- (void) setConstantValue:(const void *) bytes type:(MTLDataType) type atIndex:(NSUInteger) index {
    const size_t size = size_of(type);
    if (size == 0 || index > UINT16_MAX) {
        objc_raise("function constant %lu cannot have the data type %lu", index, (unsigned long) type);
    }
    size_t at = 0;
    while (at < _count && _values[at].index < index) {
        at++;
    }
    if (at == _count || _values[at].index != index) {
        struct value * values = realloc(_values, (_count + 1) * sizeof *values);
        if (!values) {
            objc_raise("out of memory for %zu function constants", _count + 1);
        }
        memmove(values + at + 1, values + at, (_count - at) * sizeof *values);
        _values = values;
        _count++;
    }
    _values[at] = (struct value) { (uint32_t) index, type, 0 };
    memcpy(&_values[at].bits, bytes, size);
}

- (id) copyOfValues {
    MTLFunctionConstantValues * copy = [MTLFunctionConstantValues new];

    copy->_values = objc_allocate((_count + 1) * sizeof *_values);
    copy->_count  = _count;
    if (_count) {
        memcpy(copy->_values, _values, _count * sizeof *_values);
    }
    return copy;
}

- (BOOL) fill:(int64_t *) values set:(uint8_t *) is_set for:(const struct sm_kernels *) module error:(char *) text size:(size_t) size {
    for (uint32_t slot = 0, i = 0; slot < module->n_constants; slot++) {
        const struct sm_constant * declared = &module->constants[slot];

        while (i < _count && _values[i].index < declared->index) {
            i++;
        }
        values[slot] = 0;
        is_set[slot] = i < _count && _values[i].index == declared->index;
        if (!is_set[slot]) {
            continue;
        }
        if ((MTLDataType) declared->type != _values[i].type) {
            snprintf(text, size, "function constant %u, %s, was given data type %lu where it has %u", declared->index,
                     declared->name, (unsigned long) _values[i].type, declared->type);
            return NO;
        }
        values[slot] = _values[i].bits;
    }
    return YES;
}

- (NSString *) text {
    enum { LONGEST = 32 }; // of "index=value,"
    if (!_count) {
        return @"";
    }
    const size_t size   = 2 + _count * LONGEST + 1;
    char *       text   = objc_allocate(size);
    size_t       length = 0;

    for (size_t i = 0; i < _count; i++) {
        const struct value * value = &_values[i];
        const int64_t        bits  = value->bits;
        const long long      shown = value->type == MTLDataTypeShort ? (int16_t) bits
                                   : value->type == MTLDataTypeInt   ? (int32_t) bits
                                   : value->type == MTLDataTypeChar  ? (int8_t) bits
                                                                     : bits;

        length += (size_t) snprintf(text + length, size - length, "%c%u=%lld", i ? ',' : '{', value->index, shown);
    }
    snprintf(text + length, size - length, "}");
    NSString * string = [NSString stringWithUTF8String:text];

    free(text);
    return string;
}

@end
