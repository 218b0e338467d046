// The 8 x 8 transpose behind transpose.h: three rounds that exchange off-diagonal blocks. Vectors
// of 32 bytes are native to two of the clones, and moving data gains nothing from wider ones.
#include "transpose.h"

#include <algorithm>

#include "../host_device.h"

namespace rushlight {
namespace {

using Floats = float __attribute__((vector_size(32), aligned(4), may_alias));
using Ints = int __attribute__((vector_size(32)));
constexpr std::int64_t kLanes = 8;

template <int D>
[[gnu::always_inline]] inline void swap_blocks(Floats* t) {
  constexpr auto lo = [](int i) { return i & D ? 8 + i - D : i; };
  constexpr auto hi = [](int i) { return i & D ? 8 + i : i + D; };
  const auto mask = [](auto f) { return Ints{f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)}; };
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    if (i & D) continue;
    const Floats a = t[i], b = t[i + D];
    t[i] = __builtin_shuffle(a, b, mask(lo));
    t[i + D] = __builtin_shuffle(a, b, mask(hi));
  }
}

}  // namespace

CLONES void transpose(const float* src, std::int64_t lds, std::int64_t rows, std::int64_t cols,
                      float* dst, std::int64_t ldd) {
  for (std::int64_t c = 0; c < cols; c += kLanes)
    for (std::int64_t r = 0; r < rows; r += kLanes) {
      const std::int64_t nr = std::min(kLanes, rows - r), nc = std::min(kLanes, cols - c);
      if (nr == kLanes && nc == kLanes) {
        Floats t[kLanes];
#pragma GCC unroll 8
        for (int i = 0; i < kLanes; ++i)
          t[i] = *reinterpret_cast<const Floats*>(src + (r + i) * lds + c);
        swap_blocks<4>(t);
        swap_blocks<2>(t);
        swap_blocks<1>(t);
#pragma GCC unroll 8
        for (int i = 0; i < kLanes; ++i) *reinterpret_cast<Floats*>(dst + (c + i) * ldd + r) = t[i];
      } else {
        for (std::int64_t i = 0; i < nc; ++i)
          for (std::int64_t j = 0; j < nr; ++j)
            dst[(c + i) * ldd + r + j] = src[(r + j) * lds + c + i];
      }
    }
}

}  // namespace rushlight
