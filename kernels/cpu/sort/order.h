// Elements as unsigned keys in the same order, and a stable order of keys.
#pragma once
#include <vector>

#include "kernels/dtype.h"

namespace rushlight {

// -0 equals 0 and every NaN is the same greatest key.
template <class T>
using SortKey = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
inline SortKey<T> sort_key(const T* p) {
  using Key = SortKey<T>;
  constexpr Key top = Key(1) << (sizeof(Key) * 8 - 1);
  const auto x = load(p);
  if constexpr (std::is_floating_point_v<decltype(x)>) {
    if (x != x) return ~Key(0);
    const auto positive_zero = x + decltype(x)(0);
    Key bits;
    std::memcpy(&bits, &positive_zero, sizeof bits);
    return bits & top ? ~bits : bits | top;
  } else {
    using Signed = std::make_signed_t<Key>;
    return static_cast<Key>(static_cast<Signed>(x)) ^ top;
  }
}

// ranks[i] = how many keys are smaller than the i-th, for at most kFewKeys: n^2 comparisons in
// vectors take less than a sort's mispredicted branches. Equal keys have one rank; the result says
// whether there are none.
inline constexpr std::size_t kFewKeys = 256;
template <class Key>
bool rank_keys(const std::vector<Key>& keys, std::vector<Key>& ranks);
extern template bool rank_keys(const std::vector<std::uint32_t>&, std::vector<std::uint32_t>&);
extern template bool rank_keys(const std::vector<std::uint64_t>&, std::vector<std::uint64_t>&);

// order[i] becomes the index of the i-th smallest key; equals keep their order. Keys are consumed.
template <class Key>
void stable_order(std::vector<Key>& keys, std::int64_t* order);

extern template void stable_order(std::vector<std::uint32_t>&, std::int64_t*);
extern template void stable_order(std::vector<std::uint64_t>&, std::int64_t*);

}  // namespace rushlight
