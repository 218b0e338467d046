// Reductions. Shapes: input (any); out without the reduced dimensions, or with size 1 there if
// `keepdim`. No dims named: all of them. Integers are summed in int64.
#pragma once
#include "kernels/reduce.h"
#include "ops/ops.h"

namespace rushlight {

using OptionalDtype = std::optional<DType>;
using TensorPair = std::tuple<Tensor, Tensor>;

// ---- what the families below share (reduce.cpp)
struct ReducedShape {  // which dimensions a reduction takes
  unsigned mask = 0;
  Shape whole, kept, squeezed;  // of the input; with size 1 where reduced; without these
  std::int64_t count = 1;       // elements of one result
  ReducedShape(const Tensor& input, Sizes dims);
  Shape shape(bool keepdim) const { return keepdim ? kept : squeezed; }
};
// What nodes show of it: the sizes of the input, the dimensions, whether they were kept.
inline SavedValue value_of(const ReducedShape& over, Node&) {
  return std::vector<std::int64_t>(over.whole.begin(), over.whole.end());
}
struct ReducedDims {
  unsigned mask;
  bool given = true;  // else None
};
SavedValue value_of(ReducedDims dims, Node&);
// Whether kernels, which compute of `from` in float, may write `to` without a copy of the input.
inline bool is_computed_in(DType from, DType to) {
  return from == to ||
         (to == DType::float32 && (from == DType::float16 || from == DType::bfloat16));
}
// One kernel call into a new tensor; without history.
Tensor reduce_into_new(Reduction kind, const Tensor& input, const ReducedShape& over, bool keepdim,
                       DType dtype, double parameter = 0);
// A gradient of the result, seen in the shape of the input.
Tensor spread(const Tensor& g, const ReducedShape& over);
Tensor spread_rows(const Tensor& rows,
                   const ReducedShape& over);  // of gradients with rows in front
// IndexError in torch's words where a reduced dimension is empty.
void check_not_empty(const char* op, const Tensor& input, const ReducedShape& over,
                     bool dims_given);
// That of a sum or a product: the wanted one, else int64 of integers. Refuses integers as the
// result of what requires grad.
DType sum_dtype(const Tensor& input, OptionalDtype wanted);
// 1 where x is a number, 0 where it is NaN, in the dtype of x.
Tensor not_nan_mask(const Tensor& x);
// 1 where input equals the (kept) result or both are NaN, divided by how many there are.
Tensor share_of_extremes(const Tensor& input, const Tensor& result, const ReducedShape& over);
// A gradient of the result, in equal parts for those; where NaN is not to be found, it is shared by
// none of them, as torch has it: the parts are NaN.
Tensor shared_by_extremes(const Tensor& g, const Tensor& input, const Tensor& result,
                          const ReducedShape& over, bool finds_nan);

// ---- sums and counts (reduce.cpp); sum() itself is in ops.h
Tensor sum_to_size(const Tensor& input, const Shape& size);  // sum_to() of a size that fits
Tensor mean(const Tensor& input, Sizes dims, bool keepdim, OptionalDtype dtype = {});
Tensor nansum(const Tensor& input, Sizes dims, bool keepdim, OptionalDtype dtype = {});
Tensor nanmean(const Tensor& input, Sizes dims, bool keepdim, OptionalDtype dtype = {});
Tensor prod(const Tensor& input, OptionalDtype dtype);
Tensor prod(const Tensor& input, std::int64_t dim, bool keepdim, OptionalDtype dtype);
Tensor any(const Tensor& input, Sizes dims, bool keepdim);
Tensor all(const Tensor& input, Sizes dims, bool keepdim);
Tensor count_nonzero(const Tensor& input, Sizes dims);
// ---- segment.cpp
Tensor segment_reduce(const Tensor& data, std::string_view reduce,
                      const std::optional<Tensor>& lengths, const std::optional<Tensor>& indices,
                      const std::optional<Tensor>& offsets, std::int64_t axis, bool unsafe,
                      std::optional<Scalar> initial);

// ---- extremes (reduce_extreme.cpp): NaN wins; with a dim also the first index
Tensor amax(const Tensor& input, Sizes dims, bool keepdim);
Tensor amin(const Tensor& input, Sizes dims, bool keepdim);
TensorPair aminmax(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim);
Tensor max(const Tensor& input);
Tensor min(const Tensor& input);
TensorPair max(const Tensor& input, std::int64_t dim, bool keepdim);
TensorPair min(const Tensor& input, std::int64_t dim, bool keepdim);
Tensor argmax(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim);
Tensor argmin(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim);
// Gradient of every op that picks elements along `dim` by their indices (shape as g or without
// dim).
Tensor picked_backward(const Tensor& g, const Tensor& indices, const Shape& whole, int dim,
                       bool keepdim);

// ---- moments (reduce_moments.cpp)
Tensor var(const Tensor& input, Sizes dims, double correction, bool keepdim);
Tensor stddev(const Tensor& input, Sizes dims, double correction, bool keepdim);
TensorPair var_mean(const Tensor& input, Sizes dims, double correction, bool keepdim);
TensorPair std_mean(const Tensor& input, Sizes dims, double correction, bool keepdim);
Tensor logsumexp(const Tensor& input, Sizes dims, bool keepdim);

// ---- norms (reduce_norm.cpp)
// (sum |x|^ord)^(1 / ord); ord may be 0, inf and -inf.
Tensor vector_norm(const Tensor& input, double ord, Sizes dims, bool keepdim,
                   OptionalDtype dtype = {});
// The sum of the singular values of the matrices in two dimensions.
Tensor nuclear_norm(const Tensor& x, Sizes dims, bool keepdim);

}  // namespace rushlight
