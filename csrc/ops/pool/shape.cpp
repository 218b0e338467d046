// See pool_shape.h. Missing dimensions are pooled as a size of 1.
#include "shape.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "ops/memory_format.h"

namespace rushlight {
namespace {

std::int64_t entry(const char* name, const char* what, const Shape& given, int rank, int d) {
  constexpr const char* kMany[] = {"one int", "two ints", "three ints"};
  if (given.rank != 1 && given.rank != rank)
    fail<RuntimeError>(name, ": ", what, " must either be a single int, or a tuple of ",
                       kMany[rank - 1], ", got ", given);
  return given[given.rank == 1 ? 0 : d];
}

// torch's: rounded up in ceil_mode, but the last window starts inside the input or its left pad.
std::int64_t result_size(std::int64_t in, std::int64_t kernel, std::int64_t stride,
                         std::int64_t padding, std::int64_t dilation, bool ceil_mode) {
  const std::int64_t reach = checked_add(checked_mul(dilation, kernel - 1), 1);
  const std::int64_t room = checked_add(in, checked_mul(2, padding)) - reach;
  const std::int64_t up = checked_add(room, ceil_mode ? stride - 1 : 0);
  std::int64_t size = up / stride - (up % stride < 0) + 1;
  if (ceil_mode && checked_mul(size - 1, stride) >= checked_add(in, padding)) --size;
  return size;
}

std::int64_t product(const Shape& shape, int begin, int end) {
  std::int64_t n = 1;
  for (int d = begin; d < end; ++d) n = checked_mul(n, shape[d]);
  return n;
}

// Also of no planes at all, whose tensors are of any size.
void check_planes(const PoolShape& s) {
  for (const std::int64_t* n : {s.in, s.result}) checked_mul(checked_mul(n[0], n[1]), n[2]);
}

void check_input(const char* name, int rank, const Tensor& input, bool takes_max) {
  const int dim = input.dim();
  if ((takes_max || rank == 3) && rank > 1 && dim != rank + 1 && dim != rank + 2)
    fail<RuntimeError>("non-empty ", rank + 1, "D or ", rank + 2,
                       "D (batch mode) tensor expected for input\n", name,
                       "(): ", describe("input", input));
  bool fits = dim == rank + 1 || dim == rank + 2;
  for (int d = dim - rank - 1; fits && d < dim; ++d) fits = input->shape[d] != 0;
  if (!fits)
    fail<RuntimeError>(
        name, ": Expected ", rank + 1, "D or ", rank + 2,
        "D (batch mode) tensor with optional 0 dim batch size for input, but got:", input.sizes());
}

}  // namespace

void refuse_integers(const Tensor& input, const char* kernel) {
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("\"", kernel, "\" not implemented for '", scalar_name(input.dtype()),
                              "'");
}

void check_some_result(const char* pooling, bool of_volumes, const Tensor& grad) {
  for (int d = 1; d < grad.dim(); ++d)
    if (grad->shape[d] == 0)
      fail<RuntimeError>(pooling, of_volumes ? 3 : 2, "d_backward(): Expected grad_output to have ",
                         "non-zero size for non-batch dimensions, but grad_output has sizes ",
                         grad.sizes(), " with dimension ", d, " being empty");
}

PoolShape with_channels_inside(const PoolShape& s, std::int64_t channels) {
  PoolShape c = s;
  c.planes = s.planes / channels;
  for (int axis = 0; axis < 2; ++axis) {
    c.in[axis] = s.in[axis + 1], c.result[axis] = s.result[axis + 1];
    c.kernel[axis] = s.kernel[axis + 1], c.stride[axis] = s.stride[axis + 1];
    c.padding[axis] = s.padding[axis + 1], c.dilation[axis] = s.dilation[axis + 1];
  }
  c.in[2] = c.result[2] = channels;
  c.kernel[2] = c.stride[2] = c.dilation[2] = 1, c.padding[2] = 0;
  c.inside = true;
  return c;
}

bool pools_inside(const PoolShape& s, const Tensor& image) {
  return has_channels_inside(image) && s.in[0] == 1 && s.result[0] == 1 &&
         s.planes == image->shape[0] * image->shape[1] &&
         s.in[1] * s.in[2] <= std::numeric_limits<std::int32_t>::max();
}

PooledShape pool_shape(const char* name, int rank, const Tensor& input, const PoolOptions& options,
                       bool takes_max) {
  check_input(name, rank, input, takes_max);
  PoolShape s{};
  Shape sizes = input.shape();
  const int dim = input.dim();
  s.planes = product(sizes, 0, dim - rank);
  for (int i = 0; i < 3; ++i) {
    const int d = i - (3 - rank);
    if (d < 0) {
      s.in[i] = s.kernel[i] = s.stride[i] = s.dilation[i] = s.result[i] = 1;
      continue;
    }
    s.in[i] = input->shape[dim - rank + d];
    s.kernel[i] = entry(name, "kernel_size", options.kernel, rank, d);
    s.stride[i] =
        options.stride.rank == 0 ? s.kernel[i] : entry(name, "stride", options.stride, rank, d);
    s.padding[i] = entry(name, "padding", options.padding, rank, d);
    s.dilation[i] = takes_max ? entry(name, "dilation", options.dilation, rank, d) : 1;
    if (s.stride[i] == 0) fail<RuntimeError>("stride should not be zero");
    if (s.stride[i] < 0)
      fail<RuntimeError>("stride should be greater than zero, but got ", s.stride[i]);
    if (s.kernel[i] <= 0)
      fail<RuntimeError>("kernel size should be greater than zero, but got ", s.kernel[i]);
    if (s.dilation[i] <= 0)
      fail<RuntimeError>("dilation should be greater than zero, but got ", s.dilation[i]);
    if (s.padding[i] < 0)
      fail<RuntimeError>("pad must be non-negative, but got pad: ", s.padding[i]);
    const std::int64_t reach = checked_add(checked_mul(s.dilation[i], s.kernel[i] - 1), 1);
    if (s.padding[i] > reach / 2)
      fail<RuntimeError>(
          "pad should be at most half of effective kernel size, but got pad=", s.padding[i],
          ", kernel_size=", s.kernel[i], " and dilation=", s.dilation[i]);
    s.result[i] = result_size(s.in[i], s.kernel[i], s.stride[i], s.padding[i], s.dilation[i],
                              options.ceil_mode);
    sizes[dim - rank + d] = s.result[i];
  }
  if (s.result[0] < 1 || s.result[1] < 1 || s.result[2] < 1) {
    std::string from, to;
    for (int i = std::min(3 - rank, 1); i < 3; ++i) {
      from += text("x", s.in[i]);
      to += text("x", s.result[i]);
    }
    const std::int64_t channels = input->shape[dim - rank - 1];
    fail<RuntimeError>("Given input size: (", channels, from, "). Calculated output size: (",
                       channels, to, "). Output size is too small\n", describe("input", input));
  }
  check_planes(s);
  return {s, sizes};
}

PooledShape adaptive_shape(const char* name, int rank, const Tensor& input, const Shape& size) {
  const int dim = input.dim();
  if (size.rank != 1 && size.rank != rank) fail<RuntimeError>(name, ": output_size must be ", rank);
  if (dim != rank + 1 && dim != rank + 2)
    fail<RuntimeError>(name, "(): Expected ", rank + 1, "D or ", rank + 2, "D tensor, but got ",
                       input.sizes());
  auto check_not_empty = [&](int d) {
    if (input->shape[d] == 0)
      fail<RuntimeError>(name,
                         "(): Expected input to have non-zero size for non-batch dimensions, but "
                         "input has sizes ",
                         input.sizes(), " with dimension ", d, " being empty");
  };
  const std::string_view kind = name;
  const bool of_no_channels = kind == "adaptive_avg_pool1d" || kind == "adaptive_avg_pool2d";
  if (dim == rank + 2 && !of_no_channels) check_not_empty(1);
  PoolShape s{};
  s.adaptive = true;
  Shape sizes = input.shape();
  s.planes = product(sizes, 0, dim - rank);
  for (int i = 0; i < 3; ++i) {
    const int d = i - (3 - rank);
    s.in[i] = d < 0 ? 1 : input->shape[dim - rank + d];
    s.result[i] = d < 0 ? 1 : size[size.rank == 1 ? 0 : d];
    s.dilation[i] = 1;
    if (s.result[i] < 0)
      fail<RuntimeError>(name,
                         ": elements of output_size must be greater than or equal to 0 but "
                         "received ",
                         s.result[i]);
    if (d < 0) continue;
    check_not_empty(dim - rank + d);
    sizes[dim - rank + d] = s.result[i];
  }
  check_planes(s);
  return {s, sizes};
}

}  // namespace rushlight
