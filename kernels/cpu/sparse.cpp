// Products with sparse matrices. Note: entries that follow each other in one row are added up in
// registers, some columns at a time; a row that comes again is added to what it has. Where the rows
// ascend, each thread has some of them, else some of the columns.
#include "../sparse.h"

#include <algorithm>
#include <atomic>

#include "../dtype.h"
#include "../host_device.h"
#include "../parallel.h"
#include "read_once.h"

namespace rushlight {
namespace {

using Index = std::int64_t;
constexpr Index kAhead = 12;  // entries whose rows are fetched before they are needed

template <class T>
struct Operands {
  const Index *rows, *columns;
  const T *values, *dense;
  T* out;
  Index n, m, width;
};

// Elements of a row side by side, at any address.
template <class T, int bytes>
struct Lanes {
  using Type __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias)) = T;
};

// Entries [begin, end), Count columns from `first` on.
template <int Count, class T>
CLONES_512 Index add_columns(const Operands<T>& o, Index begin, Index end, Index first) {
  constexpr int kBytes = std::min<int>(32, Count * sizeof(T));
  constexpr int kParts = Count * int(sizeof(T)) / kBytes;
  using V = typename Lanes<T, kBytes>::Type;
  const Index *const rows = o.rows, *const columns = o.columns;
  const T *const values = o.values, *const dense = o.dense + first;
  const Index n = o.n, m = o.m, width = o.width;
  for (Index e = begin; e < end;) {
    const Index row = checked_index(rows + e, n);
    if (row < 0) return e;
    V sums[kParts] = {};
    do {
      const Index column = checked_index(columns + e, m);
      if (column < 0) return e;
      if (e + kAhead < end)
        if (const Index next = checked_index(columns + e + kAhead, m); next >= 0)
          for (int i = 0; i < Count; i += 64 / int(sizeof(T)))
            __builtin_prefetch(dense + next * width + i);
      const T value = values[e];
      const V* const from = reinterpret_cast<const V*>(dense + column * width);
#pragma GCC unroll 16
      for (int i = 0; i < kParts; ++i) sums[i] += value * from[i];
      ++e;
    } while (e < end && read_once(rows + e) == row);
    V* const to = reinterpret_cast<V*>(o.out + row * width + first);
#pragma GCC unroll 16
    for (int i = 0; i < kParts; ++i) to[i] += sums[i];
  }
  return -1;
}

template <class T>
Index add_entries(const Operands<T>& o, Index begin, Index end, Index first, Index last) {
  Index bad = -1;
  while (first < last && bad < 0) {
    const Index left = last - first;
    const auto add = [&]<int Count>(std::integral_constant<int, Count>) {
      bad = add_columns<Count>(o, begin, end, first);
      first += Count;
    };
    if (left >= 64)
      add(std::integral_constant<int, 64>());
    else if (left >= 32)
      add(std::integral_constant<int, 32>());
    else if (left >= 16)
      add(std::integral_constant<int, 16>());
    else if (left >= 8)
      add(std::integral_constant<int, 8>());
    else if (left >= 4)
      add(std::integral_constant<int, 4>());
    else
      add(std::integral_constant<int, 1>());
  }
  return bad;
}

// In pieces short enough that Ctrl-C is answered between them.
template <class T>
Index add_pieces(const Operands<T>& o, Index begin, Index end, Index first, Index last) {
  const Index piece = 1 + 16'000'000 / std::max<Index>(last - first, 1);
  Index bad = -1;
  for (; begin < end && bad < 0; begin += piece) {
    bad = add_entries(o, begin, std::min(end, begin + piece), first, last);
    check_interrupt();
  }
  return bad;
}

Index first_of(std::atomic<Index>& bad, Index found) {
  if (found >= 0) bad = found;
  return bad;
}

template <class T>
Index product(const Operands<T>& o, Index entries) {
  const Index work = entries * std::max<Index>(o.width, 1);
  const Index parts = std::clamp<Index>(work / 65536, 1, num_threads());
  if (parts == 1) return add_pieces(o, 0, entries, 0, o.width);
  std::atomic<Index> bad = -1;
  if (std::is_sorted(o.rows, o.rows + entries)) {
    const auto start = [&](Index part) {  // at the first entry of a row
      Index at = entries / parts * part + std::min(part, entries % parts);
      while (at > 0 && at < entries && o.rows[at] == o.rows[at - 1]) ++at;
      return at;
    };
    parallel_for(parts, 1, [&](Index begin, Index end) {
      first_of(bad, add_pieces(o, start(begin), start(end), 0, o.width));
    });
  } else {
    const Index blocks = (o.width + 15) / 16;
    parallel_for(blocks, 1, [&](Index begin, Index end) {
      first_of(bad, add_pieces(o, 0, entries, begin * 16, std::min(end * 16, o.width)));
    });
  }
  return bad;
}

Index product(const View& rows, const View& columns, const View& values, const View& dense,
              const View& out) {
  const auto run = [&]<class T>(Type<T>) {
    return product(
        Operands<T>{rows.as<const Index>(), columns.as<const Index>(), values.as<const T>(),
                    dense.as<const T>(), out.as<T>(), out.sizes[0], dense.sizes[0], out.sizes[1]},
        rows.numel);
  };
  return values.dtype == DType::float64 ? run(Type<double>()) : run(Type<float>());
}

template <class T>
CLONES_512 Index dots_of(const Index* rows, const Index* columns, const T* a, const T* b, T* out,
                         Index n, Index m, Index width, Index begin, Index end) {
  using V = typename Lanes<T, 32>::Type;
  constexpr Index kLanes = 32 / sizeof(T);
  for (Index e = begin; e < end; ++e) {
    const Index row = checked_index(rows + e, n), column = checked_index(columns + e, m);
    if (row < 0 || column < 0) return e;
    if (e + kAhead < end)
      if (const Index next = checked_index(columns + e + kAhead, m); next >= 0)
        for (Index i = 0; i < width; i += 64 / Index(sizeof(T)))
          __builtin_prefetch(b + next * width + i);
    const T *x = a + row * width, *y = b + column * width;
    V sums = {};
    T sum = 0;
    Index i = 0;
    for (; i + kLanes <= width; i += kLanes)
      sums += *reinterpret_cast<const V*>(x + i) * *reinterpret_cast<const V*>(y + i);
    for (; i < width; ++i) sum += x[i] * y[i];
    for (Index k = 0; k < kLanes; ++k) sum += sums[k];
    out[e] = sum;
  }
  return -1;
}

Index dots(const View& rows, const View& columns, const View& a, const View& b, const View& out) {
  const auto run = [&]<class T>(Type<T>) {
    std::atomic<Index> bad = -1;
    const Index grain = 1 + 32768 / std::max<Index>(a.sizes[1], 1);
    parallel_for(out.numel, grain, [&](Index begin, Index end) {
      first_of(bad, dots_of(rows.as<const Index>(), columns.as<const Index>(), a.as<const T>(),
                            b.as<const T>(), out.as<T>(), a.sizes[0], b.sizes[0], a.sizes[1], begin,
                            end));
    });
    return Index(bad);
  };
  return out.dtype == DType::float64 ? run(Type<double>()) : run(Type<float>());
}

}  // namespace

const SparseKernels cpu_sparse = {product, dots};

}  // namespace rushlight
