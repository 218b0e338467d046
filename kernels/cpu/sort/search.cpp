// Binary searches in sorted rows.
#include <algorithm>

#include "kernels/cpu/read_once.h"
#include "kernels/parallel.h"
#include "select.h"

namespace rushlight {
namespace {

// The count of elements in x[0, n) that go before `value`.
template <class T, class At>
std::int64_t count_before(const T& value, std::int64_t n, bool right, At&& at) {
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
        const std::int64_t found = count_before(value, n, right, [&](std::int64_t i) {
          // It may have changed since it was checked; then any index is as good as another.
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

}  // namespace rushlight
