// Average pooling, and the p-norm pooling that is made of it.
#include <cmath>

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/pointwise_ops.h"
#include "ops/memory_format.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce.h"
#include "pool.h"
#include "shape.h"

namespace rushlight {
namespace {

const char* average_node(int rank, bool adaptive) {
  if (rank == 1) return "SqueezeBackward1";
  if (adaptive) return rank == 2 ? "AdaptiveAvgPool2DBackward0" : "AdaptiveAvgPool3DBackward0";
  return rank == 2 ? "AvgPool2DBackward0" : "AvgPool3DBackward0";
}

Tensor average_backward(const PoolShape& s, const char* node, const Tensor& g, const Shape& sizes,
                        bool inside);

// `formatted`: channels_last where input is.
Tensor average(const PoolShape& s, const char* node, const Tensor& input, const Shape& sizes,
               bool formatted, const ShownOptions* shown = nullptr) {
  const bool inside = formatted && pools_inside(s, input);
  const Shape from = input.shape();  // before another thread can change it
  Tensor out = empty_image(sizes, input.dtype(), input.device(), inside);
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor x = inside ? channels_inside(input) : contiguous(input);
    const Tensor y = inside ? channels_inside(out) : out;
    const View v = dense_view(x, out.dtype(), inputs_of(s)),
               o = dense_view(y, out.dtype(), results_of(s));
    const PoolKernels& kernels = *backend(out.device()).pool;
    const Unlocked unlocked(nanoseconds(s), {&x, &out});
    kernels.average(inside ? with_channels_inside(s, sizes[1]) : s, v, o);
  }
  if (formatted && !inside) out = in_format_of(input, std::move(out));
  const ShownOptions o = shown ? *shown : ShownOptions();
  return record(
      node, std::move(out),
      showing(
          shown ? "kernel_size stride padding ceil_mode count_include_pad divisor_override" : "",
          [s, node, from, inside](Tensor g, Node&) {
            if (s.adaptive)
              check_some_result("adaptive_avg_pool",
                                node == std::string_view(average_node(3, true)), g);
            return Gradients(average_backward(s, node, g, from, inside));
          },
          o.kernel, o.stride, o.padding, o.ceil_mode, s.count_include_pad,
          s.divisor ? std::optional(s.divisor) : std::nullopt),
      input);
}

Tensor average_backward(const PoolShape& s, const char* node, const Tensor& g, const Shape& sizes,
                        bool inside) {
  const Shape from = g.shape();
  Tensor out = empty_image(sizes, g.dtype(), g.device(), inside);
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor grad = inside ? channels_inside(g) : contiguous(g);
    const Tensor y = inside ? channels_inside(out) : out;
    const View v = dense_view(grad, out.dtype(), results_of(s)),
               o = dense_view(y, out.dtype(), inputs_of(s));
    const PoolKernels& kernels = *backend(out.device()).pool;
    const Unlocked unlocked(nanoseconds(s), {&grad, &out});
    kernels.average_backward(inside ? with_channels_inside(s, sizes[1]) : s, v, o);
  }
  return record(
      node, std::move(out),
      [s, node, from, inside](Tensor gg) { return Gradients(average(s, node, gg, from, inside)); },
      g);
}

}  // namespace

Tensor avg_pool(const char* name, int rank, const Tensor& input, const PoolOptions& options) {
  const bool integers = input.dtype() == DType::int64 && !input.device().is_cuda();
  if (!integers) refuse_integers(input, rank == 3 ? "avg_pool3d" : "avg_pool2d");
  if (options.divisor && *options.divisor == 0) fail<RuntimeError>("divisor must be not zero");
  auto [s, sizes] = pool_shape(name, rank, input, options, false);
  s.count_include_pad = options.count_include_pad;
  s.divisor = options.divisor.value_or(0);
  const ShownOptions windows = shown(s, rank, options);
  return average(s, average_node(rank, false), input, sizes, rank == 2,
                 rank > 1 ? &windows : nullptr);
}

Tensor adaptive_avg_pool(const char* name, int rank, const Tensor& input, const Shape& size) {
  refuse_integers(input, rank == 3 ? "adaptive_avg_pool3d" : "adaptive_avg_pool2d");
  const auto [s, sizes] = adaptive_shape(name, rank, input, size);
  const bool whole = rank > 1 && s.outputs() == 1;  // torch takes the mean
  // To the last bit; and on a GPU a thread of average() would add up a plane.
  if (whole && !is_channels_last(input))
    return mean(input, rank == 2 ? Shape{-2, -1} : Shape{-3, -2, -1}, true);
  return average(s, whole ? "MeanBackward1" : average_node(rank, true), input, sizes,
                 rank == 2 || whole);
}

Tensor lp_pool(const char* name, int rank, const Tensor& input, Scalar norm_type,
               const PoolOptions& options) {
  const std::string suffix = std::string("pool").append(1, char('0' + rank)) + "d";
  if (norm_type.as_double() == INFINITY)
    return max_pool(("max_" + suffix).c_str(), rank, apply<Abs>(input), options);
  if (norm_type.as_double() == -INFINITY)
    return neg(max_pool(("max_" + suffix).c_str(), rank, neg(apply<Abs>(input)), options));
  const Tensor powers = pow(as_input(input), as_input(norm_type));
  const Tensor mean = avg_pool(name, rank, powers, options);
  std::int64_t count = 1;
  for (int d = 0; d < rank; ++d)
    count = checked_mul(count, options.kernel[options.kernel.rank == 1 ? 0 : d]);
  // Only where the mean is positive, as torch has it.
  const Tensor sums = mul(apply<Mul>(apply<Sign>(mean), apply<Relu>(apply<Abs>(mean))), count);
  return pow(as_input(sums), as_input(Scalar(1.0 / norm_type.as_double())));
}

}  // namespace rushlight
