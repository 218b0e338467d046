// gather and scatter, and how two values of one element are combined.
#pragma once
#include "../index.h"

namespace rushlight {

BadIndex gather_elements(const View& out, const View& self, int dim, const View& index);
BadIndex scatter_elements(const View& self, int dim, const View& index, const View& src,
                          ScatterMode mode);

template <class S>
Compute<S> combined(Compute<S> a, Compute<S> b, ScatterMode mode) {
  using C = Compute<S>;
  if constexpr (std::is_same_v<C, bool>) {
    return mode == ScatterMode::assign                                ? b
           : mode == ScatterMode::add || mode == ScatterMode::largest ? a || b
                                                                      : a && b;
  } else {
    switch (mode) {
      case ScatterMode::add:
        if constexpr (std::is_integral_v<C>)
          return C(
              std::make_unsigned_t<C>(std::make_unsigned_t<C>(a) + std::make_unsigned_t<C>(b)));
        else
          return a + b;
      case ScatterMode::multiply:
        if constexpr (std::is_integral_v<C>)
          return C(std::uint64_t(a) * std::uint64_t(b));
        else
          return a * b;
      case ScatterMode::largest: return b > a || b != b ? b : a;
      case ScatterMode::smallest: return b < a || b != b ? b : a;
      default: return b;
    }
  }
}

}  // namespace rushlight
