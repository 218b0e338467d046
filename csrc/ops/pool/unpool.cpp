// The inverse of max-pooling, and max-pooling with windows drawn at random. Both gradients move
// elements to and from flat indices of a plane, which scatter_add and gather do.
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "ops/memory_format.h"
#include "ops/random/random.h"
#include "pool.h"
#include "shape.h"

namespace rushlight {
namespace {

// The plane of s.in and the outputs of s.result, for `rank` spatial dimensions.
PoolShape plain_shape(int rank, const Tensor& t, Sizes in, Sizes result) {
  PoolShape s{};
  s.planes = 1;
  for (int d = 0; d < t.dim() - rank; ++d) s.planes = checked_mul(s.planes, t->shape[d]);
  for (int axis = 0; axis < 3; ++axis) {
    const int d = axis - (3 - rank);
    s.in[axis] = d < 0 ? 1 : in[std::size_t(d)];
    s.result[axis] = d < 0 ? 1 : result[std::size_t(d)];
    s.kernel[axis] = s.stride[axis] = s.dilation[axis] = 1;
  }
  return s;
}

Sizes spatial(const Tensor& t, int rank) { return t.sizes().last(std::size_t(rank)); }
Tensor flat(const Tensor& t, int rank) { return flatten(t, -rank, -1); }

// Every element of `from`, which has the shape of `indices`, added at its flat index of zeros of
// `sizes`.
Tensor scatter_planes(const Tensor& from, const Tensor& indices, const Shape& sizes, int rank) {
  const Tensor zero = flat(zeros(sizes, from.dtype(), from.device()), rank);
  return reshape(scatter_add(zero, -1, flat(indices, rank), flat(from, rank)), sizes);
}
Tensor gather_planes(const Tensor& from, const Tensor& indices, int rank) {
  return reshape(gather(flat(from, rank), -1, flat(indices, rank)), indices.shape());
}

void check_not_empty(const char* name, int rank, const Tensor& input) {
  const int dim = input.dim();
  for (int d = dim - rank - 1; d < dim; ++d)
    if (input->shape[d] == 0)
      fail<RuntimeError>(name,
                         "(): Expected input to have non-zero size for non-batch dimensions, ",
                         "but got ", input.sizes(), " with dimension ", d, " being empty.");
}

constexpr const char* kAxis[] = {"time", "height", "width"};

}  // namespace

std::tuple<Tensor, Tensor> fractional_max_pool(const char* name, int rank, const Tensor& input,
                                               const Shape& kernel, const Shape& size,
                                               const std::optional<Tensor>& samples) {
  const int dim = input.dim();
  if (dim != rank + 1 && dim != rank + 2)
    fail<RuntimeError>(name, "(): Expected ", rank + 1, "D or ", rank + 2,
                       "D tensor, but got: ", input.sizes());
  const std::pair<const char*, const Shape&> given[] = {{"kernel_size", kernel},
                                                        {"output_size", size}};
  for (const auto& [what, shape] : given)
    if (shape.rank != 1 && shape.rank != rank)
      fail<RuntimeError>(name, ": ", what, " must either be a single Int or tuple of Ints, got ",
                         shape);
  check_not_empty(name, rank, input);
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("\"", name, "\" not implemented for '", scalar_name(input.dtype()),
                              "'");
  Shape sizes = input.shape();
  for (int d = 0; d < rank; ++d) sizes[dim - rank + d] = size[size.rank == 1 ? 0 : d];
  PoolShape s =
      plain_shape(rank, input, spatial(input, rank), sizes.view().last(std::size_t(rank)));
  for (int axis = 3 - rank; axis < 3; ++axis) {
    const int d = axis - (3 - rank);
    s.kernel[axis] = kernel[kernel.rank == 1 ? 0 : d];
    if (s.kernel[axis] <= 0)
      fail<RuntimeError>(name, "(): kernel_size should be greater than zero, got ", kernel);
    if (s.result[axis] < 0)
      fail<RuntimeError>(name, "(): output_size should not be negative, got ", size);
    if (checked_add(s.result[axis], s.kernel[axis]) - 1 > s.in[axis])
      fail<RuntimeError>(name, "(): pool ", kAxis[axis], " ", s.kernel[axis],
                         " too large relative to input ", kAxis[axis], " ", s.in[axis],
                         "\noutput_size is ", size, ", ", describe("input", input));
  }
  const std::int64_t n = dim == rank + 2 ? input->shape[0] : 1, c = input->shape[dim - rank - 1];
  Options like;
  like.dtype = input.dtype();
  like.device = input.device();
  Tensor drawn = samples ? *samples : rand({n, c, rank}, {}, like);
  if (drawn.dtype() != input.dtype())
    fail<RuntimeError>("Expect _random_samples to have the same dtype as input\n",
                       describe("_random_samples", drawn), ", ", describe("input", input));
  check_same_device(name, drawn, "_random_samples", input, "input");
  if (drawn.dim() != 3)
    fail<RuntimeError>("Expect _random_samples to have 3 dimensions, got ", drawn.sizes());
  if (drawn->shape[0] < n)
    fail<RuntimeError>("Expect _random_samples.size(0) no less then input batch size.");
  if (drawn->shape[1] != c)
    fail<RuntimeError>("Expect _random_samples.size(1) equals to input channel size.");
  if (drawn->shape[2] != rank)
    fail<RuntimeError>("Expect _random_samples.size(2) equals to ", rank, "; got ", drawn->shape[2],
                       ".");
  Tensor out = empty(sizes, input.dtype(), input.device());
  const Tensor indices = empty(sizes, DType::int64, input.device());
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor x = contiguous(input), u = contiguous(narrow(drawn, 0, 0, n));
    const View v = dense_view(x, out.dtype(), inputs_of(s)),
               w = dense_view(u, out.dtype(), checked_mul(s.planes, rank)), o = view_of(out),
               i = view_of(indices);
    const PoolKernels& kernels = *backend(out.device()).pool;
    const Unlocked unlocked(nanoseconds(s) * 4, {&x, &u, &out, &indices});
    kernels.fractional_max(s, rank, v, w, o, i);
  }
  out = record(
      rank == 2 ? "FractionalMaxPool2DBackward0" : "FractionalMaxPool3DBackward0", std::move(out),
      [rank, at = Saved(indices), from = input.shape()](Tensor g) {
        return Gradients(scatter_planes(g, at.get(), from, rank));
      },
      input);
  return {std::move(out), indices};
}

