// Elements by their indices in the flat tensor, and along a dimension with broadcasting.
#include "checks.h"
#include "index.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight {

static void check_flat(const Tensor& index, const Tensor& input) {
  const std::int64_t n = input.numel();
  check_indices(index, -n, n, [n](std::int64_t k, std::int64_t) {
    fail<IndexError>("out of range: tried to access index ", k, " on a tensor of ", n,
                     " elements.");
  });
}

Tensor take(const Tensor& input, const Tensor& given) {
  if (given.dtype() != DType::int64)
    fail<RuntimeError>("take(): Expected a long tensor for index, but got ",
                       scalar_name(given.dtype()));
  check_same_device("take", input, "input", given, "index");
  if (input.numel() == 0 && given.numel())
    fail<IndexError>("take(): tried to take from an empty tensor");
  check_flat(given, input);
  if (!input.is_contiguous() && given.numel() < input.numel()) {  // which is not copied for a few
    Tensor rest = given;
    std::vector<Tensor> places(std::size_t(input.dim()));
    for (int d = input.dim() - 1; d >= 0; --d) {
      const Scalar size = input->shape[d];
      places[std::size_t(d)] = apply<Remainder>(rest, size);
      rest = apply<FloorDivide>(rest, size);
    }
    return named(index(input, places), "TakeBackward0");
  }
  return named(index(reshape(input, {-1}), {given}), "TakeBackward0");
}

Tensor take_along_dim(const Tensor& input, const Tensor& indices, std::optional<std::int64_t> dim) {
  if (indices.dtype() != DType::int64)
    fail<RuntimeError>("torch.take_along_dim(): dtype of indices should be Long but got ",
                       scalar_name(indices.dtype()));
  if (!dim) return gather(reshape(input, {-1}), 0, reshape(indices, {-1}));
  const int at = wrap_dim(*dim, input.dim());
  if (input.dim() != indices.dim())
    fail<RuntimeError>(
        "torch.take_along_dim(): input and indices should have the same number of dimensions, but "
        "got ",
        input.dim(), " dimensions for input, and ", indices.dim(), " dimensions for indices");
  Shape left = input.shape(), right = indices.shape();
  if (input.dim()) left[at] = right[at] = 1;
  Shape shape = broadcast(left, right), of_input = shape, of_index = shape;
  if (input.dim()) {
    of_input[at] = input->shape[at];
    of_index[at] = indices->shape[at];
  }
  // Indices wrap around, as torch's do.
  const std::int64_t n = input.dim() ? input->shape[at] : 1;
  const Tensor wrapped = n ? apply<Remainder>(indices, Scalar(n)) : indices;
  return gather(expand(input, of_input), at, expand(wrapped, of_index));
}

}  // namespace rushlight
