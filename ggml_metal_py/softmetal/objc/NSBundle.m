// Bundles: the folder that a class was loaded from, and the files beside it.

#import <Foundation/Foundation.h>

#include <dlfcn.h>

@implementation NSBundle {
    NSString * _path;
}

+ (NSBundle *) bundleForClass:(Class) cls {
    NSBundle * bundle = [[self new] autorelease];
    Dl_info    image;

    if (dladdr((void *) cls, &image) && image.dli_fname) {
        char * resolved = realpath(image.dli_fname, NULL);

        bundle->_path = [[[NSString stringWithUTF8String:resolved ? resolved : image.dli_fname]
            stringByDeletingLastPathComponent] retain];
        free(resolved);
    }
    return bundle;
}

- (void) dealloc {
    [_path release];
    [super dealloc];
}

- (NSString *) bundlePath {
    return _path;
}

- (NSString *) pathForResource:(NSString *) name ofType:(NSString *) extension {
    NSString * file = [extension length] ? [name stringByAppendingPathExtension:extension] : name;
    NSString * path = _path && file ? [_path stringByAppendingPathComponent:file] : nil;

    return [[NSFileManager defaultManager] isReadableFileAtPath:path] ? path : nil;
}

@end
