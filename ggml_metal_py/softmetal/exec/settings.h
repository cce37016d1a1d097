// What the host set through softmetal.h about kernels: folders and the compiler. Copies, taken under a lock.
#pragma once

#include <string>
#include <vector>

namespace softmetal {

// Folders of prebuilt kernels, in the order to look into them.
std::vector<std::string> kernel_folders();

std::string cache_folder();

// The compiler service's command, as words. Empty: there is none.
std::vector<std::string> compiler_command();

} // namespace softmetal
