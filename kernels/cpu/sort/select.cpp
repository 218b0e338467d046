// Selection along lines: top-k, k-th value, median, mode. Note: lines are read as keys (order.h),
// in which the answer is found where no tie leaves a choice. Ties are resolved by the same
// algorithms, in the same cases, as torch's, so the indices are the same with libstdc++.
#include "select.h"

#include <algorithm>
#include <atomic>

#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/lines.h"
#include "kernels/cpu/scratch.h"
#include "kernels/host_device.h"
#include "order.h"
#include "short_lines.h"

namespace rushlight {
namespace {

// A key and its index; in one word where both fit.
struct alignas(8) Narrow {
  std::uint32_t index, bits;
  Narrow() = default;
  Narrow(std::uint64_t key, Index at) : index(std::uint32_t(at)), bits(std::uint32_t(key)) {}
  std::uint32_t key() const { return bits; }
  Index at() const { return index; }
};
struct Wide {
  std::uint64_t bits;
  Index index;
  Wide() = default;
  Wide(std::uint64_t key, Index at) : bits(key), index(at) {}
  std::uint64_t key() const { return bits; }
  Index at() const { return index; }
};
template <class Key>
using EntryOf = std::conditional_t<sizeof(Key) == 4, Narrow, Wide>;

// What Ctrl-C is checked by: in long lines each comparison counts, which takes half of its time.
struct NotCounted {
  void done(Index) {}
};
constexpr Index kLongLine = 1 << 18;

// Calls f(before): the order of entries in a line of n.
template <class F>
void with_order(Index n, F f) {
  const auto order = [](auto& counter) {
    return [&counter](const auto& a, const auto& b) {
      counter.done(4);
      return a.key() < b.key();
    };
  };
  Interruptible counted;
  NotCounted not_counted;
  n > kLongLine ? f(order(counted)) : f(order(not_counted));
}

// Calls f(memory for n): on the stack where it is little.
template <class T, class F>
void with_room(Index n, F f) {
  constexpr Index kLittle = 128;
  if (n <= kLittle) {
    T little[kLittle];
    return f(static_cast<T*>(little));
  }
  Scratch<T> much(static_cast<std::size_t>(n));
  f(much.data());
}

// The keys at [begin, end).
CLONES void enter(const std::uint32_t* keys, Index begin, Index end, std::uint32_t low,
                  Narrow* to) {
  for (Index i = begin; i < end; ++i) to[i] = Narrow(keys[i] - low, i);
}
CLONES void enter(const std::uint64_t* keys, Index begin, Index end, std::uint64_t low,
                  Narrow* to) {
  for (Index i = begin; i < end; ++i) to[i] = Narrow(keys[i] - low, i);
}
void enter(const std::uint64_t* keys, Index begin, Index end, std::uint64_t low, Wide* to) {
  for (Index i = begin; i < end; ++i) to[i] = Wide(keys[i] - low, i);
}

// Whether the distances of all keys from `low`, wrapped around, fit in 32 bits.
CLONES bool all_near(const std::uint64_t* keys, Index n, std::uint64_t low) {
  std::uint64_t bits = 0;
  for (Index i = 0; i < n; ++i) bits |= keys[i] - low;
  return bits >> 32 == 0;
}

// Calls f(entries, before) for the keys of a line.
template <class Key, class F>
void with_entries(const Key* keys, Index n, F f) {
  const auto of_type = [&]<class Entry>(Type<Entry>, Key low) {
    with_room<Entry>(n, [&](Entry* entries) {
      serial_for(n, [&](Index i, Index end) { enter(keys, i, end, low, entries); });
      with_order(n, [&](auto before) { f(entries, before); });
    });
  };
  if constexpr (sizeof(Key) == 8) {
    // The smallest key would take longer to find than this, which is as good for most lines.
    constexpr Key half = Key(1) << 31;
    const Key low = std::min<Key>(std::max(keys[0], half) - half, Key(0) - 2 * half);
    if (n >> 32 == 0 && all_near(keys, n, low)) return of_type(Type<Narrow>{}, low);
    of_type(Type<Wide>{}, Key(0));
  } else {
    of_type(Type<Narrow>{}, Key(0));
  }
}

// Calls f(line, keys) for each line, its keys read already.
template <class Key, class F>
void lines_of_keys(const Lines<3>& lines, const View& in, bool descending, F&& f) {
  const Index n = lines.length;
  const auto size = Index(item_size(in.dtype));
  each_line(lines, [&](const Index(&at)[3]) {
    with_room<Key>(n, [&](Key* keys) {
      read_keys(in.dtype, in.as<const char>() + at[0] * size, lines.step[0], n, descending, keys);
      f(at, keys);
    });
  });
}

// Writes element `from` of a line as its result at `to`; the output of indices may be absent.
void write(const Lines<3>& lines, const Index (&at)[3], const View& in, const View& values,
           const View& indices, Index from, Index to) {
  const Index x = at[0] + from * lines.step[0], y = at[1] + to * lines.step[1];
  dispatch_size(in.dtype, [&]<class S>(Type<S>) { values.as<S>()[y] = in.as<const S>()[x]; });
  if (indices.numel) indices.as<Index>()[at[2] + to * lines.step[2]] = from;
}

template <class Key>
CLONES Index count_below(const Key* keys, Index n, Key key) {
  Index below = 0;
  for (Index i = 0; i < n; ++i) below += keys[i] < key;
  return below;
}

// Where a stable ascending order has position k, as torch's median() does.
struct StablePlace {
  template <class Key>
  Index operator()(const Key* keys, Index n, Index k) const {
    if (n >= kSampled) {
      const Key key = key_at(keys, n, k);
      Index at = -1, left = k - count_below(keys, n, key);
      while (left-- >= 0) at = std::find(keys + at + 1, keys + n, key) - keys;
      return at;
    }
    Index found = 0;
    with_entries(keys, n, [&](auto* entries, auto before) {
      using Entry = std::remove_pointer_t<decltype(entries)>;
      std::nth_element(entries, entries + k, entries + n, [&](const Entry& a, const Entry& b) {
        return before(a, b) || (a.key() == b.key() && a.at() < b.at());
      });
      found = entries[k].at();
    });
    return found;
  }
};

// Puts first in the order what has position k there, by quickselect with the median of three as in
// "Numerical Recipes" (Press et al.); false where that would take far more time than it should.
template <class Entry, class Before>
bool quickselect(Entry* entries, Index n, Index k, Before before) {
  Index low = 0, high = n - 1, left = 64 * n;
  while (high > low + 1) {
    if ((left -= high - low) < 0) return false;
    std::swap(entries[low + (high - low) / 2], entries[low + 1]);
    if (before(entries[high], entries[low + 1])) std::swap(entries[low + 1], entries[high]);
    if (before(entries[high], entries[low])) std::swap(entries[low], entries[high]);
    if (before(entries[low], entries[low + 1])) std::swap(entries[low + 1], entries[low]);
    const Entry pivot = entries[low];
    Index i = low + 1, j = high;
    for (;;) {
      do ++i;
      while (before(entries[i], pivot));
      do --j;
      while (before(pivot, entries[j]));
      if (j < i) break;
      std::swap(entries[i], entries[j]);
    }
    std::swap(entries[low], entries[j]);
    if (j <= k) low = i;
    if (j >= k) high = j - 1;
  }
  if (high == low + 1 && before(entries[high], entries[low]))
    std::swap(entries[low], entries[high]);
  return true;
}

// Where torch's kthvalue() finds position k among equals.
struct SelectedPlace {
  template <class Key>
  Index operator()(const Key* keys, Index n, Index k) const {
    Index found = 0;
    with_entries(keys, n, [&](auto* entries, auto before) {
      if (!quickselect(entries, n, k, before))
        std::nth_element(entries, entries + k, entries + n, before);
      found = entries[k].at();
    });
    return found;
  }
};

// Whether one of the 64 comes before the worst that was chosen.
template <class Key>
CLONES bool any_before(const Key* keys, Key worst) {
  int any = 0;
  for (int i = 0; i < 64; ++i) any |= keys[i] < worst;
  return any != 0;
}

// The first kMost of a line or fewer, in order, one after another: less time than to choose them.
template <class Key>
struct Nearest {
  static constexpr int kMost = 10;
  using Entry = EntryOf<Key>;
  Entry best[kMost];
  int count = 0;
  // Of n keys, `most` at most.
  Nearest(const Key* keys, Index n, int most) {
    serial_for(n, [&](Index i, Index end) {
      for (; i < std::min<Index>(end, most); ++i) insert(Entry(keys[i], i), count++);
      while (i < end) {
        const Index stop = std::min(end, i + 64);
        if (stop - i == 64 && !any_before(keys + i, Key(best[most - 1].key()))) {
          i = stop;
          continue;
        }
        for (; i < stop; ++i)
          if (keys[i] < best[most - 1].key()) insert(Entry(keys[i], i), most - 1);
      }
    });
  }
  // Whether position k has an equal beside it.
  bool is_tied(Index k) const {
    return (k > 0 && best[k - 1].key() == best[k].key()) ||
           (k + 1 < count && best[k].key() == best[k + 1].key());
  }

