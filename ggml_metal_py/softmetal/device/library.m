// Libraries and the options they are compiled with. Finding kernels is exec/loader's work.

#include "library.h"
#include "failure.h"
#include "function.h"
#include "runtime.h"

@implementation MTLCompileOptions {
    NSDictionary *     _macros;
    MTLLanguageVersion _version;
}

- (void) dealloc {
    [_macros release];
    [super dealloc];
}

- (NSDictionary *) preprocessorMacros {
    return _macros;
}

- (void) setPreprocessorMacros:(NSDictionary *) macros {
    NSDictionary * replaced = _macros;

    _macros = [macros copy];
    [replaced release];
}

- (MTLLanguageVersion) languageVersion {
    return _version;
}

- (void) setLanguageVersion:(MTLLanguageVersion) version {
    _version = version;
}

@end

@implementation SMLibrary {
    struct sm_library * _library;
}

+ (id) newWithSource:(NSString *) source options:(MTLCompileOptions *) options error:(NSError **) error {
    NSDictionary *    dictionary = options.preprocessorMacros;
    NSArray *         names      = [dictionary allKeys];
    const NSUInteger  n_macros   = [names count];
    struct sm_macro * macros     = objc_allocate((n_macros + 1) * sizeof *macros);
    char *            text       = NULL;

    for (NSUInteger i = 0; i < n_macros; i++) {
        NSString * name = [names objectAtIndex:i];

        macros[i] = (struct sm_macro) { [name UTF8String], [[dictionary objectForKey:name] UTF8String] };
    }
    struct sm_library * opened = sm_library_open([source UTF8String], [source length], macros, n_macros, &text);

    free(macros);
    return [self newWithLibrary:opened text:text error:error];
}

+ (id) newWithURL:(NSURL *) url error:(NSError **) error {
    char *              text   = NULL;
    struct sm_library * opened = sm_library_open_metallib([[url path] UTF8String], &text);

    return [self newWithLibrary:opened text:text error:error];
}

// Of what was opened, or nil and the text, which is freed.
+ (id) newWithLibrary:(struct sm_library *) opened text:(char *) text error:(NSError **) error {
    if (!opened) {
        sm_failure_report(text, error);
        free(text);
        return nil;
    }
    SMLibrary * library = [self new];

    library->_library = opened;
    return library;
}

- (void) dealloc {
    sm_library_release(_library);
    [super dealloc];
}

- (NSArray *) functionNames {
    NSMutableArray * names = [[NSMutableArray new] autorelease];
    const char *     name;

    for (NSUInteger i = 0; (name = sm_library_function(_library, i)) != NULL; i++) {
        [names addObject:[NSString stringWithUTF8String:name]];
    }
    return names;
}

- (id<MTLFunction>) newFunctionWithName:(NSString *) name {
    return [self newFunctionWithName:name constantValues:nil error:NULL];
}

- (id<MTLFunction>) newFunctionWithName:(NSString *) name constantValues:(MTLFunctionConstantValues *) values error:(NSError **) error {
    if (error) {
        *error = nil;
    }
    if (!sm_library_has(_library, [name UTF8String])) {
        NSString * text = [NSString stringWithFormat:@"the library has no function called \"%s\"", [name UTF8String]];

        sm_failure_report([text UTF8String], error);
        return nil;
    }
    return [SMFunction newWithName:name library:_library constants:values];
}

@end
