// URLs: file paths.

#import <Foundation/Foundation.h>

@implementation NSURL {
    NSString * _path;
}

+ (id) fileURLWithPath:(NSString *) path {
    NSURL * url = [[self new] autorelease];

    url->_path = [path copy];
    return url;
}

- (void) dealloc {
    [_path release];
    [super dealloc];
}

- (NSString *) path {
    return _path;
}

@end
