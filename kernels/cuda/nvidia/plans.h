// What a library's search has chosen, kept for each device under all that it depends on: the
// numbers of a struct Facts, hashed and compared as such.
#pragma once
#include <array>
#include <bit>
#include <unordered_map>

#include "kernels/cuda/runtime/devices.h"

namespace rushlight::gpu {

constexpr std::size_t kPlans = 1024;  // of a device

template <class Facts>
using Numbers = std::array<Index, sizeof(Facts) / sizeof(Index)>;
template <class Facts>
Numbers<Facts> numbers_of(const Facts& facts) {
  return std::bit_cast<Numbers<Facts>>(facts);
}
struct NumbersHash {
  template <std::size_t N>
  std::size_t operator()(const std::array<Index, N>& numbers) const {
    std::uint64_t h = 14695981039346656037ull;
    for (const Index n : numbers) h = (h ^ std::uint64_t(n)) * 1099511628211ull;
    return std::size_t(h ^ (h >> 29));
  }
};
template <class Facts, class Plan>
using Plans = std::unordered_map<Numbers<Facts>, Plan, NumbersHash>;

// A library's state on a device. Never destroyed, as the library may be gone by then.
template <class PerDevice>
PerDevice& per_device(int index) {
  static auto* all = new PerDevice[kMostDevices];
  return all[index];
}

}  // namespace rushlight::gpu
