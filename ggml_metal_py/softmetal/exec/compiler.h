// The compiler service: a command that turns MSL source into kernel libraries, outside this process.
//
//   COMMAND build SOURCE.metal --out FOLDER [-D NAME=VALUE]... [--functions-only] [--function NAME]
//
// It writes FOLDER/<key>/functions.txt and kernel libraries (see loader.h), reports on its standard error and
// exits with 0 when all went well.
#pragma once

#include <string>
#include <vector>

namespace softmetal {

struct Macro {
    std::string name;
    std::string value;
};

bool compiler_available();

// Runs the service on a source; folder is created when it is missing. Throws std::runtime_error with the
// service's own words when it fails.
void compile(const std::string & source, const std::vector<Macro> & macros, const std::string & folder,
             const std::vector<std::string> & options);

} // namespace softmetal
