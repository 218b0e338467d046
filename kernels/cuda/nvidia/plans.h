// What a library's search has chosen, cached for each device under all that it depends on: the
// integers of a struct Problem, hashed and compared as such.
#pragma once
#include <array>
#include <bit>
#include <unordered_map>

#include "kernels/cuda/runtime/devices.h"

namespace rushlight::gpu {

constexpr std::size_t kPlans = 1024;  // of a device

template <class Problem>
using Key = std::array<Index, sizeof(Problem) / sizeof(Index)>;
template <class Problem>
Key<Problem> key_of(const Problem& problem) {
  return std::bit_cast<Key<Problem>>(problem);
}
struct KeyHash {
  template <std::size_t N>
  std::size_t operator()(const std::array<Index, N>& key) const {
    std::uint64_t h = 14695981039346656037ull;
    for (const Index n : key) h = (h ^ std::uint64_t(n)) * 1099511628211ull;
    return std::size_t(h ^ (h >> 29));
  }
};
template <class Problem, class Plan>
using Plans = std::unordered_map<Key<Problem>, Plan, KeyHash>;

// A library's state on a device. Never destroyed, as the library may be gone by then.
template <class PerDevice>
PerDevice& per_device(int index) {
  static auto* all = new PerDevice[kMostDevices];
  return all[index];
}

}  // namespace rushlight::gpu
