// The Objective-C runtime, blocks and the Foundation classes.

#import <Foundation/Foundation.h>
#include <Block.h>

#include "raise.h"
#include "runtime.h"
#include "testing.h"

#include <softmetal.h>

@interface Counted : NSObject {
    int _value;
}
- (int) value;
- (double) a:(double) a b:(int) b c:(float) c d:(long) d e:(double) e f:(int) f g:(int) g h:(int) h i:(double) i;
- (int) sumOf:(int) n, ...;
- (NSRange) range;
@end

static int alive;

@implementation Counted

- (id) init {
    alive++;
    _value = 1;
    return self;
}

- (void) dealloc {
    alive--;
    [super dealloc];
}

- (int) value {
    return _value;
}

- (double) a:(double) a b:(int) b c:(float) c d:(long) d e:(double) e f:(int) f g:(int) g h:(int) h i:(double) i {
    return a + 2 * b + 3 * (double) c + 4 * (double) d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

- (int) sumOf:(int) n, ... {
    int     sum = 0;
    va_list arguments;
    va_start(arguments, n);
    for (int i = 0; i < n; i++) {
        sum += (int) va_arg(arguments, double);
    }
    va_end(arguments);
    return sum;
}

- (NSRange) range {
    return NSMakeRange(3, 4);
}

@end

@interface Derived : Counted
@end

@implementation Derived

- (int) value {
    return 10 + [super value];
}

@end

@interface NSString (Testing)
- (NSUInteger) twiceTheLength;
@end

@implementation NSString (Testing)

- (NSUInteger) twiceTheLength {
    return 2 * [self length];
}

@end

@interface NSObject (NotImplemented)
- (void) thatNobodyImplements;
@end

static void messages_pass_all_arguments(void) {
    Counted * object = [Counted new];

    // Twice: the second time, a method that was not in its first slot still has to be found.
    for (int i = 0; i < 2; i++) {
        CHECK([object a:1 b:2 c:3 d:4 e:5 f:6 g:7 h:8 i:9] == 285);
        CHECK(([object sumOf:3, 1.0, 2.0, 3.0] == 6));
        CHECK([object range].location == 3 && [object range].length == 4);
    }
    [object release];
}

static void subclasses_override_and_call_super(void) {
    Derived * object = [Derived new];

    CHECK([object value] == 11);
    CHECK([object isKindOfClass:[Counted class]] && ![object isKindOfClass:[NSString class]]);
    CHECK([object respondsToSelector:@selector(value)] && ![object respondsToSelector:@selector(thatNobodyImplements)]);
    [object release];
    CHECK(alive == 0);
}

static void messages_to_nil_answer_zero(void) {
    Counted * none = nil;

    CHECK([none value] == 0);
    CHECK([none range].location == 0 && [none range].length == 0);
    CHECK([none a:1 b:2 c:3 d:4 e:5 f:6 g:7 h:8 i:9] == 0);
}

static void categories_reach_subclasses(void) {
    CHECK([@"abc" twiceTheLength] == 6);
    CHECK([[NSString stringWithUTF8String:"abcd"] twiceTheLength] == 8);
}

static void send_unknown(void * object) {
    [(id) object thatNobodyImplements];
}

static void unknown_selectors_raise(void) {
    Counted * object = [Counted new];
    char      text[256];

    CHECK(objc_try(send_unknown, object, text, sizeof text) == -1);
    CHECK_TEXT(text, "Counted does not respond to the selector thatNobodyImplements");
    [object release];
}

static void missing_selectors_are_listed(void) {
    char text[256];

    CHECK(softmetal_missing_selectors(text, sizeof text) == 1);
    CHECK(strcmp(text, "thatNobodyImplements\n") == 0);
}

static void pools_release_at_their_end(void) {
    @autoreleasepool {
        [[Counted new] autorelease];
        @autoreleasepool {
            [[Counted new] autorelease];
            CHECK(alive == 2);
        }
        CHECK(alive == 1);
    }
    CHECK(alive == 0);
}

static void raise_in_pools(void * unused) {
    (void) unused;
    @autoreleasepool {
        [[Counted new] autorelease];
        @autoreleasepool {
            [[Counted new] autorelease];
            objc_raise("on purpose");
        }
    }
}

static void an_outer_pool_takes_what_an_exception_left(void) {
    char   text[64];
    void * pool = softmetal_autorelease_push();

    [[Counted new] autorelease];
    CHECK(objc_try(raise_in_pools, NULL, text, sizeof text) == -1);
    CHECK(alive == 3);
    softmetal_autorelease_pop(pool);
    CHECK(alive == 0);
}

static void many_objects_fit_a_pool(void) {
    @autoreleasepool {
        for (int i = 0; i < 1000; i++) {
            [[Counted new] autorelease];
        }
        CHECK(alive == 1000);
    }
    CHECK(alive == 0);
}

static void blocks_keep_what_they_capture(void) {
    Counted *   object = [Counted new];
    int         n      = 5;
    int (^inner)(void) = ^{ return n; };
    int (^outer)(void) = Block_copy(^{ return [object value] + inner(); });

    [object release];
    CHECK(alive == 1);
    CHECK(outer() == 6);
    int (^again)(void) = Block_copy(outer);
    Block_release(outer);
    CHECK(again() == 6);
    Block_release(again);
    CHECK(alive == 0);
}

static void strings_compare_and_format(void) {
    @autoreleasepool {
        NSString * made = [NSString stringWithFormat:@"%s-%d-%.1f", "a", 7, 2.5];

        CHECK(strcmp([made UTF8String], "a-7-2.5") == 0);
        CHECK([made isEqual:@"a-7-2.5"] && [made hash] == [@"a-7-2.5" hash] && ![made isEqual:@"a"]);
        CHECK([made containsString:@"7-2"] && ![made containsString:@"8"]);
        NSString * part = [[NSString alloc] initWithBytes:"hello" length:2 encoding:NSUTF8StringEncoding];
        CHECK([part length] == 2 && [part isEqualToString:@"he"]);
        [part release];
        CHECK([[NSString alloc] initWithBytes:"x" length:1 encoding:1] == nil);
    }
}

static void read_beyond(void * array) {
    [(NSArray *) array objectAtIndex:1];
}

static void arrays_retain_and_enumerate(void) {
    NSMutableArray * array = [NSMutableArray new];
    Counted *        first = [Counted new];
    char             text[128];

    [array addObject:first];
    [first release];
    CHECK(array.count == 1 && array[0] == first);
    CHECK(objc_try(read_beyond, array, text, sizeof text) == -1);
    CHECK_TEXT(text, "array index 1");
    for (int i = 0; i < 20; i++) {
        Counted * next = [Counted new];
        [array addObject:next];
        [next release];
    }
    int seen = 0;
    for (Counted * object in array) {
        seen += [object value];
    }
    CHECK(seen == 21);
    [array removeObject:first];
    CHECK(array.count == 20 && alive == 20);
    [array removeAllObjects];
    CHECK(array.count == 0 && alive == 0);
    [array release];
}

static void dictionaries_replace_values(void) {
    @autoreleasepool {
        NSMutableDictionary * dictionary = [NSMutableDictionary dictionary];

        [dictionary setObject:@"1" forKey:@"one"];
        [dictionary setObject:@"2" forKey:[NSString stringWithUTF8String:"one"]];
        CHECK([dictionary count] == 1 && [[dictionary objectForKey:@"one"] isEqual:@"2"]);
        CHECK([dictionary objectForKey:@"two"] == nil);
    }
}

int main(void) {
    RUN(messages_pass_all_arguments);
    RUN(subclasses_override_and_call_super);
    RUN(messages_to_nil_answer_zero);
    RUN(categories_reach_subclasses);
    RUN(unknown_selectors_raise);
    RUN(missing_selectors_are_listed);
    RUN(pools_release_at_their_end);
    RUN(an_outer_pool_takes_what_an_exception_left);
    RUN(many_objects_fit_a_pool);
    RUN(blocks_keep_what_they_capture);
    RUN(strings_compare_and_format);
    RUN(arrays_retain_and_enumerate);
    RUN(dictionaries_replace_values);
    return 0;
}
