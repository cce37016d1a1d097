// The Foundation classes.

#import <Foundation/Foundation.h>

#include "raise.h"
#include "runtime.h"
#include "testing.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

static int alive;

@interface Counted : NSObject
@end

@implementation Counted

- (id) init {
    alive++;
    return self;
}

- (void) dealloc {
    alive--;
    [super dealloc];
}

@end

static bool is(NSString * text, const char * expected) {
    return text && strcmp([text UTF8String], expected) == 0;
}

static void call(void * block) {
    ((void (^)(void)) block)();
}

static bool raises(void (^block)(void), const char * part) {
    char text[256];

    if (objc_try(call, (void *) block, text, sizeof text) == 0) {
        return false;
    }
    CHECK_TEXT(text, part);
    return true;
}

// ---- strings

static void strings_compare_and_format(void) {
    NSString * made = [NSString stringWithFormat:@"%s-%d-%.1f", "a", 7, 2.5];

    CHECK(is(made, "a-7-2.5"));
    CHECK([made isEqual:@"a-7-2.5"] && [made hash] == [@"a-7-2.5" hash] && ![made isEqual:@"a"]);
    CHECK([made containsString:@"7-2"] && ![made containsString:@"8"]);
    NSString * part = [[NSString alloc] initWithBytes:"hello" length:2 encoding:NSUTF8StringEncoding];
    CHECK([part length] == 2 && [part isEqualToString:@"he"]);
    [part release];
    CHECK([[NSString alloc] initWithBytes:"x" length:1 encoding:1] == nil);
}

static void formats_know_every_conversion_of_c_and_objects(void) {
    CHECK(is(([NSString stringWithFormat:@"%@ and %@, %d%%", @"one", @(2), 3]), "one and 2, 3%"));
    CHECK(is(([NSString stringWithFormat:@"%@", (id) nil]), "(null)"));
    CHECK(is(([NSString stringWithFormat:@"%ld %lu %lld %zu %hhd %c", -1L, ULONG_MAX, LLONG_MIN, sizeof(int), (char) 7, 'x']),
             "-1 18446744073709551615 -9223372036854775808 4 7 x"));
    CHECK(is(([NSString stringWithFormat:@"[%-6s|%*d|%.*f|%08.3f|%#x]", "ab", 5, 42, 2, 1.0 / 3, 3.14159, 255]),
             "[ab    |   42|0.33|0003.142|0xff]"));
    // More than the registers of either architecture pass.
    CHECK(is(([NSString stringWithFormat:@"%d %g %d %g %d %g %d %g %d %g %d %g %d %g %d %g %d %g %@", 1, 1.5, 2, 2.5, 3, 3.5, 4,
                                         4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, @"end"]),
             "1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6 6.5 7 7.5 8 8.5 9 9.5 end"));
}

static void literals_with_other_characters_than_ascii_are_refused(void) {
    CHECK(raises(^{ [@"\u00e4" UTF8String]; }, "other characters than ASCII"));
}

static void strings_are_cut_and_split(void) {
    NSArray * parts = [@"a--b----c" componentsSeparatedByString:@"--"];

    CHECK([parts count] == 4 && is(parts[0], "a") && is(parts[1], "b") && is(parts[2], "") && is(parts[3], "c"));
    CHECK([[@"" componentsSeparatedByString:@","] count] == 1);
    CHECK([[@"abc" componentsSeparatedByString:@""] count] == 1);
    CHECK(is([@"hello" substringToIndex:2], "he") && is([@"hello" substringToIndex:5], "hello"));
    CHECK(raises(^{ [@"hello" substringToIndex:6]; }, "string index 6 is beyond"));
}

static void trimming_removes_white_space_at_both_ends(void) {
    NSCharacterSet * whitespace = [NSCharacterSet whitespaceCharacterSet];

    NSString * spaced = [NSString stringWithUTF8String:" \t\u2003a b\u00a0 \u3000"];
    CHECK(is([spaced stringByTrimmingCharactersInSet:whitespace], "a b"));
    CHECK(is([@" \t " stringByTrimmingCharactersInSet:whitespace], ""));
    CHECK(is([@"\na\n" stringByTrimmingCharactersInSet:whitespace], "\na\n"));
}

