// MTLBlitCommandEncoder: fills and copies.
#pragma once

#include "encoder.h"

@interface SMBlitEncoder : SMEncoder <MTLBlitCommandEncoder>
@end
