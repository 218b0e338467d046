// Binary searches in sorted rows.
#include <algorithm>

#include "kernels/cpu/read_once.h"
#include "kernels/parallel.h"
#include "select.h"

namespace rushlight {
namespace {

// found[k]: how many of at(0) ... at(n - 1), n > 0, go before values[k]. Several searches take
// their steps side by side, and none has a branch to be guessed. Note: the elements that are looked
// at are those that torch looks at, as they need not be in order: there may be a NaN.
template <bool right, int kSearches, class V, class At>
[[gnu::always_inline]] inline void count_before(const V* values, std::int64_t n,
                                                std::int64_t* found, const At& at) {
  const auto goes_before = [](V x, V value) {  // all bits or none
    return -std::int64_t(right ? !(x > value) : !(x >= value));
  };
  std::int64_t left[kSearches];
  for (int k = 0; k < kSearches; ++k) found[k] = 0, left[k] = n;
  for (std::int64_t least = n + 1; least > 1; least /= 2)  // one more than each has left
#pragma GCC unroll 8
    for (int k = 0; k < kSearches; ++k) {
      const std::int64_t half = left[k] >> 1;
      const std::int64_t taken = goes_before(at(found[k] + half), values[k]);
      found[k] += (half + 1) & taken;
      left[k] = half + ((left[k] - 2 * half - 1) & taken);
    }
#pragma GCC unroll 8
  for (int k = 0; k < kSearches; ++k)  // one or none is left
    found[k] += left[k] & goes_before(at(std::min(found[k], n - 1)), values[k]);
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
    using V = decltype(load(static_cast<const T*>(nullptr)));
    constexpr int kSide = 8;
    parallel_for(values.numel, 1 << 11, [&](std::int64_t from, std::int64_t to) {
      while (from < to) {
        const std::int64_t r = from / columns, c = from % columns;
        const std::int64_t row = sorted.sizes[0] == 1 ? 0 : r;
        const int count = int(std::min({to - from, columns - c, std::int64_t(kSide)}));
        const T* const x = row_of<T>(sorted, row);
        const std::int64_t* const by = sorter ? row_of<std::int64_t>(*sorter, row) : nullptr;
        V wanted[kSide];
        for (int k = 0; k < count; ++k)
          wanted[k] = load(row_of<T>(values, r) + (c + k) * values.strides[1]);
        std::int64_t found[kSide];
        const auto all = [&]<bool from_right>(const auto& at) {
          if (count == kSide) return count_before<from_right, kSide>(wanted, n, found, at);
          for (int k = 0; k < count; ++k) count_before<from_right, 1>(wanted + k, n, found + k, at);
        };
        const auto search_for = [&](const auto& at) {
          right ? all.template operator()<true>(at) : all.template operator()<false>(at);
        };
        const std::int64_t step = sorted.strides[1];
        if (by)
          search_for([&](std::int64_t i) {
            // It may have changed since it was checked; then any index is as good as another.
            const std::int64_t checked = checked_index(by + i * sorter->strides[1], n);
            return load(x + std::max<std::int64_t>(checked, 0) * step);
          });
        else
          search_for([=](std::int64_t i) { return load(x + i * step); });
        for (int k = 0; k < count; ++k) {
          const std::int64_t at = r * out.strides[0] + (c + k) * out.strides[1];
          if (out.dtype == DType::int32)
            out.as<std::int32_t>()[at] = static_cast<std::int32_t>(found[k]);
          else
            out.as<std::int64_t>()[at] = found[k];
        }
        from += count;
      }
    });
  });
  return -1;
}

}  // namespace rushlight
