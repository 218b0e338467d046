// The steps of running reductions, for the loops of all devices. Each joins what came before with
// what follows; those of integers wrap in 64 bits.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "host_device.h"
#include "strided.h"

namespace rushlight::scans {

// What running sums and products of elements computed as C are held in.
template <class C>
using SumOf = std::conditional_t<std::is_floating_point_v<C>, double, std::uint64_t>;

struct Sum {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};
struct Product {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    return a * b;
  }
};
struct LogSumExp {
  HOST_DEVICE double operator()(double a, double b) const {
    const double high = a > b || a != a ? a : b, low = a > b || a != a ? b : a;
    if (std::isinf(high) || high != high) return high + (low != low ? low : 0);
    return high + std::log1p(std::exp(low - high));
  }
};

// Of cummax and cummin: equals are better, so the last of them is the index; a NaN wins.
template <class C>
HOST_DEVICE bool now_is_better(C now, C best, bool largest) {
  if constexpr (std::is_floating_point_v<C>) {
    if (now != now) return true;
    if (best != best) return false;
  }
  return largest ? now >= best : now <= best;
}

// The extreme so far and its index.
template <class C>
struct Extreme {
  C value;
  Index at;  // -1: nothing yet
};
template <class C>
struct Better {
  bool largest;
  HOST_DEVICE Extreme<C> operator()(Extreme<C> a, Extreme<C> b) const {  // in either order
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    const bool in_order = a.at < b.at;
    const Extreme<C> before = in_order ? a : b, now = in_order ? b : a;
    return now_is_better(now.value, before.value, largest) ? now : before;
  }
};

}  // namespace rushlight::scans