 private:
  void insert(Entry entry, int to) {
    for (; to > 0 && entry.key() < best[to - 1].key(); --to) best[to] = best[to - 1];
    best[to] = entry;
  }
};

constexpr Index kNear = Nearest<std::uint32_t>::kMost - 2;  // and an equal of the last of them

// Whether to look for the nearest of a line: where most lines had equals among them, the next will.
class MostlyDistinct {
 public:
  bool expected() const { return balance_.load(std::memory_order_relaxed) > 0; }
  void seen(bool tied) { balance_.fetch_add(tied ? -1 : 1, std::memory_order_relaxed); }

 private:
  std::atomic<Index> balance_{2};
};

// Where an ascending order has position k, among equals by `place`; `any`: or an equal of it.
template <class Key, class Place>
Index place_of(const Key* keys, Index n, Index k, bool any, MostlyDistinct& distinct, Place place) {
  if (any) return std::find(keys, keys + n, key_at(keys, n, k)) - keys;
  if (n < (k < kNear ? 4 * kNear : kSampled)) return place(keys, n, k);
  if (k >= kNear) {
    const Found<Key> found = find_key(keys, n, key_at(keys, n, k));
    return found.count == 1 ? found.at : place(keys, n, k);
  }
  if (!distinct.expected()) return place(keys, n, k);
  const Nearest<Key> nearest(keys, n, int(k) + 2);
  const bool tied = nearest.is_tied(k);
  distinct.seen(tied);
  return tied ? place(keys, n, k) : nearest.best[k].at();
}

constexpr Index kHeapPiece = 2048;

// The first k of a line: a heap of the best so far, as std::partial_sort has it, so that ties come
// out alike; but most of the line is only compared with the worst of them, in vectors.
// read(first, count) gives the keys of a piece.
template <class Key, class Entry, class F>
void partial_sort(Index n, Index k, Entry* heap, const F& read) {
  const auto before = [](const Entry& a, const Entry& b) { return a.key() < b.key(); };
  Interruptible interruptible;
  Entry* const end = heap + k;
  for (Index first = 0; first < n; first += kHeapPiece) {
    const Index m = std::min(kHeapPiece, n - first);
    const Key* const keys = read(first, m);
    Index i = 0;
    for (; first + i < k && i < m; ++i) {
      heap[first + i] = Entry(keys[i], first + i);
      if (first + i == k - 1) std::make_heap(heap, end, before);
    }
    while (i < m) {
      const Index stop = std::min(m, i + 64);
      if (stop - i == 64 && !any_before(keys + i, Key(heap[0].key()))) {
        i = stop;
        continue;
      }
      for (; i < stop; ++i) {
        *end = Entry(keys[i], first + i);
        if (before(*end, heap[0])) std::pop_heap(heap, end + 1, before);
      }
    }
    interruptible.done(m);
  }
  std::sort_heap(heap, end, before);
}

template <class Key>
void top_of_type(const View& values, const View& indices, const View& in, int dim, bool largest,
                 bool sorted, Index k) {
  const Lines<3> lines(dim, in, values, indices);
  const Index n = lines.length;
  const auto write_all = [&](const Index(&at)[3], const auto& chosen) {
    for (Index i = 0; i < k; ++i) write(lines, at, in, values, indices, chosen(i), i);
  };
  const auto by_heap = [&](const Index(&at)[3], const auto& read) {
    Scratch<EntryOf<Key>> heap(static_cast<std::size_t>(k + 1));
    partial_sort<Key>(n, k, heap.data(), read);
    write_all(at, [&](Index i) { return heap[std::size_t(i)].at(); });
  };
  const auto choose = [&](const Index(&at)[3], const Key* keys) {
    with_entries(keys, n, [&](auto* entries, auto before) {
      std::nth_element(entries, entries + k - 1, entries + n, before);
      if (sorted) std::sort(entries, entries + k - 1, before);
      write_all(at, [&](Index i) { return entries[i].at(); });
    });
  };
  if (n <= kShortLine && (sorted || k == 1))
    return each_short_line<Key>(
        lines, in, largest, [&](const Index(&at)[3], const Key* keys, const std::uint8_t* order) {
          bool tied = false;
          for (Index i = 1; i < std::min(n, k + 1); ++i)
            tied |= keys[order[i - 1]] == keys[order[i]];
          if (tied) return choose(at, keys);
          write_all(at, [&](Index i) { return order[i]; });
        });
  constexpr Index kInPieces = 2048;
  if (k * 64 <= n && (k > kNear || n > kInPieces))
    return each_line(lines, [&](const Index(&at)[3]) {
      Key keys[kHeapPiece];
      const auto size = Index(item_size(in.dtype));
      by_heap(at, [&](Index first, Index m) {
        read_keys(in.dtype, in.as<const char>() + (at[0] + first * lines.step[0]) * size,
                  lines.step[0], m, largest, keys);
        return static_cast<const Key*>(keys);
      });
    });
  MostlyDistinct distinct;
  lines_of_keys<Key>(lines, in, largest, [&](const Index(&at)[3], const Key* keys) {
    if (k <= kNear && n >= 4 * kNear && distinct.expected()) {
      const Nearest<Key> nearest(keys, n, int(k) + 1);
      bool tied = false;
      for (Index i = 0; i < k; ++i) tied |= nearest.is_tied(i);
      distinct.seen(tied);
      if (!tied) return write_all(at, [&](Index i) { return nearest.best[i].at(); });
    }
    if (k * 64 <= n) return by_heap(at, [&](Index first, Index) { return keys + first; });
    choose(at, keys);
  });
}

}  // namespace

void top(const View& values, const View& indices, const View& in, int dim, bool largest,
         bool sorted) {
  const Index k = in.rank ? values.sizes[dim] : 1;
  if (values.numel == 0) return;
  with_keys(in.dtype, in.rank ? in.sizes[dim] : 1, [&]<class Key>(Type<Key>) {
    top_of_type<Key>(values, indices, in, dim, largest, sorted, k);
  });
}

void kth(const View& values, const View& indices, const View& in, int dim, Index k) {
  if (values.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  const Index n = lines.length;
  with_keys(in.dtype, n, [&]<class Key>(Type<Key>) {
    if (n <= kShortLine)
      return each_short_line<Key>(
          lines, in, false, [&](const Index(&at)[3], const Key* keys, const std::uint8_t* order) {
            const auto tied = [&](Index i) { return keys[order[i]] == keys[order[k]]; };
            const bool any = (k > 0 && tied(k - 1)) || (k + 1 < n && tied(k + 1));
            write(lines, at, in, values, indices,
                  any ? SelectedPlace{}(keys, n, k) : Index(order[k]), 0);
          });
    MostlyDistinct distinct;
    lines_of_keys<Key>(lines, in, false, [&](const Index(&at)[3], const Key* keys) {
      write(lines, at, in, values, indices, place_of(keys, n, k, false, distinct, SelectedPlace{}),
            0);
    });
  });
}

void median(const View& values, const View& indices, const View& in, int dim, bool ignore_nan) {
  if (values.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  const Index n = lines.length;
  with_keys(in.dtype, n, [&]<class Key>(Type<Key>) {
    const Key nan = nan_key<Key>(in.dtype);
    const auto middle = [](Index numbers) { return std::max<Index>(0, (numbers - 1) / 2); };
    if (n <= kShortLine)
      return each_short_line<Key>(
          lines, in, false, [&](const Index(&at)[3], const Key* keys, const std::uint8_t* order) {
            Index numbers = n;
            if (is_floating(in.dtype))
              while (numbers > 0 && keys[order[numbers - 1]] == nan) --numbers;
            const Index place = numbers < n && !ignore_nan ? numbers : middle(numbers);
            write(lines, at, in, values, indices, order[place], 0);
          });
    MostlyDistinct distinct;
    lines_of_keys<Key>(lines, in, false, [&](const Index(&at)[3], const Key* keys) {
      Index numbers = n;
      if (is_floating(in.dtype)) {
        const Index nans = count_key(keys, n, nan);
        if (nans && !ignore_nan)
          return write(lines, at, in, values, indices, std::find(keys, keys + n, nan) - keys, 0);
        numbers -= nans;
      }
      const bool any = indices.numel == 0;
      write(lines, at, in, values, indices,
            place_of(keys, n, middle(numbers), any, distinct, StablePlace{}), 0);
    });
  });
}

void mode(const View& values, const View& indices, const View& in, int dim) {
  if (values.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  const Index n = lines.length;
  with_keys(in.dtype, n, [&]<class Key>(Type<Key>) {
    // Where the longest run of equals ends among keys in order. No NaN equals another.
    const auto end_of_longest = [&](const auto& key) {
      Index best = 0, longest = 0, run = 0;
      for (Index i = 0; i < n; ++i) {
        ++run;
        const bool is_nan = is_floating(in.dtype) && key(i) == nan_key<Key>(in.dtype);
        if (i + 1 < n && key(i) == key(i + 1) && !is_nan) continue;
        if (run > longest) longest = run, best = i;
        run = 0;
      }
      return best;
    };
    if (n <= kShortLine)
      return each_short_line<Key>(
          lines, in, false, [&](const Index(&at)[3], const Key* keys, const std::uint8_t* order) {
            const Index best = end_of_longest([&](Index i) { return keys[order[i]]; });
            write(lines, at, in, values, indices, order[best], 0);
          });
    lines_of_keys<Key>(lines, in, false, [&](const Index(&at)[3], Key* keys) {
      Scratch<Index> order(static_cast<std::size_t>(n));
      stable_order(keys, n, order.data());
      const Index best = end_of_longest([&](Index i) { return keys[i]; });
      write(lines, at, in, values, indices, order[std::size_t(best)], 0);
    });
  });
}

}  // namespace rushlight
