// Errors: a text.

#import <Foundation/Foundation.h>

@implementation NSError {
    NSString * _text;
}

+ (id) errorWithText:(const char *) text {
    NSError * error = [[self new] autorelease];

    error->_text = [[NSString stringWithUTF8String:text] retain];
    return error;
}

- (void) dealloc {
    [_text release];
    [super dealloc];
}

- (NSString *) localizedDescription {
    return _text;
}

- (NSString *) description {
    return _text;
}

@end
