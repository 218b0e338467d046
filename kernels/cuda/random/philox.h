// Random numbers by Philox4x32-10: element i of the n-th fill of a generator takes the words of
// counter (i, n) under the seed as key. So numbers depend on the seed and on the order of fills,
// never on the grid or on the GPU. The count of fills is in the state's first words, where the
// generator's state is saved and restored with them.
#pragma once
#include "kernels/cuda/device.h"
#include "kernels/random.h"

namespace rushlight::gpu {

struct Fill {
  std::uint64_t seed, number;
};

inline Fill next_fill(RandomState& s) {
  std::uint64_t number = std::uint64_t(s.words[1]) << 32 | s.words[0];
  const Fill fill = {s.seed, number++};
  s.words[0] = std::uint32_t(number);
  s.words[1] = std::uint32_t(number >> 32);
  return fill;
}

struct Words {
  std::uint32_t of[4];
  __device__ std::uint64_t bits(int half) const {
    return std::uint64_t(of[2 * half]) << 32 | of[2 * half + 1];
  }
  __device__ double unit(int half = 0) const { return double(bits(half) >> 11) * 0x1p-53; }
};

__device__ inline Words words_of(Fill f, Index item) {
  Words c = {{std::uint32_t(item), std::uint32_t(item >> 32), std::uint32_t(f.number),
              std::uint32_t(f.number >> 32)}};
  std::uint32_t k0 = std::uint32_t(f.seed), k1 = std::uint32_t(f.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t(0xd2511f53u) * c.of[0];
    const std::uint64_t b = std::uint64_t(0xcd9e8d57u) * c.of[2];
    c = {{std::uint32_t(b >> 32) ^ c.of[1] ^ k0, std::uint32_t(b),
          std::uint32_t(a >> 32) ^ c.of[3] ^ k1, std::uint32_t(a)}};
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return c;
}

}  // namespace rushlight::gpu
