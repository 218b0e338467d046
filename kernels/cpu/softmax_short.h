// Softmax over many lines of a few elements: lines side by side fill vectors, elements of one do
// not.
#pragma once
#include "../softmax.h"
#include "../view.h"

namespace rushlight::rows {

inline bool has_short_lines(const SoftmaxShape& s) {
  constexpr std::int64_t kLongest = 64, kLongestRow = 15, kLanes = 16, kFew = 512;
  return s.dim <= (s.inner == 1 ? kLongestRow : kLongest) && s.outer * s.inner >= kLanes &&
         (s.inner < kLanes || s.dim * s.inner <= kFew);
}

template <class S>
void softmax_of_short_lines(const SoftmaxShape& s, const S* x, bool logarithm, S* y);
template <class S>
void gradient_of_short_lines(const SoftmaxShape& s, const S* g, const S* y, bool logarithm, S* out);

}  // namespace rushlight::rows
