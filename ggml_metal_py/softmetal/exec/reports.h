// What checked mode found and nobody has taken yet.
#pragma once

#include <softmetal.h>

namespace softmetal {

// Keeps a copy, or counts it when there is one that differs in nothing but threads and addresses.
void keep_report(const softmetal_report & report);

} // namespace softmetal
