// Reductions of a view over some of its dimensions. A changer must know: `out` has the rank of the
// input with size 1 where it is reduced; sums of floating types run in many lanes and are joined
// in double, so their error does not grow with the count.
#pragma once
#include "view.h"

namespace rushlight {

enum class Reduction : std::uint8_t {
  sum,      // integers: to int64, wrapping
  product,  // integers: to int64, wrapping
  maximum,  // a NaN wins
  minimum,  // a NaN wins
  count,    // of what is not zero: to int64, or to a floating type (the norm of order 0)
  any,      // to bool or uint8
  all,      // to bool or uint8
  nansum,   // from here on floating types only
  mean,
  variance,   // sum((x - mean)^2) / max(0, n - parameter)
  deviation,  // the square root of that
  log_sum_exp,
  absolute_sum,  // norms of order 1, 2, any, +inf and -inf
  euclidean,
  norm,  // (sum |x|^parameter)^(1 / parameter)
  absolute_maximum,
  absolute_minimum,
};

struct ReduceKernels {
  // An empty reduction writes the neutral element; for the extremes the caller refuses it.
  void (*reduce)(Reduction, const View& out, const View& in, double parameter);
  // The first extreme of each row along `dim` and where it is; out views have size 1 there.
  void (*extreme)(bool largest, const View& values, const View& indices, const View& in, int dim);
};
extern const ReduceKernels cpu_reduce;

}  // namespace rushlight
