// Elements as unsigned keys in the same order, a stable order of keys, and one of them.
#pragma once
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
    const auto positive_zero = x + decltype(x)(0);
    Key bits;
    std::memcpy(&bits, &positive_zero, sizeof bits);
    const Key ordered = bits ^ ((Key(0) - (bits >> (sizeof(Key) * 8 - 1))) | top);
    return x != x ? ~Key(0) : ordered;
  } else {
    using Signed = std::make_signed_t<Key>;
    return static_cast<Key>(static_cast<Signed>(x)) ^ top;
  }
}

// Calls f(Type<Key>{}) for the keys of n elements: of 32 bits, unless the elements have 64 or their
// positions need more.
template <class F>
auto with_keys(DType dtype, std::int64_t n, F&& f) {
  if (item_size(dtype) == 8 || n > std::int64_t(~std::uint32_t(0))) return f(Type<std::uint64_t>{});
  return f(Type<std::uint32_t>{});
}

// The key of a NaN of that type.
template <class Key>
Key nan_key(DType dtype) {
  return item_size(dtype) == 8 ? ~Key(0) : Key(~std::uint32_t(0));
}

// The keys of n elements, `step` apart; `descending`: in the opposite order.
template <class Key>
void read_keys(DType dtype, const void* x, std::int64_t step, std::int64_t n, bool descending,
               Key* keys);

template <class Key>
struct KeyRange {
  Key low, high;
};
template <class Key>
KeyRange<Key> key_range(const Key* keys, std::int64_t n);

// Up to so many keys are compared with each other, in vectors: it takes less than a sort's
// mispredicted branches.
inline constexpr std::int64_t kFewKeys = 256;

// Sorts the keys; order[i] becomes the index of the i-th smallest, equals keep their order.
template <class Key>
void stable_order(Key* keys, std::int64_t n, std::int64_t* order);

// How many keys equal `key`, where it is if it is the only one, and the smallest of those above it:
// where there are none, the greatest number.
template <class Key>
struct Found {
  std::int64_t count, at;
  Key next;
};
template <class Key>
Found<Key> find_key(const Key* keys, std::int64_t n, Key key);

template <class Key>
std::int64_t count_key(const Key* keys, std::int64_t n, Key key);

// The key that an ascending order has at position k: in a line longer than that by way of a sample.
inline constexpr std::int64_t kSampled = 512;
template <class Key>
Key key_at(const Key* keys, std::int64_t n, std::int64_t k);

}  // namespace rushlight
