// Sorting: a stable radix sort of keys for long lines, ranks by comparing all for short ones.
#include "kernels/sort.h"

#include <algorithm>
#include <numeric>

#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/lines.h"
#include "kernels/host_device.h"
#include "order.h"
#include "select.h"

namespace rushlight {
namespace {

template <class Key>
struct Entry {
  Key key;
  std::int64_t at;
};

template <class Key>
CLONES void count_smaller(const Key* keys, std::size_t n, Key* ranks) {
  std::fill_n(ranks, n, Key(0));
  std::size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    const Key a = keys[j], b = keys[j + 1], c = keys[j + 2], d = keys[j + 3];
    for (std::size_t i = 0; i < n; ++i) {
      const Key k = keys[i];
      ranks[i] += Key(Key(a < k) + Key(b < k) + Key(c < k) + Key(d < k));
    }
  }
  for (; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i) ranks[i] += Key(keys[j] < keys[i]);
}

template <class Key>
void radix(std::vector<Entry<Key>>& a) {
  constexpr int kDigits = sizeof(Key);
  std::vector<std::size_t> counts(std::size_t(kDigits) * 256);
  const auto n = static_cast<std::int64_t>(a.size());
  serial_for(n, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i)
      for (int d = 0; d < kDigits; ++d)
        ++counts[std::size_t(d) * 256 + (a[std::size_t(i)].key >> 8 * d & 255)];
  });
  std::vector<Entry<Key>> b(a.size());
  for (int d = 0; d < kDigits; ++d) {
    std::size_t* const c = &counts[std::size_t(d) * 256];
    if (c[a[0].key >> 8 * d & 255] == a.size()) continue;  // all the same
    std::exclusive_scan(c, c + 256, c, std::size_t(0));
    serial_for(n, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) {
        const Entry<Key>& e = a[std::size_t(i)];
        b[c[e.key >> 8 * d & 255]++] = e;
      }
    });
    a.swap(b);
  }
}

void sort(const View& values, const View& indices, const View& in, int dim, bool descending) {
  if (in.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  const std::int64_t n = lines.length;
  dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    each_line(lines, [&](const auto& at) {
      std::vector<SortKey<T>> keys(static_cast<std::size_t>(n));
      std::vector<T> row(static_cast<std::size_t>(n));
      std::vector<std::int64_t> order(static_cast<std::size_t>(n));
      const T* const x = in.as<const T>() + at[0];
      serial_for(n, [&](std::int64_t i, std::int64_t end) {
        for (; i < end; ++i) {
          const auto k = static_cast<std::size_t>(i);
          const T value = x[i * lines.step[0]];
          row[k] = value;
          keys[k] = sort_key(&value) ^ (descending ? ~SortKey<T>(0) : 0);
        }
      });
      stable_order(keys, order.data());
      serial_for(n, [&](std::int64_t i, std::int64_t end) {
        for (; i < end; ++i) {
          const std::int64_t from = order[static_cast<std::size_t>(i)];
          values.as<T>()[at[1] + i * lines.step[1]] = row[static_cast<std::size_t>(from)];
          indices.as<std::int64_t>()[at[2] + i * lines.step[2]] = from;
        }
      });
    });
  });
}

}  // namespace

template <class Key>
bool rank_keys(const std::vector<Key>& keys, std::vector<Key>& ranks) {
  const std::size_t n = keys.size();
  ranks.resize(n);
  count_smaller(keys.data(), n, ranks.data());
  return std::reduce(ranks.begin(), ranks.end(), std::size_t(0)) == n * (n - 1) / 2;
}
template bool rank_keys(const std::vector<std::uint32_t>&, std::vector<std::uint32_t>&);
template bool rank_keys(const std::vector<std::uint64_t>&, std::vector<std::uint64_t>&);

template <class Key>
void stable_order(std::vector<Key>& keys, std::int64_t* order) {
  const std::size_t n = keys.size();
  if (n <= kFewKeys) {
    std::vector<Key> ranks;
    rank_keys(keys, ranks);
    std::uint8_t taken[kFewKeys] = {};  // by equal keys before
    for (std::size_t i = 0; i < n; ++i) {
      const auto rank = static_cast<std::size_t>(ranks[i]);
      order[rank + taken[rank]++] = static_cast<std::int64_t>(i);
    }
    return;
  }
  std::vector<Entry<Key>> entries(n);
  for (std::size_t i = 0; i < n; ++i) entries[i] = {keys[i], static_cast<std::int64_t>(i)};
  radix(entries);
  for (std::size_t i = 0; i < n; ++i) order[i] = entries[i].at;
}
template void stable_order(std::vector<std::uint32_t>&, std::int64_t*);
template void stable_order(std::vector<std::uint64_t>&, std::int64_t*);

}  // namespace rushlight

const rushlight::SortKernels rushlight::cpu_sort = {sort,   top,    kth,   median,   mode,
                                                    unique, search, count, histogram};
