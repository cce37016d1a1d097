// The Objective-C runtime and blocks.

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

static void block_variables_are_shared(void) {
    Counted *       object  = [Counted new];
    __block int     n       = 1;
    __block Counted * value = object; // not retained
    int (^add)(int)         = Block_copy(^(int more) { return n += more; });
    int (^read)(void)       = Block_copy(^{ return n + [value value]; });

    n = 5;
    CHECK(add(2) == 7 && n == 7 && read() == 8);
    Block_release(add);
    n++;
    CHECK(read() == 9);
    Block_release(read);
    CHECK(n == 8 && alive == 1);
    [object release];
    CHECK(alive == 0);
}

static int (^make_counter(void))(void) {
    __block int count = 0;

    return Block_copy(^{ return ++count; });
}

static void block_variables_outlive_their_scope(void) {
    int (^first)(void)  = make_counter();
    int (^second)(void) = Block_copy(first);

    CHECK(first() == 1 && second() == 2);
    Block_release(first);
    CHECK(second() == 3);
    Block_release(second);
}

static void blocks_keep_blocks_that_share_a_variable(void) {
    __block int  n          = 0;
    void (^count)(void)     = ^{ n++; };
    void (^twice)(void)     = Block_copy(^{ count(); count(); });

    twice();
    CHECK(n == 2);
    Block_release(twice);
    CHECK(n == 2);
}

static void raise_with_a_block_variable(void * value) {
    __block Counted * object = (Counted *) value;
    __block int       n      = 1;
    void (^use)(void)        = Block_copy(^{ n += [object value]; });

    use();
    Block_release(use);
    objc_raise("n is %d", n);
}

static void exceptions_pass_frames_with_block_variables(void) {
    Counted * object = [Counted new];
    char      text[64];

    CHECK(objc_try(raise_with_a_block_variable, object, text, sizeof text) == -1);
    CHECK_TEXT(text, "n is 2");
    [object release];
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
    RUN(block_variables_are_shared);
    RUN(block_variables_outlive_their_scope);
    RUN(blocks_keep_blocks_that_share_a_variable);
    RUN(exceptions_pass_frames_with_block_variables);
    return 0;
}
