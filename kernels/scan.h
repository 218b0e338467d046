// Running reductions along one dimension; out has the sizes and the dtype of the input.
#pragma once
#include "view.h"

namespace rushlight {

enum class Scan : std::uint8_t { sum, product, log_sum_exp };

struct ScanKernels {
  void (*scan)(Scan, const View& out, const View& in, int dim);  // log_sum_exp: floating types
  // The extreme so far and the last index that had it; a NaN wins.
  void (*extreme)(bool largest, const View& values, const View& indices, const View& in, int dim);
};
extern const ScanKernels cpu_scan;

}  // namespace rushlight