static void mutable_strings_grow_and_their_copies_do_not(void) {
    NSMutableString * string = [[NSMutableString alloc] init];

    CHECK([string length] == 0 && is(string, ""));
    for (int i = 0; i < 100; i++) {
        [string appendString:@"0123456789"];
    }
    NSString * copy = [string copy];
    [string appendString:string];
    CHECK([string length] == 2000 && strlen([string UTF8String]) == 2000 && [copy length] == 1000);
    CHECK(![copy isKindOfClass:[NSMutableString class]] && [copy isEqual:[string substringToIndex:1000]]);
    CHECK(is([NSMutableString stringWithFormat:@"%d", 7], "7"));
    CHECK(raises(^{ [string appendString:nil]; }, "nil cannot be appended"));
    [copy release];
    [string release];
}

static void paths_are_taken_apart_and_put_together(void) {
    CHECK(is([@"/a/b" stringByDeletingLastPathComponent], "/a") && is([@"/a//b/" stringByDeletingLastPathComponent], "/a"));
    CHECK(is([@"/a" stringByDeletingLastPathComponent], "/") && is([@"/" stringByDeletingLastPathComponent], "/"));
    CHECK(is([@"a" stringByDeletingLastPathComponent], "") && is([@"a/b" stringByDeletingLastPathComponent], "a"));
    CHECK(is([@"/a/" stringByAppendingPathComponent:@"b/c"], "/a/b/c") && is([@"" stringByAppendingPathComponent:@"b"], "b"));
    CHECK(is([@"/" stringByAppendingPathComponent:@"b"], "/b") && is([@"a" stringByAppendingPathComponent:@"/b"], "a/b"));
    CHECK(is([@"a/b" stringByAppendingPathExtension:@"metal"], "a/b.metal"));
    CHECK(is([NSString pathWithComponents:@[@"/", @"a", @"b.c"]], "/a/b.c") && is([NSString pathWithComponents:@[]], ""));
    CHECK(is([@"/a/./b//../c/" stringByStandardizingPath], "/a/c") && is([@"/../a" stringByStandardizingPath], "/a"));
    CHECK(is([@"../a/./b" stringByStandardizingPath], "../a/b") && is([@"/" stringByStandardizingPath], "/"));
}

static void scanners_take_a_line_apart(void) {
    NSScanner * scanner = [NSScanner scannerWithString:@"  # Include  \"a name.h\" // rest"];
    NSString *  name    = nil;
    NSString *  taken   = nil;

    CHECK([scanner scanString:@"#" intoString:NULL] && ![scanner scanString:@"if" intoString:NULL]);
    CHECK([scanner scanString:@"include" intoString:&taken] && is(taken, "Include"));
    CHECK([scanner scanString:@"\"" intoString:NULL]);
    CHECK([scanner scanUpToString:@"\"" intoString:&name] && is(name, "a name.h"));
    CHECK(![scanner scanUpToString:@"\"" intoString:&name]); // it is there already
    CHECK([scanner scanUpToString:@"not there" intoString:&name] && is(name, "\" // rest"));
    CHECK(![scanner scanUpToString:@"x" intoString:&name] && ![scanner scanString:@"x" intoString:NULL]);
    scanner                     = [NSScanner scannerWithString:@" a"];
    scanner.charactersToBeSkipped = nil;
    CHECK(![scanner scanString:@"a" intoString:NULL] && [scanner scanString:@" A" intoString:NULL]);
}

// ---- containers

