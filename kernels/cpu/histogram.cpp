// Counts of integers, and of values in equal parts of a range.
#include <algorithm>
#include <vector>

#include "interruptible.h"
#include "kernels/cpu/sort/select.h"
#include "read_once.h"

namespace rushlight {

namespace {
// Few bins: an addition waits for the one before it to the same bin, so neighbours have bins of
// their own.
constexpr std::int64_t kFewBins = 512, kTables = 4;
void count_few(const View& out, const View& in) {
  std::int64_t tables[kTables][kFewBins + 1] = {};  // the last: changed since it was checked
  const auto* const first = in.as<const std::int64_t>();
  const std::int64_t step = in.strides[0], bins = out.numel;
  serial_for(in.numel, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t* at = first + begin * step;
    for (std::int64_t i = begin; i < end; ++i, at += step) {
      const auto to = static_cast<std::uint64_t>(read_once(at));
      ++tables[i % kTables][to < std::uint64_t(bins) ? to : kFewBins];
    }
  });
  for (std::int64_t b = 0; b < out.numel; ++b)
    out.as<std::int64_t>()[b] = tables[0][b] + tables[1][b] + tables[2][b] + tables[3][b];
}
}  // namespace

void count(const View& out, const View& in, const View* weights) {
  if (!weights && out.dtype == DType::int64 && out.numel <= kFewBins) return count_few(out, in);
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
