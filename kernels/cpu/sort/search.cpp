// Binary searches in sorted rows.
#include <algorithm>

#include "kernels/cpu/read_once.h"
#include "kernels/parallel.h"
#include "select.h"

namespace rushlight {
namespace {

// found[k]: how many of at(0) ... at(n - 1), n > 0, go before values[k]. Several searches take
// their steps side by side, and none has a branch to be guessed. Note: unless they are in order,
// the elements that are looked at are those that torch looks at. Where they are, all searches halve
// what is left alike.
template <bool right, bool in_order, int kSearches, class V, class At>
[[gnu::always_inline]] inline void count_before(const V* values, std::int64_t n,
                                                std::int64_t* found, const At& at) {
  const auto goes_before = [](V x, V value) {  // all bits or none
    return -std::int64_t(right ? !(x > value) : !(x >= value));
  };
  std::int64_t left[kSearches];
  for (int k = 0; k < kSearches; ++k) found[k] = 0, left[k] = in_order ? 1 : n;
  if constexpr (in_order) {
    for (std::int64_t rest = n, half; rest > 1; rest -= half) {
      half = rest / 2;
#pragma GCC unroll 8
      for (int k = 0; k < kSearches; ++k)
        found[k] += half & goes_before(at(found[k] + half - 1), values[k]);
    }
  } else {
    for (std::int64_t least = n + 1; least > 1; least /= 2)  // one more than each has left
#pragma GCC unroll 8
      for (int k = 0; k < kSearches; ++k) {
        const std::int64_t half = left[k] >> 1;
        const std::int64_t taken = goes_before(at(found[k] + half), values[k]);
        found[k] += (half + 1) & taken;
        left[k] = half + ((left[k] - 2 * half - 1) & taken);
      }
  }
#pragma GCC unroll 8
  for (int k = 0; k < kSearches; ++k)  // one or none is left
    found[k] += left[k] & goes_before(at(std::min(found[k], n - 1)), values[k]);
}

// Whether n elements, `step` apart, are in order, and none is a NaN.
template <class T>
bool are_in_order(const T* x, std::int64_t step, std::int64_t n) {
  bool in_order = load(x) == load(x);
  for (std::int64_t i = 1; i < n && in_order; ++i)
    in_order = load(x + (i - 1) * step) <= load(x + i * step);
  return in_order;
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
      std::int64_t known = -1;  // the row of which is known whether it is in order
      bool in_order = false;
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
        const auto all = [&]<bool from_right, bool ordered>(const auto& at) {
          if (count == kSide) return count_before<from_right, ordered, kSide>(wanted, n, found, at);
          for (int k = 0; k < count; ++k)
            count_before<from_right, ordered, 1>(wanted + k, n, found + k, at);
        };
        const auto search_for = [&]<bool ordered = false>(const auto& at) {
          right ? all.template operator()<true, ordered>(at)
                : all.template operator()<false, ordered>(at);
        };
        const std::int64_t step = sorted.strides[1];
        if (row != known && !by) {
          const std::int64_t searches =
              sorted.sizes[0] == 1 ? to - from : std::min(to - from, columns);
          in_order = searches * 4 >= n && are_in_order(x, step, n);
          known = row;
        }
        if (by)
          search_for([&](std::int64_t i) {
            // It may have changed since it was checked; then any index is as good as another.
            const std::int64_t checked = checked_index(by + i * sorter->strides[1], n);
            return load(x + std::max<std::int64_t>(checked, 0) * step);
          });
        else if (in_order && step == 1)
          search_for.template operator()<true>([=](std::int64_t i) { return load(x + i); });
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
