// Numbers: an integer or a double.

#import <Foundation/Foundation.h>

#include <limits.h>

@implementation NSNumber {
    enum { SIGNED, UNSIGNED, REAL } _kind;
    union {
        long          integer;
        unsigned long natural;
        double        real;
    } _value;
}

static NSNumber * signed_number(long value) {
    NSNumber * number = [[NSNumber new] autorelease];

    number->_kind          = SIGNED;
    number->_value.integer = value;
    return number;
}

+ (NSNumber *) numberWithBool:(BOOL) value {
    return signed_number(value != NO);
}

+ (NSNumber *) numberWithInt:(int) value {
    return signed_number(value);
}

+ (NSNumber *) numberWithUnsignedInt:(unsigned) value {
    return signed_number(value);
}

+ (NSNumber *) numberWithLong:(long) value {
    return signed_number(value);
}

+ (NSNumber *) numberWithUnsignedLong:(unsigned long) value {
    NSNumber * number = signed_number((long) value);

    number->_kind = value > LONG_MAX ? UNSIGNED : SIGNED;
    return number;
}

+ (NSNumber *) numberWithDouble:(double) value {
    NSNumber * number = [[self new] autorelease];

    number->_kind       = REAL;
    number->_value.real = value;
    return number;
}

- (BOOL) boolValue {
    return _kind == REAL ? _value.real != 0 : _value.integer != 0;
}

- (int) intValue {
    return (int) [self longValue];
}

- (long) longValue {
    return _kind == REAL ? (long) _value.real : _value.integer;
}

- (unsigned long) unsignedLongValue {
    return _kind == REAL ? (unsigned long) _value.real : _value.natural;
}

- (double) doubleValue {
    return _kind == REAL ? _value.real : _kind == SIGNED ? (double) _value.integer : (double) _value.natural;
}

- (BOOL) isEqualToNumber:(NSNumber *) other {
    if (!other || _kind == REAL || other->_kind == REAL) {
        return other && [self doubleValue] == [other doubleValue];
    }
    return _kind == other->_kind && _value.integer == other->_value.integer;
}

- (BOOL) isEqual:(id) other {
    return [other isKindOfClass:[NSNumber class]] && [self isEqualToNumber:other];
}

- (NSUInteger) hash {
    const double value = [self doubleValue]; // equal numbers of both kinds have one hash
    NSUInteger   hash  = 0;

    memcpy(&hash, &value, value == 0 ? 0 : sizeof value);
    return hash ^ hash >> 32;
}

- (NSString *) description {
    switch (_kind) {
        case SIGNED:
            return [NSString stringWithFormat:@"%ld", _value.integer];
        case UNSIGNED:
            return [NSString stringWithFormat:@"%lu", _value.natural];
        case REAL:
            break;
    }
    return [NSString stringWithFormat:@"%.17g", _value.real];
}

@end
