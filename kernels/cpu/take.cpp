// Every second element, which is what strides mostly are, is taken by whole vectors.
#include "take.h"

#include <cstring>

#include "../host_device.h"

namespace rushlight {
namespace {

template <class S>
CLONES void take_every_second(S* __restrict to, const S* __restrict from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[2 * i];
}

template <class S>
void take_of(void* to, const void* from, std::int64_t stride, std::int64_t n) {
  auto* const y = static_cast<S*>(to);
  const auto* const x = static_cast<const S*>(from);
  if (stride == 2) return take_every_second(y, x, n);
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i * stride];
}

}  // namespace

void take(void* to, const void* from, std::int64_t stride, std::int64_t n, std::size_t size) {
  switch (size) {
    case 1: return take_of<std::uint8_t>(to, from, stride, n);
    case 2: return take_of<std::uint16_t>(to, from, stride, n);
    case 4: return take_of<std::uint32_t>(to, from, stride, n);
    default: return take_of<std::uint64_t>(to, from, stride, n);
  }
}

}  // namespace rushlight