static void arrays_retain_and_enumerate(void) {
    NSMutableArray * array = [NSMutableArray new];
    Counted *        first = [Counted new];

    [array addObject:first];
    [first release];
    CHECK(array.count == 1 && array[0] == first);
    CHECK(raises(^{ [array objectAtIndex:1]; }, "array index 1"));
    for (int i = 0; i < 20; i++) {
        Counted * next = [Counted new];
        [array addObject:next];
        [next release];
    }
    int seen = 0;
    for (Counted * object in array) {
        seen += [object isKindOfClass:[Counted class]];
    }
    CHECK(seen == 21);
    [array removeObject:first];
    CHECK(array.count == 20 && alive == 20);
    NSArray * copy = [array copy];
    [array removeLastObject];
    CHECK(array.count == 19 && copy.count == 20 && alive == 20);
    [copy release];
    [array removeAllObjects];
    [array removeLastObject];
    CHECK(array.count == 0 && alive == 0);
    [array release];
}

static void literals_make_containers(void) {
    NSArray *      array      = @[@"a", @(1), @"c"];
    NSDictionary * dictionary = @{@"one": @(1), @"two": @"2", @(3): @"three"};

    CHECK([array count] == 3 && is(array[2], "c"));
    CHECK([dictionary count] == 3 && [dictionary[@"one"] intValue] == 1 && is(dictionary[@(3)], "three"));
    CHECK(!dictionary[@"three"] && [@{} count] == 0 && [@[] count] == 0);
}

static void dictionaries_replace_values(void) {
    NSMutableDictionary * dictionary = [NSMutableDictionary dictionary];

    [dictionary setObject:@"1" forKey:@"one"];
    [dictionary setObject:@"2" forKey:[NSString stringWithUTF8String:"one"]];
    CHECK([dictionary count] == 1 && [[dictionary objectForKey:@"one"] isEqual:@"2"]);
    CHECK([dictionary objectForKey:@"two"] == nil && [dictionary objectForKey:nil] == nil);
    NSDictionary * copy  = [dictionary copy];
    dictionary[@"two"]   = @"3";
    CHECK([copy count] == 1 && [dictionary count] == 2 && [[dictionary allKeys] count] == 2);
    CHECK(raises(^{ [dictionary setObject:nil forKey:@"x"]; }, "cannot hold nil"));
    [copy release];
}

static void dictionaries_copy_their_keys_and_retain_both(void) {
    @autoreleasepool {
        NSMutableDictionary * dictionary = [NSMutableDictionary dictionary];
        NSMutableString *     key        = [NSMutableString stringWithUTF8String:"key"];
        Counted *             value      = [Counted new];

        dictionary[key] = value;
        [value release];
        [key appendString:@" changed"];
        CHECK(dictionary[@"key"] == value && !dictionary[key] && alive == 1);
        dictionary[@"key"] = @"another";
        CHECK(alive == 0);
        dictionary[@"key"] = [[Counted new] autorelease];
    }
    CHECK(alive == 0);
}

static void dictionaries_hold_many(void) {
    NSMutableDictionary * dictionary = [NSMutableDictionary dictionary];

    for (int i = 0; i < 1000; i++) {
        dictionary[[NSString stringWithFormat:@"kernel_%d", i]] = @(i);
    }
    CHECK([dictionary count] == 1000);
    for (int i = 0; i < 1000; i++) {
        NSString * key = [NSString stringWithFormat:@"kernel_%d", i];
        CHECK([dictionary[key] intValue] == i);
    }
    CHECK(!dictionary[@"kernel_1000"]);
}

static void sets_hold_each_object_once(void) {
    NSSet *        set     = [NSSet setWithArray:@[@"a", @"b", [NSString stringWithUTF8String:"a"]]];
    NSMutableSet * growing = [NSMutableSet set];

    CHECK([set count] == 2 && [set containsObject:[NSString stringWithUTF8String:"b"]] && ![set containsObject:@"c"]);
    CHECK(![growing containsObject:@"a"] && ![growing containsObject:nil]);
    for (int i = 0; i < 100; i++) {
        [growing addObject:@(i % 30)];
    }
    NSSet * copy = [growing copy];
    [growing addObject:@"x"];
    CHECK([growing count] == 31 && [copy count] == 30 && [growing containsObject:@(29)]);
    [copy release];
}

