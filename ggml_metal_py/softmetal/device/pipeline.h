// MTLComputePipelineState: a function, and its machine code from the first dispatch on.
#pragma once

#include "function.h"
#include "stats.h"

struct sm_pipeline_code {
    struct sm_code  code;
    const int64_t * constants; // as struct sm_dispatch wants them
    const uint8_t * constants_set;
};

@interface SMPipeline : NSObject <MTLComputePipelineState>
+ (id) newWithFunction:(SMFunction *) function;
- (SMFunction *) function;
// Finds the machine code, plain or for checked mode, which may compile it. NULL, with a text to be freed, when there
// is none.
- (const struct sm_pipeline_code *) code:(BOOL) checked error:(char **) error;
- (struct sm_pipeline_stats *) stats;
@end
