// Products with a sparse matrix, which is given entry by entry.
#pragma once
#include "view.h"

namespace rushlight {

// rows and columns (entries) int64; floats or doubles; all contiguous. Both return the position of
// the first entry whose indices lie outside the operands, or -1.
struct SparseKernels {
  // out[rows[e]] += values[e] * dense[columns[e]], in the order of the entries; out (n, width) is
  // zeros, dense (m, width).
  std::int64_t (*product)(const View& rows, const View& columns, const View& values,
                          const View& dense, const View& out);
  // out[e] = the product of the rows a[rows[e]] and b[columns[e]]; a (n, width), b (m, width).
  std::int64_t (*dots)(const View& rows, const View& columns, const View& a, const View& b,
                       const View& out);
};

extern const SparseKernels cpu_sparse;

}  // namespace rushlight
