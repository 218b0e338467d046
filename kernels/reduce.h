// Reductions of a view over some of its dimensions: what a device provides. Note:
// `out` has the rank of the input with size 1 where it is reduced; the formulas, for all devices,
// are in reduce_formulas.h.
#pragma once
#include "view.h"

namespace rushlight {

enum class Reduction : std::uint8_t;  // a position in the list at the end of reduce_formulas.h

struct ReduceKernels {
  // An empty reduction writes the neutral element; for the extremes the caller refuses it.
  void (*reduce)(Reduction, const View& out, const View& in, double parameter);
  // The first extreme of each row along `dim` and its index; out views have size 1 there.
  void (*extreme)(bool largest, const View& values, const View& indices, const View& in, int dim);
};
extern const ReduceKernels cpu_reduce;

}  // namespace rushlight
