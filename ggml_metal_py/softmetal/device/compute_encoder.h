// MTLComputeCommandEncoder: the arguments of the next dispatch, and dispatches.
#pragma once

#include "encoder.h"

@interface SMComputeEncoder : SMEncoder <MTLComputeCommandEncoder>
@end
