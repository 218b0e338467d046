// The order of short lines by comparing all elements with each other: no branch to be guessed.
#include "short_lines.h"

#include "kernels/host_device.h"

namespace rushlight {
namespace {

// ranks[i] = how many of n vectors of keys come before the i-th: those below, and equals in front.
template <class Signed>
CLONES void stable_ranks(const Signed* keys, Index n, Signed* ranks) {
  using Vector __attribute__((vector_size(32))) = Signed;
  constexpr int kVectors = kTogether * int(sizeof(Signed)) / 32;
  const auto* const all = reinterpret_cast<const Vector*>(keys);
  auto* const of_all = reinterpret_cast<Vector*>(ranks);
  for (int v = 0; v < kVectors; ++v)
    for (Index i = 0; i < n; ++i) {
      const Vector key = all[i * kVectors + v];
      Vector rank = Vector{} + Signed(i);
      for (Index k = 0; k < i; ++k) rank += all[k * kVectors + v] > key;  // a comparison gives -1
      for (Index k = i + 1; k < n; ++k) rank -= all[k * kVectors + v] < key;
      of_all[i * kVectors + v] = rank;
    }
}

}  // namespace

template <class Key>
void short_orders(const Key* keys, int lines, Index n, std::uint8_t* orders) {
  using Signed = std::make_signed_t<Key>;  // compared by one instruction
  constexpr Key top = Key(1) << (sizeof(Key) * 8 - 1);
  alignas(64) Signed across[kShortLine * kTogether] = {}, ranks[kShortLine * kTogether];
  for (int k = 0; k < lines; ++k)
    for (Index i = 0; i < n; ++i) across[i * kTogether + k] = Signed(keys[k * n + i] ^ top);
  stable_ranks(across, n, ranks);
  for (int k = 0; k < lines; ++k, orders += n)
    for (Index i = 0; i < n; ++i) orders[ranks[i * kTogether + k]] = std::uint8_t(i);
}
template void short_orders(const std::uint32_t*, int, Index, std::uint8_t*);
template void short_orders(const std::uint64_t*, int, Index, std::uint8_t*);

}  // namespace rushlight