static void numbers_compare_by_value(void) {
    CHECK([@(7) intValue] == 7 && [@(-7L) longValue] == -7 && [@(2.5) doubleValue] == 2.5 && [@(true) boolValue]);
    CHECK([@(ULONG_MAX) unsignedLongValue] == ULONG_MAX && ![@(ULONG_MAX) isEqual:@(-1)]);
    CHECK([@(7) isEqual:@(7.0)] && [@(7) hash] == [@(7.0) hash] && [@(0) hash] == [@(-0.0) hash]);
    CHECK(![@(7) isEqual:@(8)] && ![@(7) isEqual:@"7"] && ![@(7) isEqualToNumber:nil]);
    CHECK(is([@(-5) description], "-5") && is([@(0.5) description], "0.5"));
    CHECK(is([@(ULONG_MAX) description], "18446744073709551615"));
}

static void errors_tell_their_text(void) {
    NSError * error = [NSError errorWithDomain:@"test" code:3 userInfo:@{NSLocalizedDescriptionKey: @"it broke"}];

    CHECK(is([error localizedDescription], "it broke") && is([error domain], "test") && [error code] == 3);
    CHECK([[error userInfo] count] == 1 && is([error description], "it broke"));
    CHECK(is([[NSError errorWithDomain:@"test" code:3 userInfo:nil] description], "error 3 of test"));
    CHECK(is([[NSError errorWithText:"plain"] localizedDescription], "plain"));
}

// ---- the world outside

static NSString * make_file(NSString * folder, const char * name, const char * content) {
    NSString * path = [folder stringByAppendingPathComponent:[NSString stringWithUTF8String:name]];
    FILE *     file = fopen([path UTF8String], "w");

    fputs(content, file);
    fclose(file);
    return path;
}

static void files_are_read_and_looked_at(NSString * folder) {
    NSFileManager * manager = [NSFileManager defaultManager];
    NSString *      path    = make_file(folder, "file", "text\nof two lines");
    NSString *      link    = [folder stringByAppendingPathComponent:@"link"];
    NSString *      nowhere = [folder stringByAppendingPathComponent:@"nowhere"];
    NSError *       error   = nil;

    CHECK(is([NSString stringWithContentsOfFile:path encoding:NSUTF8StringEncoding error:&error], "text\nof two lines") && !error);
    CHECK(![NSString stringWithContentsOfFile:nowhere encoding:NSUTF8StringEncoding error:&error]);
    CHECK_TEXT([[error localizedDescription] UTF8String], strerror(ENOENT));
    CHECK(![NSString stringWithContentsOfFile:path encoding:1 error:&error]);
    CHECK_TEXT([[error localizedDescription] UTF8String], "knows UTF-8 only");
    CHECK(![NSString stringWithContentsOfFile:folder encoding:NSUTF8StringEncoding error:&error]);
    CHECK_TEXT([[error localizedDescription] UTF8String], strerror(EISDIR));

    CHECK([manager isReadableFileAtPath:path] && ![manager isReadableFileAtPath:nowhere] && ![manager isReadableFileAtPath:nil]);
    CHECK(symlink("file", [link UTF8String]) == 0);
    CHECK([manager attributesOfItemAtPath:path error:NULL][NSFileType] == NSFileTypeRegular);
    CHECK([[manager attributesOfItemAtPath:path error:NULL][NSFileSize] longValue] == 17);
    CHECK([manager attributesOfItemAtPath:folder error:NULL][NSFileType] == NSFileTypeDirectory);
    CHECK([manager attributesOfItemAtPath:link error:NULL][NSFileType] == NSFileTypeSymbolicLink);
    CHECK(is([manager destinationOfSymbolicLinkAtPath:link error:NULL], "file"));
    CHECK(![manager attributesOfItemAtPath:nowhere error:&error]);
    CHECK_TEXT([[error description] UTF8String], [nowhere UTF8String]);
    CHECK(![manager destinationOfSymbolicLinkAtPath:path error:&error]);
    CHECK_TEXT([[error description] UTF8String], "cannot read the link");
}

static void large_files_are_read_whole(NSString * folder) {
    NSMutableString * text = [NSMutableString stringWithUTF8String:""];

    for (int i = 0; i < 4096; i++) {
        [text appendString:@"four"];
    }
    NSString * path = make_file(folder, "large", [text UTF8String]);
    CHECK([[NSString stringWithContentsOfFile:path encoding:NSUTF8StringEncoding error:NULL] isEqual:text]);
}

