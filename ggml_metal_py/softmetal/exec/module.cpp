// Opening kernel libraries, each once per process.

#include "module.h"
#include "cpu.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <link.h>
#include <map>
#include <mutex>
#include <stdexcept>

namespace softmetal {

namespace {

// Whether the file ends before what its header speaks of. Touching such a library may end the process (SIGBUS).
bool is_cut_off(const std::string & path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const auto    size = uint64_t(std::max<std::streamoff>(file.tellg(), 0));
    ElfW(Ehdr)    header;
    file.seekg(0);
    if (!file.read(reinterpret_cast<char *>(&header), sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        return false; // dlopen will tell what it is
    }
    // The linker puts the table of sections last.
    return header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize > size;
}

// Reads nothing but the table until the ABI and the CPU are known to fit.
const sm_kernels * open_checked(const std::string & path, const std::string & key) {
    if (is_cut_off(path)) {
        throw std::runtime_error("cannot open a kernel library: " + path + " is cut off; remove it and build the kernels again");
    }
    void * handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        throw std::runtime_error(std::string("cannot open a kernel library: ") + dlerror());
    }
    const auto * kernels = static_cast<const sm_kernels *>(dlsym(handle, SM_KERNELS_SYMBOL));
    std::string  misfit;
    if (kernels == nullptr) {
        misfit = "it exports no " SM_KERNELS_SYMBOL;
    } else if (kernels->abi != SM_ABI) {
        misfit = "it has ABI " + std::to_string(kernels->abi) + ", this softmetal needs " + std::to_string(SM_ABI);
    } else if (!cpu_runs(kernels->cpu)) {
        misfit = std::string("it is compiled for ") + kernels->cpu + ", which this CPU cannot run";
    } else if (key != kernels->source_hash) {
        misfit = std::string("it is made from another source, ") + kernels->source_hash;
    } else {
        return kernels;
    }
    dlclose(handle);
    throw std::runtime_error("cannot use the kernel library " + path + ": " + misfit +
                             ". Remove its folder and build the kernels again");
}

} // namespace

const sm_kernels * open_module(const std::string & path, const std::string & key) {
    static std::mutex                                  mutex;
    static std::map<std::string, const sm_kernels *> & modules = *new std::map<std::string, const sm_kernels *>;

    std::lock_guard<std::mutex> lock(mutex);
    const auto                  found = modules.find(path);
    if (found != modules.end()) {
        return found->second;
    }
    return modules[path] = open_checked(path, key);
}

const sm_kernel * find_kernel(const sm_kernels * module, const std::string & name) {
    const sm_kernel * end    = module->kernels + module->n_kernels;
    const sm_kernel * kernel = std::lower_bound(module->kernels, end, name, [](const sm_kernel & k, const std::string & n) {
        return n.compare(k.name) > 0;
    });
    return kernel != end && name == kernel->name ? kernel : nullptr;
}

} // namespace softmetal
