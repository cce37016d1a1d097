// Errors: a domain, a code, and a text in the dictionary.

#import <Foundation/Foundation.h>

NSString * const NSLocalizedDescriptionKey = @"NSLocalizedDescription";

@implementation NSError {
    NSString *     _domain;
    NSInteger      _code;
    NSDictionary * _info;
}

+ (id) errorWithDomain:(NSString *) domain code:(NSInteger) code userInfo:(NSDictionary *) info {
    NSError * error = [[self new] autorelease];

    error->_domain = [domain copy];
    error->_code   = code;
    error->_info   = info ? [info copy] : [NSDictionary new];
    return error;
}

+ (id) errorWithText:(const char *) text {
    return [self errorWithDomain:@"softmetal" code:1 userInfo:@{NSLocalizedDescriptionKey: [NSString stringWithUTF8String:text]}];
}

- (void) dealloc {
    [_domain release];
    [_info release];
    [super dealloc];
}

- (NSString *) domain {
    return _domain;
}

- (NSInteger) code {
    return _code;
}

- (NSDictionary *) userInfo {
    return _info;
}

- (NSString *) localizedDescription {
    NSString * text = [_info objectForKey:NSLocalizedDescriptionKey];

    return text ? text : [NSString stringWithFormat:@"error %ld of %@", (long) _code, _domain];
}

- (NSString *) description {
    return [self localizedDescription];
}

@end
