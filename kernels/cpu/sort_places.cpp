// Distinct rows, places in sorted rows, counts and histograms.
#include <algorithm>
#include <numeric>

#include "../parallel.h"
#include "patience.h"
#include "read_once.h"
#include "sort_order.h"
#include "sort_select.h"

namespace rushlight {
namespace {

template <class T>
const T* row_of(const View& v, std::int64_t r) {
  return v.as<const T>() + r * v.strides[0];
}

// Lexicographic; a NaN is greatest for the order but equals nothing, itself included.
template <class T>
bool before(const View& v, std::int64_t a, std::int64_t b) {
  const T *x = row_of<T>(v, a), *y = row_of<T>(v, b);
  for (std::int64_t i = 0; i < v.sizes[1]; ++i) {
    const auto p = sort_key(x + i * v.strides[1]), q = sort_key(y + i * v.strides[1]);
    if (p != q) return p < q;
  }
  return false;
}
template <class T>
bool equal(const View& v, std::int64_t a, std::int64_t b) {
  const T *x = row_of<T>(v, a), *y = row_of<T>(v, b);
  for (std::int64_t i = 0; i < v.sizes[1]; ++i)
    if (!(load(x + i * v.strides[1]) == load(y + i * v.strides[1]))) return false;
  return true;
}

template <class T>
void order_rows(const View& in, std::vector<std::int64_t>& order) {
  if (in.sizes[1] == 1) {
    std::vector<SortKey<T>> keys(order.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = sort_key(row_of<T>(in, static_cast<std::int64_t>(i)));
    return stable_order(keys, order.data());
  }
  Patience patience;
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    patience.done(16);
    return before<T>(in, a, b);
  });
}

// The count of elements in x[0, n) that go before `value`.
template <class T, class At>
std::int64_t place(const T& value, std::int64_t n, bool right, At&& at) {
  std::int64_t from = 0;
  while (n > 0) {
    const std::int64_t half = n / 2;
    const auto middle = at(from + half);
    if (right ? !(middle > value) : !(middle >= value)) {
      from += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return from;
}

}  // namespace

std::int64_t unique(const View& in, bool consecutive, std::int64_t* first, std::int64_t* inverse,
                    std::int64_t* counts) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(in.sizes[0]));
  std::iota(order.begin(), order.end(), 0);
  return dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    if (!consecutive) order_rows<T>(in, order);
    std::int64_t found = 0, last = -1;
    Patience patience;
    for (const std::int64_t row : order) {
      patience.done(4);
      if (last < 0 || !equal<T>(in, last, row)) {
        first[found] = row;
        counts[found++] = 0;
      }
      ++counts[found - 1];
      inverse[row] = found - 1;
      last = row;
    }
    return found;
  });
}

std::int64_t search(const View& out, const View& sorted, const View& values, const View* sorter,
                    bool right) {
  const std::int64_t n = sorted.sizes[1], columns = values.sizes[1];
  if (sorter) {
    for (std::int64_t i = 0; i < sorter->numel; ++i) {
      const std::int64_t at = row_of<std::int64_t>(*sorter, i / n)[i % n * sorter->strides[1]];
      if (at < 0 || at >= n) return i;
    }
  }
  dispatch_all(sorted.dtype, [&]<class T>(Type<T>) {
    parallel_for(values.numel, 1 << 11, [&](std::int64_t from, std::int64_t to) {
      for (; from < to; ++from) {
        const std::int64_t r = from / columns, c = from % columns;
        const std::int64_t row = sorted.sizes[0] == 1 ? 0 : r;
        const T* const x = row_of<T>(sorted, row);
        const std::int64_t* const by = sorter ? row_of<std::int64_t>(*sorter, row) : nullptr;
        const auto value = load(row_of<T>(values, r) + c * values.strides[1]);
        const std::int64_t found = place(value, n, right, [&](std::int64_t i) {
          // It may have changed since it was checked; then any place is as good as another.
          if (by) i = std::max<std::int64_t>(checked_index(by + i * sorter->strides[1], n), 0);
          return load(x + i * sorted.strides[1]);
        });
        const std::int64_t at = r * out.strides[0] + c * out.strides[1];
        if (out.dtype == DType::int32) {
          out.as<std::int32_t>()[at] = static_cast<std::int32_t>(found);
        } else {
          out.as<std::int64_t>()[at] = found;
        }
      }
    });
  });
  return -1;
}

void count(const View& out, const View& in, const View* weights) {
  dispatch_all(out.dtype, [&]<class T>(Type<T>) {
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_floating_point_v<T>) {
      std::fill_n(out.as<T>(), out.numel, T(0));
      Patience patience;
      for (std::int64_t i = 0; i < in.numel; ++i) {
        patience.done(1);
        // It was checked; changed since then, it counts nowhere.
        const std::int64_t to =
            checked_index(in.as<const std::int64_t>() + i * in.strides[0], out.numel);
        if (to >= 0)
          out.as<T>()[to] += weights ? weights->as<const T>()[i * weights->strides[0]] : T(1);
      }
    }
  });
}

void histogram(const View& out, const View& in, double low, double high) {
  dispatch_floating(in.dtype, [&]<class T>(Type<T>) {
    using C = Compute<T>;
    const std::int64_t bins = out.numel;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(bins));
    const C from = static_cast<C>(low), to = static_cast<C>(high);
    Patience patience;
    for (std::int64_t i = 0; i < in.numel; ++i) {
      patience.done(4);
      const C x = load(in.as<const T>() + i * in.strides[0]);
      if (!(x >= from && x <= to)) continue;
      const auto bin = static_cast<std::int64_t>((x - from) * static_cast<C>(bins) / (to - from));
      ++counts[static_cast<std::size_t>(std::clamp<std::int64_t>(bin, 0, bins - 1))];
    }
    for (std::int64_t i = 0; i < bins; ++i)
      store(out.as<T>() + i * out.strides[0], static_cast<C>(counts[static_cast<std::size_t>(i)]));
  });
}

}  // namespace rushlight
