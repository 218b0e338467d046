// Counts of integers, and of values in equal parts of a range.
#include <algorithm>
#include <vector>

#include "interruptible.h"
#include "kernels/cpu/sort/select.h"
#include "read_once.h"
#include "scratch.h"

namespace rushlight {

namespace {
// An addition waits for the one before it to the same bin, so neighbours have bins of their own,
// while those stay in the nearest caches.
constexpr std::int64_t kFewBins = 4096, kTables = 4;
template <class I>
void count_few(const View& out, const View& in) {
  const std::int64_t step = in.strides[0], bins = out.numel, table = bins + 1;
  Scratch<std::int64_t> tables(std::size_t(kTables * table));  // the last of each: changed since
  tables.zero();                                               // it was checked
  const I* const first = in.as<const I>();
  serial_for(in.numel, [&](std::int64_t begin, std::int64_t end) {
    const I* at = first + begin * step;
    std::int64_t* const counts = tables.data();
    const auto take = [&](std::int64_t t) {
      const auto to = static_cast<std::uint64_t>(read_once(at + t * step));
      ++counts[t * table + std::int64_t(std::min(to, std::uint64_t(bins)))];
    };
    std::int64_t i = begin;
    for (; i + kTables <= end; i += kTables, at += kTables * step)
#pragma GCC unroll 4
      for (std::int64_t t = 0; t < kTables; ++t) take(t);
    for (; i < end; ++i, at += step) take(0);
  });
  for (std::int64_t b = 0; b < bins; ++b) {
    std::int64_t sum = 0;
    for (std::int64_t t = 0; t < kTables; ++t) sum += tables[std::size_t(t * table + b)];
    out.as<std::int64_t>()[b] = sum;
  }
}

template <class I>
void count_from(const View& out, const View& in, const View* weights) {
  if (!weights && out.dtype == DType::int64 && out.numel <= kFewBins) return count_few<I>(out, in);
  dispatch_all(out.dtype, [&]<class T>(Type<T>) {
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_floating_point_v<T>) {
      std::fill_n(out.as<T>(), out.numel, T(0));
      Interruptible interruptible;
      for (std::int64_t i = 0; i < in.numel; ++i) {
        interruptible.done(1);
        // It was checked; changed since then, it counts nowhere.
        const std::int64_t to = checked_index(in.as<const I>() + i * in.strides[0], out.numel);
        if (to >= 0)
          out.as<T>()[to] += weights ? weights->as<const T>()[i * weights->strides[0]] : T(1);
      }
    }
  });
}
}  // namespace

void count(const View& out, const View& in, const View* weights) {
  if (in.dtype == DType::int32)
    count_from<std::int32_t>(out, in, weights);
  else
    count_from<std::int64_t>(out, in, weights);
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
