// The cache of kernels that were compiled on demand, from the side of those who read it. The compiler service fills
// and trims it (msl/cache.py tells its layout).
#pragma once

#include <optional>
#include <string>

namespace softmetal {

// One source's folder in the cache. From the first look on, it counts as used and is not removed.
class CacheEntry {
  public:
    explicit CacheEntry(std::string folder) : folder_(std::move(folder)) {}
    ~CacheEntry();
    CacheEntry(const CacheEntry &)             = delete;
    CacheEntry & operator=(const CacheEntry &) = delete;

    // The path of a file in it. Nothing when it is missing or damaged: then the service makes it, again.
    std::optional<std::string> find(const std::string & file);

    // Whether there is such a file, without a look at its content.
    bool has(const std::string & file) const;

    // After the service made this file in it: counts it as used from now on. False when it is gone already.
    bool use(const std::string & path);

  private:
    void use();

    const std::string folder_;
    int               lock_ = -1;
};

// A file's content without its seal: the last line, "sha256 <hex>", of all before it (msl/store.py). Nothing when the
// file cannot be read or does not match its seal. One without a seal is taken as it is, unless it `must` have one.
std::optional<std::string> read_sealed(const std::string & path, bool must);

} // namespace softmetal
