// Paths as strings.

#import <Foundation/Foundation.h>

@implementation NSString (NSPathUtilities)

+ (NSString *) pathWithComponents:(NSArray *) components {
    NSString * path = @"";

    for (NSString * component in components) {
        path = [path stringByAppendingPathComponent:component];
    }
    return path;
}

// The path without slashes at its end; "/" stays.
- (NSString *) withoutTrailingSlashes {
    NSUInteger length = [self length];

    while (length > 1 && [self UTF8String][length - 1] == '/') {
        length--;
    }
    return [self substringToIndex:length];
}

- (NSString *) stringByDeletingLastPathComponent {
    NSString *   path  = [self withoutTrailingSlashes];
    const char * text  = [path UTF8String];
    const char * slash = strrchr(text, '/');

    if (!slash) {
        return @"";
    }
    return slash == text ? @"/" : [[path substringToIndex:(NSUInteger) (slash - text)] withoutTrailingSlashes];
}

- (NSString *) stringByAppendingPathComponent:(NSString *) component {
    NSString * path = [self withoutTrailingSlashes];
    NSString * next = [component withoutTrailingSlashes];

    if ([path length] == 0 || [next length] == 0) {
        return [path length] ? path : next;
    }
    const BOOL needs_slash = ![path isEqualToString:@"/"] && [next UTF8String][0] != '/';

    return [NSString stringWithFormat:@"%@%s%@", path, needs_slash ? "/" : "", next];
}

- (NSString *) stringByAppendingPathExtension:(NSString *) extension {
    return [NSString stringWithFormat:@"%@.%@", [self withoutTrailingSlashes], extension];
}

- (NSString *) stringByStandardizingPath {
    const BOOL       is_absolute = [self UTF8String][0] == '/';
    NSMutableArray * kept        = [[NSMutableArray new] autorelease];

    for (NSString * component in [self componentsSeparatedByString:@"/"]) {
        if ([component length] == 0 || [component isEqualToString:@"."]) {
            continue;
        }
        // A path that begins with .. cannot be made shorter.
        if (is_absolute && [component isEqualToString:@".."]) {
            [kept removeLastObject];
        } else {
            [kept addObject:component];
        }
    }
    NSString * path = [NSString pathWithComponents:kept];

    return is_absolute ? [@"/" stringByAppendingPathComponent:path] : path;
}

@end
