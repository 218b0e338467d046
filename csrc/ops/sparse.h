// Products with a sparse matrix, whose entries are given as rows, columns and values.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// The matrix (n, m) of these entries times dense (m, width) -> (n, width). float32 and float64.
Tensor sparse_product(const Tensor& rows, const Tensor& columns, const Tensor& values,
                      const Tensor& dense, std::int64_t n);
// For each entry, the product of the rows a[rows[e]] and b[columns[e]] -> (entries).
Tensor sparse_dots(const Tensor& rows, const Tensor& columns, const Tensor& a, const Tensor& b);

}  // namespace rushlight
