// Copies, casts and fills between any strides on one device.
#pragma once
#include "view.h"

namespace rushlight {

struct CopyKernels {
  // out[i] = convert(in[i]); equal sizes (strides of 0 in `in` broadcast); no overlap.
  void (*copy)(const View& out, const View& in);
  void (*fill)(const View& out, Scalar value);
};
extern const CopyKernels cpu_copy;

}  // namespace rushlight
