// Reading and writing at positions, written from index(), index_put() and gather().
#include "ops/arrange.h"
#include "ops/pointwise.h"
#include "ops/positions.h"
#include "ops/sort.h"

namespace rushlight {
namespace {

std::vector<Tensor> along(int dim, const Tensor& index) {
  std::vector<Tensor> indices(std::size_t(dim) + 1);
  indices[std::size_t(dim)] = index.dim() ? index : unsqueeze(index, 0);
  return indices;
}

void check_vector(const char* op, const Tensor& index) {
  if (index.dim() > 1)
    fail<IndexError>(op, "(): Expected a 1-D tensor for index, but got ", index.dim(), "-D");
  if (index.dtype() != DType::int64) fail<IndexError>(op, "(): Expected dtype int64 for index.");
}

void check_flat(const Tensor& index, const Tensor& input) {
  const std::int64_t n = input.numel();
  check_positions(index, -n, n, [n](std::int64_t k, std::int64_t) {
    fail<IndexError>("out of range: tried to access index ", k, " on a tensor of ", n,
                     " elements.");
  });
}

}  // namespace

Tensor take(const Tensor& input, const Tensor& given) {
  if (given.dtype() != DType::int64)
    fail<RuntimeError>("take(): Expected a long tensor for index, but got ",
                       scalar_name(given.dtype()));
  check_same_device("take", input, "input", given, "index");
  if (input.numel() == 0 && given.numel())
    fail<IndexError>("take(): tried to take from an empty tensor");
  check_flat(given, input);
  return index(reshape(input, {-1}), {given});
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
  // Positions go around, as torch's do.
  const std::int64_t n = input.dim() ? input->shape[at] : 1;
  const Tensor places = n ? apply<Remainder>(indices, Scalar(n)) : indices;
  return gather(expand(input, of_input), at, expand(places, of_index));
}

Tensor index_fill(const Tensor& input, std::int64_t dim, const Tensor& given, const Tensor& value) {
  const int at = wrap_dim(dim, input.dim());
  check_vector("index_fill_", given);
  if (value.dim() != 0)
    fail<RuntimeError>(
        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
        " dimension(s).");
  const Tensor v = to(value, input.dtype(), input.device());
  // An index that occurs twice is written once: value's gradient must not count it twice.
  const Tensor once = needs_grad(v) ? std::get<0>(unique(given, {}, false)) : given;
  if (input.dim() == 0) return view(index_put(unsqueeze(input, 0), along(0, once), v, false), {});
  return index_put(input, along(at, once), v, false);
}

Tensor index_copy(const Tensor& input, std::int64_t dim, const Tensor& given,
                  const Tensor& source) {
  const int at = wrap_dim(dim, input.dim());
  check_vector("index_copy_", given);
  Shape expected = input.shape();
  if (input.dim()) expected[at] = given.numel();
  if (!same(expected, source.sizes()) && source.dim())
    fail<RuntimeError>(
        "index_copy_(): Source/destination tensor must have same slice shapes. Expected ", expected,
        " but got ", source.sizes());
  const std::int64_t n = input.dim() ? input->shape[at] : 1;
  check_positions(given, 0, n, [&](std::int64_t k, std::int64_t) {
    fail<IndexError>("index_copy_(): index ", k, " is out of bounds for dimension ", at,
                     " with size ", n);
  });
  if (source.dtype() != input.dtype())
    fail<RuntimeError>(
        "index_copy_(): self and source expected to have the same dtype, but got (self) ",
        scalar_name(input.dtype()), " and (source) ", scalar_name(source.dtype()));
  if (input.dim() == 0)
    return view(index_put(unsqueeze(input, 0), along(0, given), reshape(source, {-1}), false), {});
  return index_put(input, along(at, given), source, false);
}

Tensor masked_scatter(const Tensor& input, const Tensor& mask, const Tensor& source) {
  if (mask.dtype() != DType::boolean)
    fail<RuntimeError>("masked_scatter_ only supports boolean masks, but got mask with dtype ",
                       scalar_name(mask.dtype()));
  if (source.dtype() != input.dtype())
    fail<RuntimeError>("masked_scatter_: expected self and source to have same dtypes but got ",
                       scalar_name(input.dtype()), " and ", scalar_name(source.dtype()));
  check_same_device("masked_scatter", input, "input", mask, "mask");
  const Shape shape = broadcast(input.sizes(), mask.sizes());
  const Tensor whole = contiguous(expand(input, shape));
  const std::vector<Tensor> places = nonzero_tuple(contiguous(expand(mask, shape)));
  const std::int64_t n = places.empty() ? 0 : places[0].numel();
  if (n > source.numel())
    fail<RuntimeError>("Number of elements of source < number of ones in mask: ", source.numel(),
                       " < ", n);
  const Tensor values = narrow(reshape(source, {-1}), 0, 0, n);
  if (shape.rank == 0) return n ? view(values, {}) : clone(whole);
  return index_put(whole, places, values, false);
}

Tensor index_add(const Tensor& input, std::int64_t dim, const Tensor& given, const Tensor& source,
                 Scalar alpha) {
  const int at = wrap_dim(dim, input.dim());
  if (given.dim() > 1)
    fail<IndexError>("index_add_(): Index is supposed to be a vector, but got dim: ", given.dim());
  const std::vector<Tensor> indices = along(at, given);
  Shape expected = input.shape();
  if (input.dim()) expected[at] = given.numel();
  if (!same(source.sizes(), expected))
    fail<RuntimeError>("index_add_(): Number of indices (", given.numel(),
                       ") should be equal to source.size(dim): (",
                       source.dim() ? source.size(std::min(at, source.dim() - 1)) : 1,
                       "), for dim: ", dim);
  if (source.dtype() != input.dtype())
    fail<RuntimeError>("index_add_(): self (", scalar_name(input.dtype()), ") and source (",
                       scalar_name(source.dtype()), ") must have the same scalar type");
  const std::int64_t n = input.dim() ? input->shape[at] : 1;
  check_positions(given, 0, n, [&](std::int64_t k, std::int64_t) {
    fail<IndexError>("index out of range in self: index ", k, " for dimension ", at, " with size ",
                     n);
  });
  const Tensor added = alpha.as_double() == 1 ? source : mul(source, alpha);
  if (input.dim() == 0)
    return view(index_put(unsqueeze(input, 0), indices, reshape(added, {-1}), true), {});
  return index_put(input, indices, added, true);
}
static Tensor spread(Scalar value, const Tensor& input, const Tensor& index) {
  return expand(scalar_tensor(value, input.dtype(), input.device()), index.shape());
}
Tensor scatter_value(const Tensor& input, std::int64_t dim, const Tensor& index, Scalar value) {
  return scatter(input, dim, index, spread(value, input, index));
}
// Products are made one index of the dimension after the other.
Tensor scatter_reduced(const Tensor& input, std::int64_t dim, const Tensor& index,
                       const Tensor& src, std::string_view reduce) {
  if (reduce == "add") return scatter_add(input, dim, index, src);
  if (reduce != "multiply")
    fail<RuntimeError>("reduce argument must be either add or multiply.\ngot ", reduce);
  if (needs_grad(input, src))
    fail<NotImplementedError>("scatter(): reduce='multiply' has no gradient");
  Tensor out = scatter(input, dim, index, src);  // checks all of it
  out = clone(input);
  if (input.dim() == 0 || index.numel() == 0)
    return index.numel() ? mul(out, reshape(src, {})) : out;
  const int at = wrap_dim(dim, input.dim());
  for (std::int64_t i = 0; i < index.size(at); ++i) {
    const Tensor here = narrow(index, at, i, 1);
    Tensor part = narrow(src, at, i, 1);
    for (int d = 0; d < part.dim(); ++d) part = narrow(part, d, 0, here->shape[d]);
    out = scatter(out, at, here, mul(gather(out, at, here), part));
  }
  return out;
}
Tensor scatter_value_reduced(const Tensor& input, std::int64_t dim, const Tensor& index,
                             Scalar value, std::string_view reduce) {
  return scatter_reduced(input, dim, index, contiguous(spread(value, input, index)), reduce);
}

}  // namespace rushlight
