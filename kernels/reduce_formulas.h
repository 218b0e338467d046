// The formula of every reduction, for all devices: one struct each, named in the lists at the end.
// A fold says what a lane (one of many partial results) holds, `init`, and how it takes an element,
// `step`; `join` puts two lanes or two totals together. A reduction names its fold and what is done
// to the total, `finish`. Sums of floating types run in many lanes of the element's type which are
// joined in double, so their error does not grow with the count.
#pragma once
#include "math/exponential.h"
#include "math/integer.h"
#include "reduce.h"

namespace rushlight::reduction {

// What a formula may read beside the elements.
struct Context {
  double parameter = 0;  // the correction of a variance, the order of a norm
  std::int64_t count = 0;  // how many elements make one result
  double center = 0;  // the result of the reduction `Center`, found in a first pass
};

// ---- folds, of elements that are computed in C

struct Adding {
  using Join = Adding;
  static constexpr bool kRounds = true;  // so lanes are joined in double after few elements
  template <class V>
  HOST_DEVICE static V join(V a, V b) {
    return a + b;
  }
};
struct Multiplying {
  using Join = Multiplying;
  static constexpr bool kRounds = true;
  template <class V>
  HOST_DEVICE static V join(V a, V b) {
    return a * b;
  }
};
template <bool kLargest>
struct Choosing {
  using Join = Choosing;
  static constexpr bool kRounds = false;
  // A NaN once taken stays: every comparison with it is false. One select for gcc's vectors. V is a
  // number or a vector of them.
  template <class V>
  HOST_DEVICE static V join(V a, V b) {
    const V one = (kLargest ? b > a : b < a) ? b : a;
    if constexpr (!std::is_integral_v<V>) return b == b ? one : b;
    return one;
  }
};

struct Fold {
  static constexpr bool kCentered = false;  // uses Context::center
  static constexpr bool kHot = true;  // the CPU has it for several instruction sets
  static constexpr bool kLong = false;  // a step takes longer than memory does: no loop is unrolled
};

template <class C>
struct SumFold : Fold, Adding {  // integers wrap
  using Lane = std::conditional_t<std::is_floating_point_v<C>, C, std::uint64_t>;
  using Total = std::conditional_t<std::is_floating_point_v<C>, double, std::uint64_t>;
  HOST_DEVICE explicit SumFold(const Context&) {}
  HOST_DEVICE static Lane init() { return 0; }
  HOST_DEVICE Lane step(Lane a, C x) const { return a + static_cast<Lane>(x); }
};

template <class C>
struct NanSumFold : SumFold<C> {
  using SumFold<C>::SumFold;
  HOST_DEVICE C step(C a, C x) const { return a + (x == x ? x : C(0)); }
};

template <class C>
struct AbsoluteSumFold : SumFold<C> {
  using SumFold<C>::SumFold;
  HOST_DEVICE C step(C a, C x) const { return a + std::fabs(x); }
};

template <class C>
struct SquareSumFold : SumFold<C> {
  using SumFold<C>::SumFold;
  HOST_DEVICE C step(C a, C x) const { return a + x * x; }
};

template <class C>
struct PowerSumFold : SumFold<C> {
  static constexpr bool kHot = false;
  static constexpr bool kLong = true;
  C power;
  HOST_DEVICE explicit PowerSumFold(const Context& c)
      : SumFold<C>(c), power(static_cast<C>(c.parameter)) {}
  HOST_DEVICE C step(C a, C x) const { return a + std::pow(std::fabs(x), power); }
};

template <class C>
struct DeviationFold : SumFold<C> {
  static constexpr bool kCentered = true;
  C center;
  HOST_DEVICE explicit DeviationFold(const Context& c)
      : SumFold<C>(c), center(static_cast<C>(c.center)) {}
  HOST_DEVICE C step(C a, C x) const { return a + (x - center) * (x - center); }
};

template <class C>
struct ExponentialFold : DeviationFold<C> {
  static constexpr bool kLong = true;
  using DeviationFold<C>::DeviationFold;
  HOST_DEVICE C step(C a, C x) const { return a + exp(x - this->center); }
};

template <class C>
struct ProductFold : Fold, Multiplying {
  using Lane = typename SumFold<C>::Lane;
  using Total = typename SumFold<C>::Total;
  HOST_DEVICE explicit ProductFold(const Context&) {}
  HOST_DEVICE static Lane init() { return 1; }
  HOST_DEVICE Lane step(Lane a, C x) const { return a * static_cast<Lane>(x); }
};

template <class C>
struct CountFold : Fold, Adding {  // of what is not zero
  using Lane = std::conditional_t<sizeof(C) == 8, std::int64_t, std::int32_t>;
  using Total = std::int64_t;
  HOST_DEVICE explicit CountFold(const Context&) {}
  HOST_DEVICE static Lane init() { return 0; }
  HOST_DEVICE Lane step(Lane a, C x) const { return a + (x != C(0)); }
};

template <class C, bool kLargest>
struct ExtremeFold : Fold, Choosing<kLargest> {
  using Lane = C;
  using Total = std::conditional_t<std::is_floating_point_v<C>, double, std::int64_t>;
  HOST_DEVICE explicit ExtremeFold(const Context&) {}
  HOST_DEVICE static Lane init() {
    using Limits = std::numeric_limits<C>;
    if constexpr (std::is_floating_point_v<C>)
      return kLargest ? -Limits::infinity() : Limits::infinity();
    return kLargest ? Limits::lowest() : Limits::max();
  }
  HOST_DEVICE Lane step(Lane a, C x) const { return ExtremeFold::join(a, x); }
};

template <class C, bool kLargest>
struct AbsoluteExtremeFold : ExtremeFold<C, kLargest> {
  static constexpr bool kHot = false;
  using ExtremeFold<C, kLargest>::ExtremeFold;
  HOST_DEVICE static C init() { return kLargest ? C(0) : std::numeric_limits<C>::infinity(); }
  HOST_DEVICE C step(C a, C x) const { return AbsoluteExtremeFold::join(a, std::fabs(x)); }
};

// ---- reductions

struct OfAnyType {
  static constexpr bool kOnIntegers = true;
  static constexpr bool kOfBytes = false;  // the bytes of bools are as good as their values
  using Center = void;  // the reduction of a first pass, where there must be one
  template <class V>
  HOST_DEVICE static V finish(V total, const Context&) {
    return total;
  }
};
struct OfFloats : OfAnyType {
  static constexpr bool kOnIntegers = false;
};

struct Sum : OfAnyType {  // integers: to int64
  template <class C>
  using Fold = SumFold<C>;
};
struct Product : OfAnyType {  // integers: to int64
  template <class C>
  using Fold = ProductFold<C>;
};
struct NanSum : OfFloats {  // a NaN counts as 0
  template <class C>
  using Fold = NanSumFold<C>;
};
struct Mean : OfFloats {
  template <class C>
  using Fold = SumFold<C>;
  HOST_DEVICE static double finish(double sum, const Context& c) { return sum / double(c.count); }
};

struct Maximum : OfAnyType {  // a NaN wins
  static constexpr bool kOfBytes = true;
  template <class C>
  using Fold = ExtremeFold<C, true>;
};
struct Minimum : OfAnyType {  // a NaN wins
  static constexpr bool kOfBytes = true;
  template <class C>
  using Fold = ExtremeFold<C, false>;
};
struct FiniteMaximum : OfFloats {  // 0 where it is infinite
  template <class C>
  using Fold = ExtremeFold<C, true>;
  HOST_DEVICE static double finish(double m, const Context&) { return std::isinf(m) ? 0 : m; }
};
struct Count : OfAnyType {  // of what is not zero: to int64, or to a float (the norm of order 0)
  static constexpr bool kOfBytes = true;
  template <class C>
  using Fold = CountFold<C>;
};
struct Any : Count {  // to bool or uint8
  HOST_DEVICE static std::int64_t finish(std::int64_t n, const Context&) { return n > 0; }
};
struct All : Count {  // to bool or uint8
  HOST_DEVICE static std::int64_t finish(std::int64_t n, const Context& c) { return n == c.count; }
};

struct Variance : OfFloats {  // sum (x - mean)^2 / max(0, n - parameter)
  template <class C>
  using Fold = DeviationFold<C>;
  using Center = Mean;
  HOST_DEVICE static double finish(double squares, const Context& c) {
    const double divisor = double(c.count) - c.parameter;
    return squares / (divisor > 0 ? divisor : 0);
  }
};
struct StandardDeviation : Variance {
  HOST_DEVICE static double finish(double squares, const Context& c) {
    return std::sqrt(Variance::finish(squares, c));
  }
};
struct LogSumExp : OfFloats {
  template <class C>
  using Fold = ExponentialFold<C>;
  using Center = FiniteMaximum;
  HOST_DEVICE static double finish(double sum, const Context& c) {
    return std::log(sum) + c.center;
  }
};

struct AbsoluteSum : OfFloats {  // the norm of order 1
  template <class C>
  using Fold = AbsoluteSumFold<C>;
};
struct EuclideanNorm : OfFloats {
  template <class C>
  using Fold = SquareSumFold<C>;
  HOST_DEVICE static double finish(double sum, const Context&) { return std::sqrt(sum); }
};
struct Norm : OfFloats {  // (sum |x|^parameter)^(1 / parameter)
  template <class C>
  using Fold = PowerSumFold<C>;
  HOST_DEVICE static double finish(double sum, const Context& c) {
    return std::pow(sum, 1 / c.parameter);
  }
};
struct AbsoluteMaximum : OfFloats {  // the norm of order inf
  template <class C>
  using Fold = AbsoluteExtremeFold<C, true>;
};
struct AbsoluteMinimum : OfFloats {  // the norm of order -inf
  template <class C>
  using Fold = AbsoluteExtremeFold<C, false>;
};

// ---- the list, in parts that each device compiles as files of their own

template <class... R>
struct List {};
template <class... A, class... B>
constexpr List<A..., B...> operator+(List<A...>, List<B...>) {
  return {};
}
using Sums = List<Sum, Product, NanSum, Mean>;
using Choices = List<Maximum, Minimum, FiniteMaximum, Count, Any, All>;
using Moments = List<Variance, StandardDeviation, LogSumExp>;
using Norms = List<AbsoluteSum, EuclideanNorm, Norm, AbsoluteMaximum, AbsoluteMinimum>;
using Every = decltype(Sums() + Choices() + Moments() + Norms());

template <class R, class... L>
constexpr Reduction position(List<L...>) {
  int n = 0;
  const bool found = ((std::is_same_v<R, L> || (++n, false)) || ...);
  return Reduction(found ? n : throw "not in the list");
}

// Calls f(Type<R>{}) for the reduction of the list that `which` is; false if none is.
template <class... R, class F>
bool visit(List<R...>, Reduction which, F&& f) {
  return ((which == position<R>(Every()) && (f(Type<R>{}), true)) || ...);
}

// Whether `a` comes before `b` as an extreme: strictly, so that the first of equals stays; a NaN
// beats all numbers.
template <class C>
HOST_DEVICE bool beats(C a, C b, bool largest) {
  if constexpr (std::is_floating_point_v<C>) {
    if (b != b) return false;
    if (a != a) return true;
  }
  return largest ? a > b : a < b;
}

}  // namespace rushlight::reduction

namespace rushlight {
template <class R>
inline constexpr Reduction kReduction = reduction::position<R>(reduction::Every());
}  // namespace rushlight
