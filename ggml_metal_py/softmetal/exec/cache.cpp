// Reading the cache: seals, and the lock that says "in use".

#include "cache.h"
#include "sha256.h"

#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace softmetal {

namespace {

constexpr std::string_view SEAL       = "sha256 ";
constexpr size_t           SEAL_BYTES = SEAL.size() + 64 + 1;

// The number of an entry's lock file that all who use the entry share (_USED in msl/cache.py).
constexpr off_t USED = 0;

bool lock_as_used(int file) {
    struct flock lock = {};
    lock.l_type       = F_RDLCK;
    lock.l_whence     = SEEK_SET;
    lock.l_start      = USED;
    lock.l_len        = 1;
    // Of the open file and not of the process, in which another softmetal may use the same entry.
    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

bool is_removed(int file) {
    struct stat status;
    return fstat(file, &status) != 0 || status.st_nlink == 0;
}

} // namespace

std::optional<std::string> read_sealed(const std::string & path, bool must) {
    std::ifstream      file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) {
        return std::nullopt;
    }
    std::string content = text.str();
    const bool  sealed  = content.size() >= SEAL_BYTES && content.compare(content.size() - SEAL_BYTES, SEAL.size(), SEAL) == 0;
    if (!sealed) {
        return must ? std::nullopt : std::optional(content);
    }
    const std::string seal = content.substr(content.size() - SEAL_BYTES);
    content.resize(content.size() - SEAL_BYTES);
    if (seal != std::string(SEAL) + Sha256().update(content).hex() + "\n") {
        return std::nullopt;
    }
    return content;
}

CacheEntry::~CacheEntry() {
    if (lock_ >= 0) {
        close(lock_);
    }
}

std::optional<std::string> CacheEntry::find(const std::string & file) {
    use();
    std::string path = folder_ + "/" + file;
    return read_sealed(path, true) ? std::optional(std::move(path)) : std::nullopt;
}

bool CacheEntry::has(const std::string & file) const {
    return access((folder_ + "/" + file).c_str(), R_OK) == 0;
}

bool CacheEntry::use(const std::string & path) {
    use();
    return access(path.c_str(), R_OK) == 0;
}

void CacheEntry::use() {
    if (lock_ >= 0 && is_removed(lock_)) { // it was removed before it was ours, and may have been made again
        close(lock_);
        lock_ = -1;
    }
    if (lock_ < 0) {
        lock_ = open((folder_ + "/lock").c_str(), O_RDONLY | O_CLOEXEC);
        if (lock_ >= 0) {
            lock_as_used(lock_);     // else it is being removed, or the file system has no locks
            futimens(lock_, nullptr); // the last use; a cache that cannot be written is not trimmed either
        }
    }
}

} // namespace softmetal
