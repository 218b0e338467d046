// Joining, repeating, splitting and reversing: what ops.h does not name already.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// ---- join.cpp: 0-d tensors count as vectors, and so on
Tensor hstack(const std::vector<Tensor>& tensors);
Tensor vstack(const std::vector<Tensor>& tensors);
Tensor dstack(const std::vector<Tensor>& tensors);
Tensor column_stack(const std::vector<Tensor>& tensors);

// ---- repeat.cpp
Tensor tile(const Tensor& input, const Shape& dims);
Tensor repeat_interleave(const Tensor& input, std::int64_t repeats, std::optional<std::int64_t> dim,
                         std::optional<std::int64_t> output_size);
// repeats: a count for each index of dim, or one; an output_size spares a GPU's host the wait.
Tensor repeat_interleave(const Tensor& input, const Tensor& repeats,
                         std::optional<std::int64_t> dim, std::optional<std::int64_t> output_size);
// Index i as often as repeats[i] says.
Tensor repeat_interleave(const Tensor& repeats, std::optional<std::int64_t> output_size);

// ---- split.cpp: all are views
using Indices = std::vector<std::int64_t>;
std::vector<Tensor> tensor_split(const Tensor& input, std::int64_t sections, std::int64_t dim);
std::vector<Tensor> tensor_split(const Tensor& input, const Indices& indices, std::int64_t dim);
std::vector<Tensor> tensor_split(const Tensor& input, const Tensor& indices_or_sections,
                                 std::int64_t dim);
// tensor_split() of one dimension: the second (the first of a vector), the first, the third. A
// number of sections divides its size.
enum class SplitAxis { horizontal, vertical, depth };
std::vector<Tensor> split_axis(const Tensor& input, std::int64_t sections, SplitAxis axis);
std::vector<Tensor> split_axis(const Tensor& input, const Indices& indices, SplitAxis axis);
// Autograd does not know that the parts are views.
std::vector<Tensor> unsafe_split(const Tensor& input, std::int64_t size, std::int64_t dim);
std::vector<Tensor> unsafe_split_sizes(const Tensor& input, Sizes sizes, std::int64_t dim);
std::vector<Tensor> unsafe_chunk(const Tensor& input, std::int64_t chunks, std::int64_t dim);

// ---- flip.cpp
Tensor fliplr(const Tensor& input);
Tensor flipud(const Tensor& input);
Tensor rot90(const Tensor& input, std::int64_t k, Sizes dims);

}  // namespace rushlight
