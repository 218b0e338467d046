// Counts of whole numbers, and of values in equal parts of a range.
#include <algorithm>
#include <vector>

#include "interruptible.h"
#include "kernels/cpu/sort/select.h"
#include "read_once.h"

namespace rushlight {

void count(const View& out, const View& in, const View* weights) {
  dispatch_all(out.dtype, [&]<class T>(Type<T>) {
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_floating_point_v<T>) {
      std::fill_n(out.as<T>(), out.numel, T(0));
      Interruptible interruptible;
      for (std::int64_t i = 0; i < in.numel; ++i) {
        interruptible.done(1);
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
    Interruptible interruptible;
    for (std::int64_t i = 0; i < in.numel; ++i) {
      interruptible.done(4);
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
