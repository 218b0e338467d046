// Dropout and its variants. Note: the draws are torch's, one 53-bit number for each
// element of the noise; forward is one kernel where the input is dense, and noise times input
// otherwise.
#include <cmath>

#include "core/backend.h"
#include "core/unlocked.h"
#include "ops/random/random.h"

namespace rushlight {
namespace {

bool passes_through(const Tensor& input, double p, bool train) {
  if (!(p >= 0 && p <= 1))
    fail<RuntimeError>("dropout probability has to be between 0 and 1, but got ", p);
  if (p == 0 || !train || input.numel() == 0) return true;
  if (is_complex(input.dtype()) && p < 1)
    fail<NotImplementedError>(
        "\"bernoulli_scalar_cpu_\" not implemented for '", scalar_name(input.dtype()),
        "'\ndropout(): ", describe("input", input), "; drop its parts: torch.view_as_real(x)");
  if (!is_floating(input.dtype()) && !is_complex(input.dtype()))
    fail<RuntimeError>("result type Float can't be cast to the desired output type ",
                       scalar_name(input.dtype()), "\ndropout(): ", describe("input", input));
  return false;
}

Tensor channel_noise(const Tensor& input) {
  if (input.dim() < 2)
    fail<RuntimeError>("Feature dropout requires at least 2 dimensions in the input\n",
                       describe("input", input));
  Shape shape = input.shape();
  for (int d = 2; d < shape.rank; ++d) shape[d] = 1;
  return empty(shape, input.dtype(), input.device());
}

// 0 or 1 / (1 - p), without history.
Tensor scaled_noise(const Tensor& noise, double p) {
  const GradMode off(false);
  bernoulli_(noise, 1 - p, {});
  return div(noise, scalar_tensor(1 - p, noise.dtype(), noise.device()));
}

bool is_dense(const Tensor& t, const Tensor& like) {
  return t.numel() > 0 && same(t.strides(), like.strides());
}

Tensor fused(const Tensor& input, double p) {
  Tensor out = empty_like(input), noise = empty_like(input);
  if (!is_dense(input, out) || out.device().is_meta()) return mul(input, scaled_noise(noise, p));
  const View to = view_of(out), mask = view_of(noise), from = view_of(input);
  Generator& g = default_generator(input.device());
  const Backend& b = backend(input.device());
  {
    const Unlocked unlocked(double(out.numel()), {&out, &noise, &input});
    const GeneratorLock lock(g);
    b.random->dropout(to, mask, from, 1 - p, g.state);
  }
  return record(
      "MulBackward0", out,
      [noise = Saved(noise)](Tensor g) { return Gradients(mul(g, noise.get())); }, input, noise);
}

Tensor nothing_left(const Tensor& input) { return scalar_tensor(0, input.dtype(), input.device()); }

// What SELU needs: dropped values become its limit for -inf, then an affine map restores mean and
// variance. Returns the factor and the summand of the input.
std::pair<Tensor, Tensor> alpha_noise(const Tensor& noise, double p) {
  constexpr double alpha = 1.7580993408473766;  // -SELU(-inf)
  const double a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  const GradMode off(false);
  bernoulli_(noise, 1 - p, {});
  const auto number = [&](double v) { return scalar_tensor(v, noise.dtype(), noise.device()); };
  const Tensor b = add(mul(add(noise, number(-1)), Scalar(alpha * a)), number(alpha * a * p));
  return {mul(noise, Scalar(a)), b};
}

Tensor alpha_form(const Tensor& input, const Tensor& noise, double p) {
  const auto [factor, summand] = alpha_noise(noise, p);
  return add(mul(input, factor), summand);
}

// self = self * factor + summand (which may be undefined), recorded as an in-place product.
Tensor write(const Tensor& self, const Tensor& factor, const Tensor& summand, const char* op) {
  check_inplace(self, needs_grad(self), op);
  check_no_internal_overlap(self, op);
  {
    const GradMode off(false);
    const Tensor product = mul(self, factor);
    copy_bits(self, summand ? add(product, summand) : product);
  }
  record_inplace(
      summand ? "AddBackward0" : "MulBackward0", self,
      [factor](Tensor g) { return Gradients(mul(g, factor)); }, self, factor);
  return self;
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool train) {
  if (passes_through(input, p, train)) return input;
  return p == 1 ? mul(input, nothing_left(input)) : fused(input, p);
}
Tensor feature_dropout(const Tensor& input, double p, bool train) {
  if (passes_through(input, p, train)) return input;
  const Tensor noise = channel_noise(input);
  return mul(input, p == 1 ? nothing_left(input) : scaled_noise(noise, p));
}
Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  if (passes_through(input, p, train)) return input;
  return p == 1 ? mul(input, nothing_left(input)) : alpha_form(input, empty_like(input), p);
}
Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) {
  if (passes_through(input, p, train)) return input;
  const Tensor noise = channel_noise(input);
  return p == 1 ? mul(input, nothing_left(input)) : alpha_form(input, noise, p);
}

Tensor dropout_(const Tensor& input, double p, bool train) {
  if (passes_through(input, p, train)) return input;
  return write(input, p == 1 ? nothing_left(input) : scaled_noise(empty_like(input), p), {},
               "dropout_");
}
Tensor feature_dropout_(const Tensor& input, double p, bool train) {
  if (passes_through(input, p, train)) return input;
  const Tensor noise = channel_noise(input);
  return write(input, p == 1 ? nothing_left(input) : scaled_noise(noise, p), {},
               "feature_dropout_");
}
Tensor alpha_dropout_(const Tensor& input, double p, bool train) {
  if (passes_through(input, p, train)) return input;
  if (p == 1) return write(input, nothing_left(input), {}, "alpha_dropout_");
  const auto [factor, summand] = alpha_noise(empty_like(input), p);
  return write(input, factor, summand, "alpha_dropout_");
}
Tensor feature_alpha_dropout_(const Tensor& input, double p, bool train) {
  if (passes_through(input, p, train)) return input;
  const Tensor noise = channel_noise(input);
  if (p == 1) return write(input, nothing_left(input), {}, "feature_alpha_dropout_");
  const auto [factor, summand] = alpha_noise(noise, p);
  return write(input, factor, summand, "feature_alpha_dropout_");
}

}  // namespace rushlight