Tensor max_unpool(const char* name, int rank, const Tensor& input, const Tensor& indices,
                  const Shape& size) {
  const int dim = input.dim();
  if (indices.dtype() != DType::int64)
    fail<RuntimeError>("elements in indices should be type int64 but got: ",
                       scalar_name(indices.dtype()));
  if (dim != rank + 1 && dim != rank + 2)
    fail<RuntimeError>("Input to max_unpooling", rank, "d should be a ", rank + 1, "d or ",
                       rank + 2, "d Tensor, but got a tensor with ", dim, " dimensions.");
  if (!same(indices.sizes(), input.sizes()))
    fail<RuntimeError>("Expected shape of indices to be same as that of the input tensor (",
                       input.sizes(), ") but got indices tensor with shape: ", indices.sizes());
  check_same_device(name, indices, "indices", input, "input");
  check_not_empty(name, rank, input);
  Shape sizes = input.shape();
  for (int d = 0; d < rank; ++d) {
    if (size[d] < 0)
      fail<ValueError>("max_unpooling: output_size must contain non-negative spatial dimensions, ",
                       "but got output_size[", d, "]=", size[d]);
    sizes[dim - rank + d] = size[d];
  }
  const PoolShape s = plain_shape(rank, input, size.view(), spatial(input, rank));
  Tensor out = empty(sizes, input.dtype(), input.device());
  if (input.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor x = contiguous(input), at = contiguous(indices);
    const View v = dense_view(x, out.dtype(), results_of(s)),
               i = dense_view(at, DType::int64, results_of(s)), o = view_of(out);
    const PoolKernels& kernels = *backend(out.device()).pool;
    std::int64_t bad;
    {
      const Unlocked unlocked(nanoseconds(s), {&x, &at, &out});
      bad = out.numel() ? kernels.unpool(s, v, i, o) : 0;
    }
    if (bad >= 0) {
      std::string volume = text(size[0]);
      for (int d = 1; d < std::max(rank, 2); ++d) volume += text("x", d < rank ? size[d] : 1);
      fail<RuntimeError>("Found an invalid max index: ", element(at, at.offset() + bad).as_int(),
                         " (output volumes are of size ", volume, ")");
    }
  }
  if (rank == 2) out = in_format_of(input, std::move(out));
  const char* const nodes[] = {"SqueezeBackward1", "MaxUnpool2DBackward0", "MaxUnpool3DBackward0"};
  return record(
      nodes[rank - 1], std::move(out),
      [rank, at = Saved(indices)](Tensor g) { return Gradients(gather_planes(g, at.get(), rank)); },
      input);
}

}  // namespace rushlight
