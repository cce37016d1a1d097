// The compiler service: a command that turns MSL source into kernel libraries, outside this process.
//
//   COMMAND version
//     prints a word that is another one whenever kernels have to be compiled again
//   COMMAND build FILE --cache FOLDER --name NAME [-D NAME=VALUE]... [--functions-only | --function NAME]
//     prints the path of the file that was asked for: the list of functions, the library of all kernels or of one,
//     which it makes unless FOLDER/<version>/<key>/ has it (see loader.h)
//
// It says what is wrong on its standard error, and exits with 0 when all went well.
#pragma once

#include <string>
#include <vector>

namespace softmetal {

struct Macro {
    std::string name;
    std::string value;
};

bool compiler_available();

// These throw std::runtime_error with the service's own words when it fails.

// Asks once for each command; kernels in the cache are looked for with its answer.
std::string compiler_version();

// Runs the service on a source, and returns the path that it answers.
std::string compile(const std::string & source, const std::vector<Macro> & macros, const std::string & cache,
                    const std::vector<std::string> & options);

} // namespace softmetal
