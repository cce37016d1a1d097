// SHA-256 as FIPS 180-4 writes it, one block at a time.

#include "sha256.h"

#include <algorithm>
#include <cstring>

namespace softmetal {

namespace {

constexpr uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

uint32_t rotate(uint32_t x, int bits) {
    return x >> bits | x << (32 - bits);
}

uint32_t big_endian(const uint8_t * bytes) {
    return uint32_t(bytes[0]) << 24 | uint32_t(bytes[1]) << 16 | uint32_t(bytes[2]) << 8 | bytes[3];
}

} // namespace

void Sha256::block(const uint8_t * bytes) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++) {
        w[i] = big_endian(bytes + 4 * i);
    }
    for (int i = 16; i < 64; i++) {
        const uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        const uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (int i = 0; i < 64; i++) {
        const uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i];
        const uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) {
        state_[i] += sums[i];
    }
}

Sha256 & Sha256::update(std::string_view bytes) {
    const uint8_t * next = reinterpret_cast<const uint8_t *>(bytes.data());
    size_t          left = bytes.size();
    while (left != 0) {
        const size_t filled = length_ % 64;
        const size_t taken  = std::min(left, 64 - filled);
        memcpy(pending_ + filled, next, taken);
        if (filled + taken == 64) {
            block(pending_);
        }
        length_ += taken;
        next += taken;
        left -= taken;
    }
    return *this;
}

std::string Sha256::hex() {
    const uint64_t bits = 8 * length_;
    update(std::string_view("\x80", 1));
    while (length_ % 64 != 56) {
        update(std::string_view("\0", 1));
    }
    char size[8];
    for (int i = 0; i < 8; i++) {
        size[i] = char(bits >> (56 - 8 * i));
    }
    update(std::string_view(size, 8));

    std::string text;
    for (uint32_t word : state_) {
        for (int shift = 28; shift >= 0; shift -= 4) {
            text += "0123456789abcdef"[word >> shift & 15];
        }
    }
    return text;
}

} // namespace softmetal
