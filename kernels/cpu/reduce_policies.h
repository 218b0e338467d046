// What a lane holds, how it takes an element and how lanes are joined, one struct a reduction.
// Totals are double for floating elements and 64-bit integers for integral ones.
#pragma once
#include <cmath>

#include "../math.h"
#include "reduce_loops.h"

namespace rushlight::reduction {

template <class T>
inline constexpr bool kFloating = std::is_floating_point_v<Compute<T>>;

struct Plain {
  static constexpr bool kCentered = false, kHot = true;
  Plain(const Job&, std::int64_t) {}
};

template <class T>
struct Sum : Plain {
  using Plain::Plain;
  using Lane = std::conditional_t<kFloating<T>, Compute<T>, std::uint64_t>;
  using Total = std::conditional_t<kFloating<T>, double, std::uint64_t>;
  static Lane start() { return 0; }
  Lane step(Lane a, Compute<T> x) const { return a + static_cast<Lane>(x); }
  static Lane join(Lane a, Lane b) { return a + b; }
  static Total join_total(Total a, Total b) { return a + b; }
};

template <class T>
struct NanSum : Sum<T> {
  using Sum<T>::Sum;
  using Lane = typename Sum<T>::Lane;
  Lane step(Lane a, Compute<T> x) const { return a + (x == x ? x : Lane(0)); }
};

template <class T>
struct AbsoluteSum : Sum<T> {
  using Sum<T>::Sum;
  using Lane = typename Sum<T>::Lane;
  Lane step(Lane a, Compute<T> x) const { return a + std::fabs(x); }
};

template <class T>
struct SquareSum : Sum<T> {
  using Sum<T>::Sum;
  using Lane = typename Sum<T>::Lane;
  Lane step(Lane a, Compute<T> x) const { return a + x * x; }
};

template <class T>
struct PowerSum : Sum<T> {
  static constexpr bool kHot = false;
  using Lane = typename Sum<T>::Lane;
  Lane power;
  PowerSum(const Job& j, std::int64_t o) : Sum<T>(j, o), power(static_cast<Lane>(j.parameter)) {}
  Lane step(Lane a, Compute<T> x) const { return a + std::pow(std::fabs(x), power); }
};

template <class T>
struct Deviation : Sum<T> {
  static constexpr bool kCentered = true;
  using Lane = typename Sum<T>::Lane;
  Lane center;
  Deviation(const Job& j, std::int64_t o) : Sum<T>(j, o), center(static_cast<Lane>(j.center[o])) {}
  Lane step(Lane a, Compute<T> x) const { return a + (x - center) * (x - center); }
};

template <class T>
struct Exponentials : Deviation<T> {
  using Deviation<T>::Deviation;
  using Lane = typename Sum<T>::Lane;
  Lane step(Lane a, Compute<T> x) const { return a + exp(x - this->center); }
};

template <class T>
struct Product : Sum<T> {
  using Sum<T>::Sum;
  using Lane = typename Sum<T>::Lane;
  using Total = typename Sum<T>::Total;
  static Lane start() { return 1; }
  Lane step(Lane a, Compute<T> x) const { return a * static_cast<Lane>(x); }
  static Lane join(Lane a, Lane b) { return a * b; }
  static Total join_total(Total a, Total b) { return a * b; }
};

template <class T>
struct Count : Plain {
  using Plain::Plain;
  using Lane = std::conditional_t<sizeof(Compute<T>) == 8, std::int64_t, std::int32_t>;
  using Total = std::int64_t;
  static Lane start() { return 0; }
  Lane step(Lane a, Compute<T> x) const { return a + (x != Compute<T>(0)); }
  static Lane join(Lane a, Lane b) { return a + b; }
  static Total join_total(Total a, Total b) { return a + b; }
};

// A NaN once taken stays: every comparison with it is false, and `!(b <= a)` takes it.
template <class T, bool kLargest>
struct Extreme : Plain {
  using Plain::Plain;
  using Lane = Compute<T>;
  using Total = std::conditional_t<kFloating<T>, double, std::int64_t>;
  static Lane start() {
    using Limits = std::numeric_limits<Lane>;
    if constexpr (kFloating<T>) return kLargest ? -Limits::infinity() : Limits::infinity();
    return kLargest ? Limits::lowest() : Limits::max();
  }
  template <class V>
  static V better(V a, V b) {
    if constexpr (std::is_floating_point_v<V>) {
      const V one = (kLargest ? b > a : b < a) ? b : a;
      return b == b ? one : b;
    } else {
      return (kLargest ? b > a : b < a) ? b : a;
    }
  }
  Lane step(Lane a, Compute<T> x) const { return better(a, x); }
  static Lane join(Lane a, Lane b) { return better(a, b); }
  static Total join_total(Total a, Total b) { return better(a, b); }
};

template <class T, bool kLargest>
struct AbsoluteExtreme : Extreme<T, kLargest> {
  static constexpr bool kHot = false;
  using Extreme<T, kLargest>::Extreme;
  using Lane = Compute<T>;
  static Lane start() { return kLargest ? Lane(0) : std::numeric_limits<Lane>::infinity(); }
  Lane step(Lane a, Lane x) const { return this->better(a, std::fabs(x)); }
};

// Writes map(total) of the outputs [from, from + n) wherever their numbers lie.
template <class Total, class Map>
void write(const View& out, const Axes& kept, std::int64_t from, const Total* totals,
           std::int64_t n, Map&& map) {
  dispatch_all(out.dtype, [&]<class O>(Type<O>) {
    Place at(kept, 0, from);
    for (std::int64_t i = 0; i < n; ++i, at.next(kept, 0))
      store(out.as<O>() + at.out, convert<Compute<O>>(map(totals[i])));
  });
}

// The whole of one reduction for elements T: totals, mapped, written.
template <class P, class T, class Map>
void reduce_as(const View& out, const Job& job, Map&& map) {
  run<P, T>(job, [&](std::int64_t from, typename P::Total* totals, std::int64_t n) {
    write(out, job.kept, from, totals, n, map);
  });
}

void reduce_sum(Reduction, const View& out, const View& in);
void reduce_choice(Reduction, const View& out, const View& in);
void reduce_norm(Reduction, const View& out, const View& in, double parameter);
void reduce_moments(Reduction, const View& out, const View& in, double parameter);
void extreme(bool largest, const View& values, const View& indices, const View& in, int dim);

}  // namespace rushlight::reduction
