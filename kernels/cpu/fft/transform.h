// Transforms of any length over lines that lie side by side (Planes in passes.h).
#pragma once
#include "passes.h"

namespace rushlight::fft {

// Transforms x, forwards and without a factor, or leaves the result in `other`: returns where it
// is. Both hold plan.capacity values of each line.
template <class T>
Planes<T> transform(const Plan<T>& plan, Index lines, Planes<T> x, Planes<T> other);

}  // namespace rushlight::fft
