// Distinct rows: rows are sorted, and each that differs from the one before begins a group.
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"
#include "order.h"
#include "select.h"

namespace rushlight {
namespace {

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

// The comparison of two rows is behind a pointer: it loops itself, and what sorts is compiled once.
void order_rows(const View& in, bool (*comes_before)(const View&, std::int64_t, std::int64_t),
                std::vector<std::int64_t>& order) {
  if (in.sizes[1] == 1) {
    const auto n = static_cast<std::int64_t>(order.size());
    return with_keys(in.dtype, n, [&]<class Key>(Type<Key>) {
      Scratch<Key> keys(order.size());
      read_keys(in.dtype, in.data, in.strides[0], n, false, keys.data());
      stable_order(keys.data(), n, order.data());
    });
  }
  Interruptible interruptible;
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    interruptible.done(16);
    return comes_before(in, a, b);
  });
}

// Elements side by side, each compared with the one before.
template <class T>
std::int64_t begins_of_runs(const T* x, std::int64_t n, std::int64_t* first,
                            std::int64_t* inverse) {
  std::int64_t found = 0;
  serial_for(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      first[found] = i;
      found += i == 0 || !(load(x + i) == load(x + i - 1));
      if (inverse) inverse[i] = found - 1;
    }
  });
  return found;
}

}  // namespace

std::int64_t unique(const View& in, bool consecutive, std::int64_t* first, std::int64_t* inverse,
                    std::int64_t* counts) {
  const std::int64_t n = in.sizes[0];
  if (consecutive && in.sizes[1] == 1 && in.strides[0] == 1)
    return dispatch_all(in.dtype, [&]<class T>(Type<T>) {
      const std::int64_t found = begins_of_runs(in.as<const T>(), n, first, inverse);
      for (std::int64_t u = 0; counts && u < found; ++u)
        counts[u] = (u + 1 < found ? first[u + 1] : n) - first[u];
      return found;
    });
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    if (!consecutive) order_rows(in, before<T>, order);
    std::int64_t found = 0, last = -1;
    Interruptible interruptible;
    for (const std::int64_t row : order) {
      interruptible.done(4);
      if (last < 0 || !equal<T>(in, last, row)) {
        first[found] = row;
        if (counts) counts[found] = 0;
        ++found;
      }
      if (counts) ++counts[found - 1];
      if (inverse) inverse[row] = found - 1;
      last = row;
    }
    return found;
  });
}

}  // namespace rushlight
