// Copies, casts and fills between any strides on one device, and ranges (arange, linspace).
#pragma once
#include <cmath>

#include "view.h"

namespace rushlight {

// Values in equal steps. `computed` is what they are computed in: int64 for integers, else
// float64, or float32 for floating memory that is narrower than that.
struct Range {
  enum class Kind : std::uint8_t { whole, forward, from_both_ends, powers } kind;
  DType computed;
  std::int64_t count;
  std::int64_t start = 0, by = 0;          // of whole
  double first = 0, last = 0, step = 0;    // of the others
  double base = 0;                         // what is raised to numbers from both ends

  HOST_DEVICE std::int64_t whole(std::int64_t i) const { return start + i * by; }
  template <class C>
  HOST_DEVICE C forward(std::int64_t i) const {  // rounded once
    return C(first + double(i) * step);
  }
  template <class C>
  HOST_DEVICE C from_both_ends(std::int64_t i) const {  // the last is exact
    return i < count / 2 ? C(first) + C(step) * C(i) : C(last) - C(step) * C(count - 1 - i);
  }
  template <class C>
  HOST_DEVICE C power(std::int64_t i) const {
    return C(std::pow(base, double(from_both_ends<C>(i))));
  }
};

struct CopyKernels {
  // out[i] = convert(in[i]); equal sizes (strides of 0 in `in` broadcast); no overlap.
  void (*copy)(const View& out, const View& in);
  void (*fill)(const View& out, Scalar value);
  void (*range)(const View& out, const Range& range);  // out is dense
};
extern const CopyKernels cpu_copy;

}  // namespace rushlight
