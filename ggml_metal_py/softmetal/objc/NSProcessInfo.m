// The process: its command line and its environment.

#import <Foundation/Foundation.h>

#include <pthread.h>

extern char ** environ;

static NSProcessInfo * info;

static void make_info(void) {
    info = [NSProcessInfo new];
}

@implementation NSProcessInfo

+ (NSProcessInfo *) processInfo {
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_info);
    return info;
}

- (NSArray *) arguments {
    NSMutableArray * arguments = [[NSMutableArray new] autorelease];
    FILE *           file      = fopen("/proc/self/cmdline", "rb");
    char *           argument  = NULL;
    size_t           size      = 0;

    while (file && getdelim(&argument, &size, 0, file) > 0) {
        [arguments addObject:[NSString stringWithUTF8String:argument]];
    }
    if (file) {
        fclose(file);
    }
    free(argument);
    return arguments;
}

- (NSDictionary *) environment {
    NSMutableDictionary * environment = [NSMutableDictionary dictionary];

    for (char ** entry = environ; entry && *entry; entry++) {
        const char * sign = strchr(*entry, '=');

        if (sign) {
            NSString * name = [[NSString alloc] initWithBytes:*entry
                                                       length:(NSUInteger) (sign - *entry)
                                                     encoding:NSUTF8StringEncoding];

            [environment setObject:[NSString stringWithUTF8String:sign + 1] forKey:name];
            [name release];
        }
    }
    return environment;
}

@end
