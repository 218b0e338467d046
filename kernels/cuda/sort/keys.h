// Elements as unsigned keys in the same order: -0 equals 0, every NaN is the same greatest key.
#pragma once
#include "kernels/cuda/elements.h"

namespace rushlight::gpu {

inline constexpr std::uint64_t kNaNKey = ~std::uint64_t(0);

template <class C>
__device__ std::uint64_t sort_key(C x) {
  constexpr std::uint64_t top = std::uint64_t(1) << 63;
  if constexpr (std::is_floating_point_v<C>) {
    if (x != x) return kNaNKey;
    const double positive_zero = double(x) + 0.0;
    std::uint64_t bits;
    memcpy(&bits, &positive_zero, 8);
    return bits & top ? ~bits : bits | top;
  } else {
    return static_cast<std::uint64_t>(x) ^ top;
  }
}

}  // namespace rushlight::gpu