static void the_bundle_is_the_folder_of_the_program(NSString * program) {
    NSBundle * bundle = [NSBundle bundleForClass:[Counted class]];
    NSString * name   = [NSString stringWithUTF8String:strrchr([program UTF8String], '/') + 1];
    NSString * path   = [bundle pathForResource:name ofType:nil];

    CHECK([path isEqual:[[bundle bundlePath] stringByAppendingPathComponent:name]]);
    CHECK([[NSFileManager defaultManager] isReadableFileAtPath:path]);
    CHECK(![bundle pathForResource:name ofType:@"metallib"] && ![bundle pathForResource:nil ofType:@"x"]);
}

static void the_process_knows_its_arguments_and_environment(int argc, char ** argv) {
    NSArray * arguments = [[NSProcessInfo processInfo] arguments];

    CHECK([arguments count] == (NSUInteger) argc);
    for (int i = 0; i < argc; i++) {
        CHECK(is(arguments[(NSUInteger) i], argv[i]));
    }
    setenv("TEST_FOUNDATION", "a=b", 1);
    CHECK(is([[[NSProcessInfo processInfo] environment] objectForKey:@"TEST_FOUNDATION"], "a=b"));
    unsetenv("TEST_FOUNDATION");
    CHECK(![[[NSProcessInfo processInfo] environment] objectForKey:@"TEST_FOUNDATION"]);
}

// ---- threads

static NSDictionary * shared;

static void * read_shared(void * unused) {
    (void) unused;
    for (int i = 0; i < 200; i++) {
        @autoreleasepool {
            NSString * key = [NSString stringWithFormat:@"%d", i % 50];

            CHECK([shared[key] intValue] == i % 50);
            CHECK([NSFileManager defaultManager] && [NSProcessInfo processInfo] && [NSCharacterSet whitespaceCharacterSet]);
            CHECK(is([@" x " stringByTrimmingCharactersInSet:[NSCharacterSet whitespaceCharacterSet]], "x"));
        }
    }
    return NULL;
}

static void immutable_objects_serve_several_threads(void) {
    NSMutableDictionary * made = [NSMutableDictionary dictionary];
    pthread_t             threads[4];

    for (int i = 0; i < 50; i++) {
        made[[NSString stringWithFormat:@"%d", i]] = @(i);
    }
    shared = [made copy];
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, read_shared, NULL) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    [shared release];
}

int main(int argc, char ** argv) {
    NSAutoreleasePool * pool     = [NSAutoreleasePool new];
    char                folder[] = P_tmpdir "/test_foundation_XXXXXX";

    RUN(immutable_objects_serve_several_threads); // first: the shared objects are made by several threads, too
    RUN(strings_compare_and_format);
    RUN(formats_know_every_conversion_of_c_and_objects);
    RUN(literals_with_other_characters_than_ascii_are_refused);
    RUN(strings_are_cut_and_split);
    RUN(trimming_removes_white_space_at_both_ends);
    RUN(mutable_strings_grow_and_their_copies_do_not);
    RUN(paths_are_taken_apart_and_put_together);
    RUN(scanners_take_a_line_apart);
    RUN(arrays_retain_and_enumerate);
    RUN(literals_make_containers);
    RUN(dictionaries_replace_values);
    RUN(dictionaries_copy_their_keys_and_retain_both);
    RUN(dictionaries_hold_many);
    RUN(sets_hold_each_object_once);
    RUN(numbers_compare_by_value);
    RUN(errors_tell_their_text);
    CHECK(mkdtemp(folder));
    files_are_read_and_looked_at([NSString stringWithUTF8String:folder]);
    large_files_are_read_whole([NSString stringWithUTF8String:folder]);
    the_bundle_is_the_folder_of_the_program([NSString stringWithUTF8String:argv[0]]);
    the_process_knows_its_arguments_and_environment(argc, argv);
    [pool drain];
    return 0;
}
