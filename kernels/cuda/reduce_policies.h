// Reductions as the device's threads run them. Each policy says what a thread holds (Lane), how it
// takes an element, and how the totals that lanes end in are joined (Joined, which policies share);
// totals are double for floating elements and 64-bit integers for the others, so that the last step
// is one for all.
#pragma once
#include "../reduce.h"
#include "device.h"

namespace rushlight::gpu {

template <class T>
inline constexpr bool kFloating = std::is_floating_point_v<Compute<T>>;

struct ReduceNumbers {
  double center = 0;  // of the output: its mean or largest value, where a policy wants it
  double parameter = 0;  // the order of a norm
};

template <class V>
struct AddTotals {
  using Joined = AddTotals;
  using Total = V;
  static constexpr V kStart = 0;
  __device__ static V join(V a, V b) { return a + b; }
};
template <class V>
struct MultiplyTotals {
  using Joined = MultiplyTotals;
  using Total = V;
  static constexpr V kStart = 1;
  __device__ static V join(V a, V b) { return a * b; }
};

template <class T>
struct SumLane : AddTotals<std::conditional_t<kFloating<T>, double, std::uint64_t>> {
  using Lane = std::conditional_t<kFloating<T>, Compute<T>, std::uint64_t>;
};
template <class T>
struct Sum : SumLane<T> {
  using Lane = typename SumLane<T>::Lane;
  __device__ static Lane step(Lane a, Compute<T> x, ReduceNumbers) {
    return a + static_cast<Lane>(x);
  }
};
template <class T>
struct NanSum : SumLane<T> {
  __device__ static Compute<T> step(Compute<T> a, Compute<T> x, ReduceNumbers) {
    return a + (x == x ? x : Compute<T>(0));
  }
};
template <class T>
struct AbsoluteSum : SumLane<T> {
  __device__ static Compute<T> step(Compute<T> a, Compute<T> x, ReduceNumbers) {
    return a + std::fabs(x);
  }
};
template <class T>
struct SquareSum : SumLane<T> {
  __device__ static Compute<T> step(Compute<T> a, Compute<T> x, ReduceNumbers) { return a + x * x; }
};
template <class T>
struct PowerSum : SumLane<T> {
  __device__ static Compute<T> step(Compute<T> a, Compute<T> x, ReduceNumbers n) {
    return a + std::pow(std::fabs(x), static_cast<Compute<T>>(n.parameter));
  }
};
template <class T>
struct Deviation : SumLane<T> {
  __device__ static Compute<T> step(Compute<T> a, Compute<T> x, ReduceNumbers n) {
    const Compute<T> d = x - static_cast<Compute<T>>(n.center);
    return a + d * d;
  }
};
template <class T>
struct Exponentials : SumLane<T> {
  __device__ static Compute<T> step(Compute<T> a, Compute<T> x, ReduceNumbers n) {
    return a + std::exp(x - static_cast<Compute<T>>(n.center));
  }
};
template <class T>
struct Product : MultiplyTotals<typename SumLane<T>::Total> {
  using Lane = typename SumLane<T>::Lane;
  __device__ static Lane step(Lane a, Compute<T> x, ReduceNumbers) {
    return a * static_cast<Lane>(x);
  }
};
template <class T>
struct Count : AddTotals<std::int64_t> {
  using Lane = std::int64_t;
  __device__ static Lane step(Lane a, Compute<T> x, ReduceNumbers) {
    return a + (x != Compute<T>(0));
  }
};

// A NaN once taken stays.
template <bool kLargest, class V>
__device__ V better(V a, V b) {
  if constexpr (std::is_floating_point_v<V>)
    if (a != a || b != b) return a != a ? a : b;
  return (kLargest ? b > a : b < a) ? b : a;
}
template <class V, bool kLargest>
struct ExtremeTotals {
  using Joined = ExtremeTotals;
  using Total = V;
  using Limits = std::numeric_limits<V>;
  static constexpr V kStart = std::is_floating_point_v<V>
                                  ? (kLargest ? -Limits::infinity() : Limits::infinity())
                                  : (kLargest ? Limits::lowest() : Limits::max());
  __device__ static V join(V a, V b) { return better<kLargest>(a, b); }
};
template <class T, bool kLargest>
struct Extreme : ExtremeTotals<std::conditional_t<kFloating<T>, double, std::int64_t>, kLargest> {
  using Lane = std::conditional_t<kFloating<T>, Compute<T>, std::int64_t>;
  __device__ static Lane step(Lane a, Compute<T> x, ReduceNumbers) {
    return better<kLargest>(a, static_cast<Lane>(x));
  }
};
template <class T, bool kLargest>
struct AbsoluteExtreme : Extreme<T, kLargest> {
  using Lane = typename Extreme<T, kLargest>::Lane;
  static constexpr double kStart = kLargest ? 0 : std::numeric_limits<double>::infinity();
  __device__ static Lane step(Lane a, Compute<T> x, ReduceNumbers) {
    return better<kLargest>(a, Lane(std::fabs(x)));
  }
};

// What is done to a total before it is written.
enum class Finish : int {
  none,
  finite,
  mean,
  variance,
  deviation,
  root,
  power_root,
  any,
  all,
  log_sum
};
struct FinishNumbers {
  Finish kind = Finish::none;
  double count = 0;  // of elements in a reduction
  double parameter = 0;  // the correction of a variance, the order of a norm
};
template <class Total>
__device__ double finished(Total total, const FinishNumbers& f, double center) {
  const double v = static_cast<double>(total);
  const double rest = f.count - f.parameter;
  switch (f.kind) {
    case Finish::finite: return std::isinf(v) ? 0 : v;
    case Finish::mean: return v / f.count;
    case Finish::variance: return v / (rest > 0 ? rest : 0);
    case Finish::deviation: return std::sqrt(v / (rest > 0 ? rest : 0));
    case Finish::root: return std::sqrt(v);
    case Finish::power_root: return std::pow(v, 1 / f.parameter);
    case Finish::any: return v > 0;
    case Finish::all: return v == f.count;
    case Finish::log_sum: return std::log(v) + center;
    default: return v;
  }
}

}  // namespace rushlight::gpu
