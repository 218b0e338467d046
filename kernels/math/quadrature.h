// The integral of a smooth function, in double.
#pragma once
#include "real.h"

namespace rushlight {

// Of f from 0 to `width`, by Gauss and Legendre's eight points in each of some pieces.
template <class F>
HOST_DEVICE inline double integral(double width, int pieces, F f) {
  constexpr double nodes[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                              0.9602898564975363};
  constexpr double weights[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                0.1012285362903763};
  double sum = 0;
  for (int i = 0; i < pieces; ++i) {
    const double half = width / (2 * pieces), middle = (2 * i + 1) * half;
    for (int j = 0; j < 4; ++j)
      sum += half * weights[j] * (f(middle - half * nodes[j]) + f(middle + half * nodes[j]));
  }
  return sum;
}

}  // namespace rushlight
