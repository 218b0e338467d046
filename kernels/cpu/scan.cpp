// Running sums, products and extremes: one serial pass a line, sums of floats held in double.
#include "../scan.h"

#include <cmath>

#include "lines.h"
#include "patience.h"

namespace rushlight {
namespace {

template <class T, class Sum, class Step>
void run(const View& out, const View& in, int dim, Sum start, Step&& step) {
  const Lines<2> lines(dim, {&in, &out});
  const std::int64_t n = in.rank ? in.sizes[dim] : 1;
  const std::int64_t along[] = {lines.along[0], lines.along[1]};
  lines.each(n, [&](const auto& at) {
    const T* const x = in.as<const T>() + at[0];
    T* const y = out.as<T>() + at[1];
    Sum sum = start;
    serial_for(n, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) {
        sum = step(sum, static_cast<Sum>(load(x + i * along[0])));
        if constexpr (std::is_same_v<T, bool>) {
          y[i * along[1]] = sum != 0;
        } else {
          store(y + i * along[1], static_cast<Compute<T>>(sum));
        }
      }
    });
  });
}

// Equals are better, so the last of them is the place.
template <class C>
bool now_is_better(C now, C best, bool largest) {
  if constexpr (std::is_floating_point_v<C>) {
    if (now != now) return true;
    if (best != best) return false;
  }
  return largest ? now >= best : now <= best;
}

void scan(Scan kind, const View& out, const View& in, int dim) {
  if (in.numel == 0) return;
  if (kind == Scan::log_sum_exp) {
    return dispatch_floating(in.dtype, [&]<class T>(Type<T>) {
      constexpr double kNothing = -std::numeric_limits<double>::infinity();
      run<T>(out, in, dim, kNothing, [](double sum, double x) {
        const double high = sum > x || sum != sum ? sum : x, low = sum > x || sum != sum ? x : sum;
        return std::isinf(high) || high != high ? high + (low != low ? low : 0)
                                                : high + std::log1p(std::exp(low - high));
      });
    });
  }
  dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    using Sum = std::conditional_t<std::is_floating_point_v<Compute<T>>, double, std::uint64_t>;
    if (kind == Scan::sum) return run<T>(out, in, dim, Sum(0), [](Sum a, Sum b) { return a + b; });
    run<T>(out, in, dim, Sum(1), [](Sum a, Sum b) { return a * b; });
  });
}

void extreme(bool largest, const View& values, const View& indices, const View& in, int dim) {
  if (in.numel == 0) return;
  const Lines<3> lines(dim, {&in, &values, &indices});
  const std::int64_t n = in.rank ? in.sizes[dim] : 1;
  dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    lines.each(n, [&](const auto& at) {
      const T* const x = in.as<const T>() + at[0];
      T* const y = values.as<T>() + at[1];
      std::int64_t* const where = indices.as<std::int64_t>() + at[2];
      auto best = load(x);
      std::int64_t best_at = 0;
      serial_for(n, [&](std::int64_t i, std::int64_t end) {
        for (; i < end; ++i) {
          const auto now = load(x + i * lines.along[0]);
          if (now_is_better(now, best, largest)) {
            best = now;
            best_at = i;
          }
          store(y + i * lines.along[1], best);
          where[i * lines.along[2]] = best_at;
        }
      });
    });
  });
}

}  // namespace
}  // namespace rushlight

const rushlight::ScanKernels rushlight::cpu_scan = {scan, extreme};
