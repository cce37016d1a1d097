// SHA-256 (FIPS 180-4), for the keys of kernel libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace softmetal {

class Sha256 {
  public:
    Sha256 & update(std::string_view bytes);

    // The digest in lower-case hex. Ends the computation.
    std::string hex();

  private:
    void block(const uint8_t * bytes);

    uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint64_t length_   = 0; // bytes so far
    uint8_t  pending_[64]; // the length_ % 64 bytes that do not fill a block yet
};

} // namespace softmetal
