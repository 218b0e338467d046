// rrelu: the slopes are drawn where the input is not positive, in row-major order, without the host
// learning how many these are.
#include <cmath>

#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "ops/pointwise/pointwise.h"
#include "random.h"

namespace rushlight {
namespace {

Tensor slopes(const Tensor& input, double lower, double upper, const GeneratorRef& given) {
  const GradMode off(false);
  const Tensor from = contiguous(input),
               noise = empty(input.shape(), input.dtype(), input.device());
  if (noise.numel() == 0 || noise.device().is_meta()) return noise;
  Generator& g = generator_for(input.device(), given);
  const View to = view_of(noise), of = view_of(from);
  if (to.numel != of.numel) fail_changed(input);
  const Unlocked unlocked(double(noise.numel()) * 5, {&noise, &from});
  const GeneratorLock lock(g);
  backend(input.device()).random->slopes(to, of, lower, upper, g.state);
  return noise;
}

PointwiseOp leaky_relu_named(const char* node) {
  PointwiseOp op = pointwise_op<LeakyRelu>();
  op.node = node;
  return op;
}

}  // namespace

Tensor rrelu(const Tensor& input, double lower, double upper, bool training, bool inplace,
             const GeneratorRef& g) {
  if (!std::isfinite(lower)) fail<RuntimeError>("rrelu: lower bound must be finite, got ", lower);
  if (!std::isfinite(upper)) fail<RuntimeError>("rrelu: upper bound must be finite, got ", upper);
  if (lower > upper)
    fail<RuntimeError>(
        "Lower bound should be less than or equal to the upper bound, but got lower ", lower,
        " and upper ", upper);
  const Into into = inplace ? Into{Into::self, &input} : Into{};
  const Input operand = as_input(input);
  if (!training) {
    const Scalar slope((lower + upper) / 2);
    static const PointwiseOp fresh = leaky_relu_named("RreluWithNoiseBackward0"),
                             in_place = leaky_relu_named("RreluWithNoiseBackward1");
    return pointwise(inplace ? in_place : fresh, &operand, &slope, into);
  }
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("\"rrelu_with_noise_out_cpu\" not implemented for '",
                              scalar_name(input.dtype()), "'\nrrelu(): ", describe("input", input),
                              ": convert it with .float()");
  const Tensor noise = slopes(input, lower, upper, g);
  const Input factors[] = {operand, as_input(noise)};
  if (inplace) return pointwise(pointwise_op<Mul>(), factors, nullptr, into);
  Tensor out;
  {
    const GradMode off(false);
    out = pointwise(pointwise_op<Mul>(), factors);
  }
  return record(
      "RreluWithNoiseBackward0", out,
      [noise = Saved(noise)](Tensor g) { return Gradients(mul(g, noise.get())); }, input);
}

}  // namespace rushlight
