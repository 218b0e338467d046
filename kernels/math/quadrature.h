// The integral of a smooth function, in double.
#pragma once
#include "real.h"

namespace rushlight {

// Of f from 0 to `width`, by Gauss and Legendre's eight points in each of some pieces.
template <class F>
HOST_DEVICE inline double integral(double width, int pieces, F f) {
  // Chosen, not read from a table: a GPU would keep the table in local memory.
  const auto node = [](int j) {
    return j == 0   ? 0.1834346424956498
           : j == 1 ? 0.5255324099163290
           : j == 2 ? 0.7966664774136267
                    : 0.9602898564975363;
  };
  const auto weight = [](int j) {
    return j == 0   ? 0.3626837833783620
           : j == 1 ? 0.3137066458778873
           : j == 2 ? 0.2223810344533745
                    : 0.1012285362903763;
  };
  double sum = 0;
  for (int i = 0; i < pieces; ++i) {
    const double half = width / (2 * pieces), middle = (2 * i + 1) * half;
    for (int j = 0; j < 4; ++j)
      sum += half * weight(j) * (f(middle - half * node(j)) + f(middle + half * node(j)));
  }
  return sum;
}

}  // namespace rushlight
