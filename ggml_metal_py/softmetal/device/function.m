// Functions: values, made by a library and consumed by pipelines.

#include "function.h"
#include "constants.h"

@implementation SMFunction {
    NSString *                  _name;
    struct sm_library *         _library;
    MTLFunctionConstantValues * _constants;
}

+ (id) newWithName:(NSString *) name library:(struct sm_library *) library constants:(MTLFunctionConstantValues *) constants {
    SMFunction * function = [self new];

    sm_library_retain(library);
    function->_name      = [name copy];
    function->_library   = library;
    function->_constants = constants ? [constants copyOfValues] : [MTLFunctionConstantValues new];
    return function;
}

- (void) dealloc {
    [_name release];
    [_constants release];
    sm_library_release(_library);
    [super dealloc];
}

- (NSString *) name {
    return _name;
}

- (struct sm_library *) library {
    return _library;
}

- (MTLFunctionConstantValues *) constants {
    return _constants;
}

@end
