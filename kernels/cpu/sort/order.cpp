// Orders of keys. Note: what is sorted is a key's distance from the smallest with its position in
// the bits below, in the narrowest integer that holds both. So no two are equal, a sort of any kind
// is stable, and little memory is moved; integers of a small range take one round.
#include "order.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/cpu/gaps.h"
#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/scratch.h"
#include "kernels/host_device.h"

namespace rushlight {
namespace {

using Index = std::int64_t;

template <class Key, class T>
CLONES_512 void dense_keys(const T* x, Index n, Key flip, Key* keys) {
  for (Index i = 0; i < n; ++i) keys[i] = Key(sort_key(x + i)) ^ flip;
}

// The keys at [begin, end).
template <class Key, class Packed>
CLONES_512 void pack(const Key* keys, Index begin, Index end, Key low, int lost, int bits,
                     Packed* to) {
  for (Index i = begin; i < end; ++i)
    to[i] = Packed(Packed((keys[i] - low) >> lost) << bits | Packed(i));
}
template <class Key, class Packed>
CLONES_512 void unpack(const Packed* from, Index n, Key low, int bits, Key* keys, Index* order) {
  const auto mask = Packed((Packed(1) << bits) - 1);
  for (Index i = 0; i < n; ++i) {
    keys[i] = Key(low + Key(from[i] >> bits));
    order[i] = Index(from[i] & mask);
  }
}

constexpr Index kKeyLanes = 32;

// The others are compared with eight of them at a time.
template <class Key>
CLONES_512 void count_smaller(const Key* keys, Index n, Index padded, Key* ranks) {
  std::fill_n(ranks, padded, Key(0));
  Index j = 0;
  for (; j + 8 <= n; j += 8) {
    const Key a = keys[j], b = keys[j + 1], c = keys[j + 2], d = keys[j + 3];
    const Key e = keys[j + 4], f = keys[j + 5], g = keys[j + 6], h = keys[j + 7];
    for (Index i = 0; i < padded; ++i) {
      const Key k = keys[i];
      ranks[i] += Key(Key(Key(a < k) + Key(b < k)) + Key(Key(c < k) + Key(d < k))) +
                  Key(Key(Key(e < k) + Key(f < k)) + Key(Key(g < k) + Key(h < k)));
    }
  }
  for (; j < n; ++j)
    for (Index i = 0; i < padded; ++i) ranks[i] += Key(keys[j] < keys[i]);
}

// Few keys, by their ranks: in whole vectors, padded by what is greater than every key. Keys that
// do not fit lose their low bits, and are put right where that has made some equal.
template <class Packed, class Key>
void order_few(Key* keys, Index n, Key low, int key_bits, int bits, Index* order) {
  Packed packed[kFewKeys], ranks[kFewKeys], sorted[kFewKeys];
  const Index padded = (n + kKeyLanes - 1) / kKeyLanes * kKeyLanes;
  const int lost = std::max(0, key_bits + bits - int(8 * sizeof(Packed)));
  std::fill_n(packed, padded, Packed(~Packed(0)));
  pack(keys, 0, n, low, lost, bits, packed);
  count_smaller(packed, n, padded, ranks);
  for (Index i = 0; i < n; ++i) sorted[std::size_t(ranks[i])] = packed[i];
  const auto mask = std::size_t((Packed(1) << bits) - 1);
  if (lost == 0) return unpack(sorted, n, low, bits, keys, order);
  Key full[kFewKeys];
  std::copy_n(keys, n, full);
  for (Index i = 0; i < n; ++i) {
    const auto from = std::size_t(sorted[i]) & mask;
    Index to = i;
    for (; to > 0 && keys[to - 1] > full[from]; --to)
      keys[to] = keys[to - 1], order[to] = order[to - 1];
    keys[to] = full[from], order[to] = Index(from);
  }
}

// Sorts by the bits [shift, shift + bits); the result is in the one that is returned.
template <class Packed>
Packed* radix(Packed* a, Packed* b, Index n, int shift, int bits) {
  const int widest = n < 4096 ? 9 : 11, rounds = (bits + widest - 1) / widest;
  if (rounds == 0) return a;
  const int width = (bits + rounds - 1) / rounds;
  const auto buckets = std::size_t(1) << width, mask = buckets - 1;
  Scratch<std::size_t> counts(buckets * std::size_t(rounds));
  counts.zero();
  serial_for(n, [&](Index i, Index end) {
    for (; i < end; ++i)
      for (int r = 0; r < rounds; ++r)
        ++counts[std::size_t(r) * buckets + (std::size_t(a[i] >> (shift + r * width)) & mask)];
  });
  for (int r = 0; r < rounds; ++r, shift += width) {
    std::size_t* const to = counts.data() + std::size_t(r) * buckets;
    if (to[std::size_t(a[0] >> shift) & mask] == std::size_t(n)) continue;  // all the same
    std::exclusive_scan(to, to + buckets, to, std::size_t(0));
    serial_for(n, [&](Index i, Index end) {
      for (; i < end; ++i) b[to[std::size_t(a[i] >> shift) & mask]++] = a[i];
    });
    std::swap(a, b);
  }
  return a;
}

template <class Packed, class Key>
void order_many(Key* keys, Index n, Key low, int key_bits, int place_bits, Index* order) {
  const auto count = static_cast<std::size_t>(n);
  Scratch<Packed> a(count), b(count);
  serial_for(n, [&](Index i, Index end) { pack(keys, i, end, low, 0, place_bits, a.data()); });
  const Packed* const sorted = radix(a.data(), b.data(), n, place_bits, key_bits);
  serial_for(n, [&](Index i, Index end) {
    unpack(sorted + i, end - i, low, place_bits, keys + i, order + i);
  });
}

// Keys that leave no room for a position: first by the lower half of their bits, then by the upper.
void order_by_halves(std::uint64_t* keys, Index n, Index* order) {
  struct Entry {
    std::uint64_t key;
    Index at;
    std::uint64_t operator>>(int bits) const { return key >> bits; }
  };
  const auto count = static_cast<std::size_t>(n);
  Scratch<Entry> a(count), b(count);
  serial_for(n, [&](Index i, Index end) {
    for (; i < end; ++i) a[std::size_t(i)] = {keys[i], i};
  });
  const Entry* const sorted = radix(a.data(), b.data(), n, 0, 64);
  serial_for(n, [&](Index i, Index end) {
    for (; i < end; ++i) keys[i] = sorted[i].key, order[i] = sorted[i].at;
  });
}

}  // namespace

template <class Key>
void read_keys(DType dtype, const void* x, Index step, Index n, bool descending, Key* keys) {
  const Key flip = descending ? ~Key(0) : Key(0);
  dispatch_all(dtype, [&]<class T>(Type<T>) {
    const T* const from = static_cast<const T*>(x);
    constexpr bool same = sizeof(SortKey<T>) == sizeof(Key);
    if constexpr (same)
      if (step == 1)
        return serial_for(
            n, [&](Index i, Index end) { dense_keys(from + i, end - i, flip, keys + i); });
    serial_for(n, [&](Index i, Index end) {
      if constexpr (same) {
        constexpr Index kTogether = 512;
        T together[kTogether];
        for (; i < end; i += kTogether) {
          const Index m = std::min(kTogether, end - i);
          bring_together(together, from + i * step, sizeof(T), step, m);
          dense_keys(static_cast<const T*>(together), m, flip, keys + i);
        }
      } else {
        for (; i < end; ++i) keys[i] = Key(sort_key(from + i * step)) ^ flip;
      }
    });
  });
}

template <class Key>
static CLONES_512 KeyRange<Key> widened(KeyRange<Key> range, const Key* keys, Index n) {
  auto [low, high] = range;
  for (Index i = 0; i < n; ++i) {
    low = keys[i] < low ? keys[i] : low;
    high = keys[i] > high ? keys[i] : high;
  }
  return {low, high};
}
template <class Key>
KeyRange<Key> key_range(const Key* keys, Index n) {
  KeyRange<Key> range{~Key(0), 0};
  serial_for(n, [&](Index i, Index end) { range = widened(range, keys + i, end - i); });
  return range;
}

// Each key goes behind those that are not greater.
template <class Key>
static void insert_keys(Key* keys, Index n, Index* order) {
  for (Index i = 0; i < n; ++i) {
    const Key key = keys[i];
    Index to = i;
    for (; to > 0 && keys[to - 1] > key; --to) keys[to] = keys[to - 1], order[to] = order[to - 1];
    keys[to] = key, order[to] = i;
  }
}

template <class Key>
void stable_order(Key* keys, Index n, Index* order) {
  constexpr Index kTiny = 8;  // less than it takes to look at what they are
  if (n <= kTiny) return insert_keys(keys, n, order);
  // Of few keys without another call.
  const auto [low, high] = n <= kFewKeys ? widened({~Key(0), 0}, keys, n) : key_range(keys, n);
  const auto key_bits = int(std::bit_width(high - low));
  const auto place_bits = int(std::bit_width(std::uint64_t(n - 1)));
  const int bits = key_bits + place_bits;
  if (n <= kFewKeys && bits <= 16)
    return order_few<std::uint16_t>(keys, n, low, key_bits, place_bits, order);
  if (n <= kFewKeys) return order_few<std::uint32_t>(keys, n, low, key_bits, place_bits, order);
  if (bits <= 32) return order_many<std::uint32_t>(keys, n, low, key_bits, place_bits, order);
  if (bits <= 64) return order_many<std::uint64_t>(keys, n, low, key_bits, place_bits, order);
  if constexpr (sizeof(Key) == 8) order_by_halves(keys, n, order);
}

namespace {
// In pieces so short that one sum holds how many were equal, above kUnit, and where: below.
constexpr Index kPiece = 1024;
constexpr std::uint32_t kUnit = 1 << 20;
template <class Key>
struct Piece {
  Key equal, next;
};
template <class Key>
CLONES_512 Piece<Key> find_in_piece(const Key* x, Index n, Key key) {
  constexpr Index N = kKeyLanes;
  Key equal[N], next[N];
  for (Index k = 0; k < N; ++k) equal[k] = 0, next[k] = ~Key(0);
  Index i = 0;
  for (; i + N <= n; i += N)
    for (Index k = 0; k < N; ++k) {
      const Key v = x[i + k], above = v > key ? v : ~Key(0);
      equal[k] += v == key ? Key(kUnit + Key(i + k)) : Key(0);
      next[k] = above < next[k] ? above : next[k];
    }
  if (n >= N) {  // the rest by the last lanes of the last N
    const Key* const last = x + n - N;
    for (Index k = 0; k < N; ++k) {
      const Key v = last[k], above = v > key ? v : ~Key(0);
      equal[k] += (v == key) & (k >= N - (n - i)) ? Key(kUnit + Key(n - N + k)) : Key(0);
      next[k] = above < next[k] ? above : next[k];
    }
    i = n;
  }
  for (; i < n; ++i) {
    const Key v = x[i], above = v > key ? v : ~Key(0);
    equal[0] += v == key ? Key(kUnit + Key(i)) : Key(0);
    next[0] = above < next[0] ? above : next[0];
  }
  for (Index half = N / 2; half; half /= 2)
    for (Index k = 0; k < half; ++k) {
      equal[k] += equal[k + half];
      next[k] = next[k + half] < next[k] ? next[k + half] : next[k];
    }
  return {equal[0], next[0]};
}
}  // namespace

template <class Key>
Found<Key> find_key(const Key* keys, Index n, Key key) {
  Found<Key> found{0, 0, ~Key(0)};
  serial_for(n, [&](Index first, Index end) {
    for (; first < end; first += kPiece) {
      const auto [equal, next] = find_in_piece(keys + first, std::min(kPiece, end - first), key);
      found.count += Index(equal / kUnit);
      if (equal) found.at = first + Index(equal % kUnit);
      found.next = std::min(found.next, next);
    }
  });
  return found;
}

namespace {
struct Counts {
  Index below, equal;
};
template <class Key>
CLONES_512 void count(const Key* keys, Index n, Key key, Counts& all) {
  for (Index first = 0; first < n; first += kPiece) {
    const Index m = std::min(kPiece, n - first);
    Key below = 0, equal = 0;
    for (Index i = 0; i < m; ++i) {
      below += Key(keys[first + i] < key);
      equal += Key(keys[first + i] == key);
    }
    all.below += Index(below), all.equal += Index(equal);
  }
}
template <class Key>
Counts counts_of(const Key* keys, Index n, Key key) {
  Counts all{0, 0};
  serial_for(n, [&](Index i, Index end) { count(keys + i, end - i, key, all); });
  return all;
}

// Brings together the keys of [low, high].
template <class Key>
Index keep_between(const Key* keys, Index n, Key low, Key high, Key* to) {
  Index kept = 0;
  serial_for(n, [&](Index i, Index end) {
    Index count = kept;  // in a register: a store may be to `kept`, for all that gcc knows
    for (; i < end; ++i) {  // each is written, and kept by counting on
      const Key key = keys[i];
      to[count] = key;
      count += Key(key - low) <= Key(high - low);
    }
    kept = count;
  });
  return kept;
}
}  // namespace

template <class Key>
Index count_key(const Key* keys, Index n, Key key) {
  return counts_of(keys, n, key).equal;
}

// Three keys of a sample: the one at the same quantile is tried first, and the others
// enclose the one at k, most likely. What lies between them is all that the next round looks at.
template <class Key>
Key key_at(const Key* keys, Index n, Index k) {
  constexpr Index kSample = kSampled / 4, kAway = 16;
  const auto room = static_cast<std::size_t>(n);
  Scratch<Key> held(room), other(room);
  Interruptible interruptible;
  while (n > kSampled) {
    Key sample[kSample];
    Index order[kSample];
    for (Index i = 0; i < kSample; ++i) sample[i] = keys[i * (n / kSample)];
    stable_order(sample, kSample, order);
    const auto at = Index(double(k) / double(n) * kSample);
    const auto [less, equal] = counts_of(keys, n, sample[at]);
    if (k >= less && k < less + equal) return sample[at];
    // the key lies on this side of the middle one, which is left out
    const bool above = k >= less;
    const Key low = above ? Key(sample[at] + 1) : at < kAway ? Key(0) : sample[at - kAway];
    const Key high = !above                 ? Key(sample[at] - 1)
                     : at + kAway < kSample ? sample[at + kAway]
                                            : ~Key(0);
    const Index below = above ? less + equal : counts_of(keys, n, low).below;
    Key* const to = keys == held.data() ? other.data() : held.data();
    const Index between = k < below || low > high ? 0 : keep_between(keys, n, low, high, to);
    interruptible.done(2 * n);
    if (k < below || k >= below + between) break;
    keys = to, n = between, k -= below;
  }
  Key* const to = keys == held.data() ? held.data() : std::copy_n(keys, n, held.data()) - n;
  std::nth_element(to, to + k, to + n, [&](Key a, Key b) {
    interruptible.done(1);
    return a < b;
  });
  return to[k];
}

template void read_keys(DType, const void*, Index, Index, bool, std::uint32_t*);
template void read_keys(DType, const void*, Index, Index, bool, std::uint64_t*);
template KeyRange<std::uint32_t> key_range(const std::uint32_t*, Index);
template KeyRange<std::uint64_t> key_range(const std::uint64_t*, Index);
template void stable_order(std::uint32_t*, Index, Index*);
template void stable_order(std::uint64_t*, Index, Index*);
template Found<std::uint32_t> find_key(const std::uint32_t*, Index, std::uint32_t);
template Found<std::uint64_t> find_key(const std::uint64_t*, Index, std::uint64_t);
template Index count_key(const std::uint32_t*, Index, std::uint32_t);
template Index count_key(const std::uint64_t*, Index, std::uint64_t);
template std::uint32_t key_at(const std::uint32_t*, Index, Index);
template std::uint64_t key_at(const std::uint64_t*, Index, Index);

}  // namespace rushlight
