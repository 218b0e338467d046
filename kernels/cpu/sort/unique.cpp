// Distinct rows: rows are sorted, and each that differs from the one before begins a group.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/runs.h"
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
                std::int64_t* order) {
  const std::int64_t n = in.sizes[0];
  if (in.sizes[1] == 1)
    return with_keys(in.dtype, n, [&]<class Key>(Type<Key>) {
      Scratch<Key> keys(static_cast<std::size_t>(n));
      read_keys(in.dtype, in.data, in.strides[0], n, false, keys.data());
      stable_order(keys.data(), n, order);
    });
  serial_for(n, [&](std::int64_t i, std::int64_t end) { std::iota(order + i, order + end, i); });
  Interruptible interruptible;
  std::stable_sort(order, order + n, [&](std::int64_t a, std::int64_t b) {
    interruptible.done(16);
    return comes_before(in, a, b);
  });
}

// How many of n elements differ from the one before.
template <class T>
CLONES int count_changes(const T* x, int n) {
  int changes = 0;
  for (int i = 0; i < n; ++i) changes += !(load(x + i) == load(x + i - 1));
  return changes;
}

CLONES void number(std::int64_t* to, std::int64_t n, std::int64_t first) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = first + i;
}

// Of n >= 1 elements; counts holds where each run begins. A block whose elements all differ from
// the one before, or none, is taken whole. Of others each element is written, and kept by counting
// on where it differs: there is no branch to be guessed.
template <class T>
std::int64_t write_runs(T* values, const T* x, std::int64_t n, std::int64_t* inverse,
                        std::int64_t* counts) {
  constexpr std::int64_t kBlock = 64;
  const auto begin_run = [=](std::int64_t u, std::int64_t i) {
    std::memcpy(values + u, x + i, sizeof(T));  // a bool may hold any byte
    if (counts) counts[u] = i;
  };
  begin_run(0, 0);
  if (inverse) inverse[0] = 0;
  std::int64_t found = 1;
  serial_for(n - 1, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t u = found;  // in a register: a store may be to `found`, for all that gcc knows
    for (std::int64_t i = begin + 1; i <= end; i += kBlock) {
      const std::int64_t size = std::min(kBlock, end + 1 - i);
      const int changes = count_changes(x + i, int(size));
      if (changes == 0) {
        if (inverse) fill_run(inverse + i, size, u - 1);
      } else if (changes == size) {
        copy_bytes(values + u, x + i, size * std::int64_t(sizeof(T)));
        if (counts) number(counts + u, size, i);
        if (inverse) number(inverse + i, size, u);
        u += size;
      } else {
        for (std::int64_t k = i; k < i + size; ++k) {
          begin_run(u, k);
          u += !(load(x + k) == load(x + k - 1));
          if (inverse) inverse[k] = u - 1;
        }
      }
    }
    found = u;
  });
  return found;
}

}  // namespace

std::int64_t unique(const View& in, bool consecutive, std::int64_t* first, std::int64_t* inverse,
                    std::int64_t* counts) {
  const std::int64_t n = in.sizes[0];
  Scratch<std::int64_t> order(static_cast<std::size_t>(consecutive ? 0 : n));
  return dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    if (!consecutive) order_rows(in, before<T>, order.data());
    std::int64_t found = 0, last = -1;
    serial_for(n, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) {
        const std::int64_t row = consecutive ? i : order[std::size_t(i)];
        if (last < 0 || !equal<T>(in, last, row)) {
          first[found] = row;
          if (counts) counts[found] = 0;
          ++found;
        }
        if (counts) ++counts[found - 1];
        if (inverse) inverse[row] = found - 1;
        last = row;
      }
    });
    return found;
  });
}

std::int64_t runs(const View& values, const View& in, std::int64_t* inverse, std::int64_t* counts) {
  return dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    const std::int64_t n = in.numel;
    const std::int64_t found = write_runs(values.as<T>(), in.as<const T>(), n, inverse, counts);
    for (std::int64_t u = 0; counts && u < found; ++u)  // from where each begins
      counts[u] = (u + 1 < found ? counts[u + 1] : n) - counts[u];
    return found;
  });
}

}  // namespace rushlight
