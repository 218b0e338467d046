// The passes of a smooth length over `lines` transforms that lie side by side.
#pragma once
#include "plan.h"

namespace rushlight::fft {

// Real and imaginary parts apart: value j of line l at [j * lines + l].
template <class T>
struct Planes {
  T *re, *im;
};

// Transforms x, or leaves the result in `other`, memory as large: returns where it is.
template <class T>
Planes<T> run_passes(const Plan<T>& plan, Index lines, Planes<T> x, Planes<T> other);

}  // namespace rushlight::fft
