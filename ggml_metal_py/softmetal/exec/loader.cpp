// Libraries: the names of their functions, and the search for their machine code.

#include "loader.h"
#include "cache.h"
#include "compiler.h"
#include "metallib.h"
#include "module.h"
#include "settings.h"
#include "sha256.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <softmetal.h>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace softmetal {

namespace {

// A library with up to this many functions is compiled when it is opened, so that errors in a user's source
// show at once; of a larger one, each kernel when it is first dispatched.
constexpr size_t MAX_FUNCTIONS_AT_ONCE = 64;

constexpr const char * FUNCTIONS_HEADER = "softmetal 1";

std::string key_of(const std::string & source, const std::vector<Macro> & macros) {
    using namespace std::string_view_literals;
    Sha256 hash;
    hash.update("softmetal-1\0"sv);
    for (const Macro & macro : macros) {
        hash.update(macro.name).update("=").update(macro.value).update("\0"sv);
    }
    return hash.update("\0"sv).update(source).hex();
}

std::string file_of(const std::string & function, bool checked) {
    return (checked ? "checked-fn-" : "fn-") + Sha256().update(function).hex().substr(0, 16) + ".so";
}

bool exists(const std::string & path) {
    return access(path.c_str(), R_OK) == 0;
}

std::vector<std::string> read_functions(const std::string & path) {
    const auto content = read_sealed(path, false);
    if (!content) {
        throw std::runtime_error(path + " is missing or damaged; build the kernels again");
    }
    std::istringstream text(*content);
    std::string        line;
    if (!std::getline(text, line) || line != FUNCTIONS_HEADER) {
        throw std::runtime_error(path + " does not begin with \"" + FUNCTIONS_HEADER + "\"; build the kernels again");
    }
    std::vector<std::string> names;
    while (std::getline(text, line)) {
        if (!line.empty()) {
            names.push_back(line);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string join(const std::vector<std::string> & parts) {
    std::string text;
    for (const std::string & part : parts) {
        text += (text.empty() ? "" : ", ") + part;
    }
    return text.empty() ? "no folder" : text;
}

} // namespace

} // namespace softmetal

using namespace softmetal;

struct sm_library {
    sm_library(std::string key, std::string source, std::vector<Macro> macros)
        : key(std::move(key)), source_(std::move(source)), macros_(std::move(macros)) {}

    // Of a .metallib: `file` is named where its kernels' code is asked for.
    sm_library(std::string key, std::vector<std::string> names, std::string file)
        : key(std::move(key)), file_(std::move(file)), names_(std::move(names)) {}

    // Learns the functions' names of a source; compiles a small library. Throws std::runtime_error.
    void open();

    bool has(const std::string & name) const { return std::binary_search(names_.begin(), names_.end(), name); }

    // Finds or makes a kernel's machine code, plain or for checked mode. Throws std::runtime_error.
    sm_code code(const std::string & name, bool checked);

    const std::vector<std::string> & functions() const { return names_; }

    size_t n_prebuilt();

    const std::string key;
    int               references = 1; // guarded by the registry's mutex

  private:
    std::optional<std::string> find_prebuilt(const std::string & file) const;
    std::optional<std::string> find(const std::string & file);
    std::string                make(const std::vector<std::string> & options);
    CacheEntry &               cached();
    std::optional<sm_code>     find_code(const std::string & name, bool checked);
    const sm_kernels *         all(bool checked);

    const std::string           source_;
    const std::vector<Macro>    macros_;
    const std::string           file_; // "" when there is a source
    std::vector<std::string>    names_; // sorted; fixed once open() returned
    std::mutex                  mutex_; // of what follows, and of compiling
    const sm_kernels *          all_[2] = {}; // plain and checked
    std::unique_ptr<CacheEntry> cached_;
};

std::optional<std::string> sm_library::find_prebuilt(const std::string & file) const {
    for (const std::string & folder : kernel_folders()) {
        std::string path = folder + "/" + key + "/" + file;
        if (exists(path)) {
            return path;
        }
    }
    return std::nullopt;
}

// Throws std::runtime_error when there is no compiler: without it, nobody knows what in the cache is of use.
CacheEntry & sm_library::cached() {
    if (!cached_) {
        cached_ = std::make_unique<CacheEntry>(cache_folder() + "/" + compiler_version() + "/" + key);
    }
    return *cached_;
}

std::optional<std::string> sm_library::find(const std::string & file) {
    auto path = find_prebuilt(file);
    return path || !compiler_available() ? path : cached().find(file);
}

std::string sm_library::make(const std::vector<std::string> & options) {
    std::string path;
    // A full cache may lose the file again before it counts as used.
    for (int attempt = 0; attempt < 3; attempt++) {
        path = compile(source_, macros_, cache_folder(), options);
        if (cached().use(path)) {
            break;
        }
    }
    return path;
}

void sm_library::open() {
    if (const auto list = find_prebuilt("functions.txt")) {
        // Compiled by those who filled the folder, or meant to be compiled on demand.
        names_ = read_functions(*list);
        return;
    }
    if (!compiler_available()) {
        throw std::runtime_error("no kernels for this source (key " + key + ") in " + join(kernel_folders()) +
                                 ", and no compiler to make them: set SOFTMETAL_COMPILER to its command");
    }
    const auto list = cached().find("functions.txt");
    names_          = read_functions(list ? *list : make({"--functions-only"}));
    if (names_.size() <= MAX_FUNCTIONS_AT_ONCE && !find("all.so")) {
        all_[false] = open_module(make({}), key);
    }
}

const sm_kernels * sm_library::all(bool checked) {
    if (all_[checked] == nullptr) {
        if (const auto path = find(checked ? "checked-all.so" : "all.so")) {
            all_[checked] = open_module(*path, key);
        }
    }
    return all_[checked];
}

std::optional<sm_code> sm_library::find_code(const std::string & name, bool checked) {
    if (const sm_kernels * module = all(checked)) {
        if (const sm_kernel * kernel = find_kernel(module, name)) {
            return sm_code{module, kernel};
        }
    }
    if (const auto path = find(file_of(name, checked))) {
        const sm_kernels * module = open_module(*path, key);
        if (const sm_kernel * kernel = find_kernel(module, name)) {
            return sm_code{module, kernel};
        }
    }
    return std::nullopt;
}

sm_code sm_library::code(const std::string & name, bool checked) {
    if (!file_.empty()) {
        throw std::runtime_error("NoKernelSource: " + name + " cannot run: " + file_ +
                                 " holds code for Apple's GPUs, and there is no source to compile");
    }
    std::lock_guard<std::mutex> lock(mutex_);
    if (const auto code = find_code(name, checked)) {
        return *code;
    }
    if (!compiler_available()) {
        throw std::runtime_error("kernel " + name + " has no machine code: looked for " + key + "/" +
                                 (checked ? "checked-" : "") + "all.so and " + key + "/" + file_of(name, checked) + " in " + join(kernel_folders()) +
                                 "; build the kernels, or set SOFTMETAL_COMPILER to the compiler's command");
    }
    std::vector<std::string> options;
    if (names_.size() > MAX_FUNCTIONS_AT_ONCE || !checked) {
        options = {"--function", name};
    }
    if (checked) {
        options.push_back("--checked");
    }
    const std::string  path   = make(options);
    const sm_kernels * module = open_module(path, key);
    if (const sm_kernel * kernel = find_kernel(module, name)) {
        return sm_code{module, kernel};
    }
    throw std::runtime_error("kernel " + name + " has no machine code: the compiler made " + path + " without it");
}

size_t sm_library::n_prebuilt() {
    if (!file_.empty()) {
        return 0;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    try {
        if (const sm_kernels * module = all(false)) {
            return module->n_kernels;
        }
        return size_t(std::count_if(names_.begin(), names_.end(), [&](const std::string & name) {
            const std::string file = file_of(name, false);
            return find_prebuilt(file) || (compiler_available() && cached().has(file));
        }));
    } catch (const std::runtime_error &) {
        return 0; // there are some that do not fit, or a compiler that does not run
    }
}

namespace {

// The libraries in use, by key.
struct Registry {
    std::mutex                          mutex;
    std::map<std::string, sm_library *> libraries;
};

Registry & registry() {
    static Registry * const instance = new Registry;
    return *instance;
}

// The library of this key, which `make` makes when nobody has it open.
template <typename Make> sm_library * open_once(const std::string & key, Make make) {
    Registry & all = registry();
    // Held while a new source is compiled: whoever opens the same one meanwhile waits for the result.
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto                  found = all.libraries.find(key);
    if (found != all.libraries.end()) {
        found->second->references++;
        return found->second;
    }
    std::unique_ptr<sm_library> library = make();
    all.libraries[key]                  = library.get();
    return library.release();
}

void store(char ** error, const std::exception & exception) {
    *error = strdup(exception.what());
}

} // namespace

struct sm_library * sm_library_open(const char * source, size_t length, const struct sm_macro * macros, size_t n_macros,
                                    char ** error) {
    try {
        std::vector<Macro> sorted;
        for (size_t i = 0; i < n_macros; i++) {
            sorted.push_back({macros[i].name, macros[i].value});
        }
        std::sort(sorted.begin(), sorted.end(), [](const Macro & a, const Macro & b) { return a.name < b.name; });
        const std::string text(source, length);
        const std::string key = key_of(text, sorted);

        return open_once(key, [&] {
            auto library = std::make_unique<sm_library>(key, text, sorted);
            library->open();
            return library;
        });
    } catch (const std::exception & exception) {
        store(error, exception);
        return nullptr;
    }
}

struct sm_library * sm_library_open_metallib(const char * path, char ** error) {
    try {
        auto   names = read_metallib_kernels(path);
        Sha256 hash;
        hash.update(path);
        for (const std::string & name : names) {
            hash.update("\n").update(name);
        }
        const std::string key = "metallib-" + hash.hex();

        return open_once(key, [&] { return std::make_unique<sm_library>(key, std::move(names), path); });
    } catch (const std::exception & exception) {
        store(error, exception);
        return nullptr;
    }
}

void sm_library_retain(struct sm_library * library) {
    std::lock_guard<std::mutex> lock(registry().mutex);
    library->references++;
}

void sm_library_release(struct sm_library * library) {
    Registry &                   all = registry();
    std::unique_lock<std::mutex> lock(all.mutex);
    if (--library->references == 0) {
        all.libraries.erase(library->key);
        lock.unlock();
        delete library;
    }
}

bool sm_library_has(const struct sm_library * library, const char * name) {
    return library->has(name);
}

const char * sm_library_function(const struct sm_library * library, size_t index) {
    return index < library->functions().size() ? library->functions()[index].c_str() : nullptr;
}

bool sm_library_code(struct sm_library * library, const char * name, bool checked, struct sm_code * code, char ** error) {
    try {
        *code = library->code(name, checked);
        return true;
    } catch (const std::exception & exception) {
        store(error, exception);
        return false;
    }
}

void softmetal_kernel_counts(int * declared, int * prebuilt) {
    *declared = *prebuilt = 0;
    Registry &                  all = registry();
    std::lock_guard<std::mutex> lock(all.mutex);
    for (const auto & [key, library] : all.libraries) {
        *declared += int(library->functions().size());
        *prebuilt += int(library->n_prebuilt());
    }
}
