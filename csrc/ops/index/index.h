// Reading and writing by indices along one dimension, or in the flat tensor: what ops.h does not
// name already.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// ---- index.cpp
Tensor take(const Tensor& input, const Tensor& index);  // of the flat tensor; index's shape
Tensor take_along_dim(const Tensor& input, const Tensor& indices, std::optional<std::int64_t> dim);
// gather() whose gradient is sparse, made in Python: set by the bindings.
inline Tensor (*sparse_gather)(const Tensor& input, std::int64_t dim,
                               const Tensor& index) = nullptr;
bool equal(const Tensor& input, const Tensor& other);  // equal.cpp: same shape, same elements
// |input - other| <= atol + rtol * |other|, for each element and for all of them.
Tensor isclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan);
bool allclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan);

// ---- index_write.cpp: copies of input with source at the indices
Tensor index_fill(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& value);
void index_fill_(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value);
Tensor index_copy(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor masked_scatter(const Tensor& input, const Tensor& mask, const Tensor& source);
Tensor put(const Tensor& input, const Tensor& index, const Tensor& source, bool accumulate);

// ---- scatter_reduce.cpp; reduce: sum, prod, mean, amax or amin
Tensor scatter_reduce(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self);
Tensor index_reduce(const Tensor& input, std::int64_t dim, const Tensor& index,
                    const Tensor& source, std::string_view reduce, bool include_self);

// ---- slice_scatter.cpp: copies of input in which a view of it holds src
Tensor select_scatter(const Tensor& input, const Tensor& src, std::int64_t dim, std::int64_t index);
Tensor slice_scatter(const Tensor& input, const Tensor& src, std::int64_t dim,
                     std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                     std::int64_t step);
Tensor diagonal_scatter(const Tensor& input, const Tensor& src, std::int64_t offset,
                        std::int64_t dim1, std::int64_t dim2);
Tensor as_strided_scatter(const Tensor& input, const Tensor& src, const Shape& size,
                          const Shape& stride, std::optional<std::int64_t> storage_offset);

}  // namespace rushlight
