// Numbers in the range where a function needs no special cases (overflow, denormal numbers, NaN):
// what exp and log get as T for blocks where that holds. Both formulas give the same bits there.
#pragma once
#include <algorithm>

#include "kernels/math/exponential.h"
#include "kernels/pointwise/exponential.h"

namespace rushlight {

template <class T>
struct Usual {
  T v;
  constexpr Usual() = default;
  constexpr Usual(T x) : v(x) {}
  friend Usual exp(Usual x) { return usual_exp(x.v); }
  friend Usual log(Usual x) { return log_of(logarithm<true>(x.v)); }
  friend Usual log2(Usual x) { return log2_of(logarithm<true>(x.v)); }
  friend Usual log10(Usual x) { return log10_of(logarithm<true>(x.v)); }
};

// Of the bits of a number; without its sign where `absolute`.
template <class T>
struct UsualRange {
  bool absolute;
  T low, high;  // from this number up to that one
};
template <class Op, class T>
inline constexpr UsualRange<T> kUsualRange{false, Layout<T>::smallest,
                                           std::numeric_limits<T>::max()};
template <class T>
inline constexpr UsualRange<T> kUsualRange<Exp, T>{true, T(0), Layout<T>::exp_usual};

// How far x lies from the range's beginning.
template <class T>
auto distance(T x, UsualRange<T> range) {
  using Bits = std::make_unsigned_t<typename Layout<T>::Int>;
  const Bits mask = range.absolute ? Bits(-1) >> 1 : Bits(-1);
  return Bits((std::bit_cast<Bits>(x) & mask) - std::bit_cast<Bits>(range.low));
}
template <class T>
CLONES_512 bool all_usual(const T* x, std::int64_t n, UsualRange<T> range) {
  decltype(distance(T(), range)) furthest = 0;
  for (std::int64_t i = 0; i < n; ++i) furthest = std::max(furthest, distance(x[i], range));
  return furthest <= distance(range.high, range);
}

// y = f(x) for a usual x; whether all were. A pass of its own to ask that first would wait for
// memory without computing.
template <class Op, class T>
CLONES_512 __attribute__((flatten)) bool usual_values(const T* x, T* y, std::int64_t n) {
  constexpr UsualRange<T> range = kUsualRange<Op, T>;
  decltype(distance(T(), range)) furthest = 0;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const T v = x[i];
    furthest = std::max(furthest, distance(v, range));
    y[i] = Op::forward(Usual<T>(v)).v;
  }
  return furthest <= distance(range.high, range);
}

}  // namespace rushlight
