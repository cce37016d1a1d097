// Files: what can be asked about them. Apple's default manager may be used from any thread; this one has no state.

#import <Foundation/Foundation.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>

NSString * const NSFileType             = @"NSFileType";
NSString * const NSFileTypeRegular      = @"NSFileTypeRegular";
NSString * const NSFileTypeDirectory    = @"NSFileTypeDirectory";
NSString * const NSFileTypeSymbolicLink = @"NSFileTypeSymbolicLink";
NSString * const NSFileTypeUnknown      = @"NSFileTypeUnknown";
NSString * const NSFileSize             = @"NSFileSize";

static NSFileManager * manager;

static void make_manager(void) {
    manager = [NSFileManager new];
}

static void report(const char * what, NSString * path, NSError ** error) {
    if (error) {
        *error = [NSError errorWithText:[[NSString stringWithFormat:@"cannot %s %@: %s", what, path, strerror(errno)] UTF8String]];
    }
}

@implementation NSFileManager

+ (NSFileManager *) defaultManager {
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_manager);
    return manager;
}

- (BOOL) isReadableFileAtPath:(NSString *) path {
    return path && access([path UTF8String], R_OK) == 0;
}

- (NSDictionary *) attributesOfItemAtPath:(NSString *) path error:(NSError **) error {
    struct stat status;

    if (lstat([path UTF8String], &status) != 0) {
        report("look at", path, error);
        return nil;
    }
    NSString * type = S_ISREG(status.st_mode) ? NSFileTypeRegular
                    : S_ISDIR(status.st_mode) ? NSFileTypeDirectory
                    : S_ISLNK(status.st_mode) ? NSFileTypeSymbolicLink
                                              : NSFileTypeUnknown;

    return @{NSFileType: type, NSFileSize: @((long) status.st_size)};
}

- (NSString *) destinationOfSymbolicLinkAtPath:(NSString *) path error:(NSError **) error {
    char          target[PATH_MAX];
    const ssize_t length = readlink([path UTF8String], target, sizeof target);

    if (length < 0) {
        report("read the link", path, error);
        return nil;
    }
    return [[[NSString alloc] initWithBytes:target length:(NSUInteger) length encoding:NSUTF8StringEncoding] autorelease];
}

@end
