// The container's layout, as far as it is needed; all integers are little-endian:
//   at  0  "MTLB"
//   at 24  where the list of functions begins, 8 bytes; then its size without its first 4 bytes, 8 bytes
// The list is the number of functions (4 bytes), and for each of them the size of its entry, itself included
// (4 bytes), and tags: a name of four letters, the size of what follows (2 bytes), that many bytes. ENDT is the last
// and has no size. NAME is a C string; TYPE is one byte, 2 for a kernel.

#include "metallib.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace softmetal {

namespace {

constexpr size_t  HEADER_SIZE   = 88;
constexpr size_t  LIST_OFFSET   = 24;
constexpr size_t  LIST_SIZE     = 32;
constexpr uint8_t TYPE_KERNEL   = 2;
constexpr size_t  LONGEST_LIST  = 64 << 20; // a size beyond it is damage, not a list

// Bytes that are taken from the front; taking more than there is throws.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    std::string_view take(size_t size) {
        if (size > rest_.size()) {
            throw std::runtime_error("it is cut short");
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    uint64_t integer(size_t size) {
        const std::string_view bytes = take(size);
        uint64_t               value = 0;
        for (size_t i = size; i-- > 0;) {
            value = value << 8 | uint8_t(bytes[i]);
        }
        return value;
    }

  private:
    std::string_view rest_;
};

std::string read(std::ifstream & file, uint64_t offset, size_t size) {
    std::string bytes(size, 0);
    file.seekg(std::streamoff(offset));
    file.read(bytes.data(), std::streamsize(size));
    if (!file) {
        throw std::runtime_error("it is cut short");
    }
    return bytes;
}

// The name of the kernel that an entry describes; "" when it describes another function.
std::string kernel_of(Reader entry) {
    std::string name;
    bool        is_kernel = false;
    for (std::string_view tag = entry.take(4); tag != "ENDT"; tag = entry.take(4)) {
        const std::string_view content = entry.take(entry.integer(2));
        if (tag == "NAME") {
            name = content.substr(0, content.find('\0'));
        } else if (tag == "TYPE") {
            is_kernel = !content.empty() && uint8_t(content[0]) == TYPE_KERNEL;
        }
    }
    return is_kernel ? name : "";
}

std::vector<std::string> read_kernels(std::ifstream & file) {
    const std::string header = read(file, 0, HEADER_SIZE);
    if (header.compare(0, 4, "MTLB") != 0) {
        throw std::runtime_error("it does not begin with MTLB");
    }
    const uint64_t offset = Reader(std::string_view(header).substr(LIST_OFFSET)).integer(8);
    const uint64_t size   = Reader(std::string_view(header).substr(LIST_SIZE)).integer(8);
    if (size > LONGEST_LIST) {
        throw std::runtime_error("its list of functions has " + std::to_string(size) + " bytes");
    }
    const std::string        bytes = read(file, offset, size + 4);
    Reader                   list(bytes);
    std::vector<std::string> names;
    for (uint64_t left = list.integer(4); left > 0; left--) {
        const uint64_t entry_size = list.integer(4);
        if (entry_size < 4) {
            throw std::runtime_error("its list of functions is damaged");
        }
        std::string name = kernel_of(Reader(list.take(entry_size - 4)));
        if (!name.empty()) {
            names.push_back(std::move(name));
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace

std::vector<std::string> read_metallib_kernels(const std::string & path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error("cannot read the Metal library " + path);
    }
    try {
        return read_kernels(file);
    } catch (const std::runtime_error & error) {
        throw std::runtime_error(path + " is no Metal library that can be read: " + error.what());
    }
}

} // namespace softmetal
