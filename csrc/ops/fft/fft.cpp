// Transforms along several dimensions, one after another, and their gradients: a transform of the
// other sign, which is that of real numbers where the input was real.
#include "ops/fft/fft.h"

#include <cmath>

#include "core/backend.h"
#include "core/unlocked.h"
#include "kernels/fft.h"

namespace rushlight {
namespace {

enum class Kind { complex, to_half, from_half };

// Along one dimension, without history.
Tensor along(Kind kind, const Tensor& x, const FftShape& s, bool in_place) {
  Shape sizes = x.shape();
  sizes[s.dim] = kind == Kind::to_half ? s.n / 2 + 1 : s.n;
  const DType dtype = kind == Kind::from_half ? real_of(x.dtype()) : complex_of(x.dtype());
  const bool reuse = in_place && sizes == x.shape() && dtype == x.dtype();
  Tensor out = reuse ? x : empty(sizes, dtype, x.device());
  if (out.numel() == 0 || out.device().is_meta()) return out;
  const View to = stored_view_of(out), from = stored_view_of(x);
  const FftKernels& kernels = *backend(x.device()).fft;
  const double values = double(out.numel()) / double(sizes[s.dim]) * double(s.n);
  const Unlocked unlocked(values * (1 + std::log2(double(s.n))) * 0.3, {&out, &x});
  const auto kernel = kind == Kind::complex   ? kernels.complex
                      : kind == Kind::to_half ? kernels.to_half
                                              : kernels.from_half;
  kernel(s, to, from);
  return out;
}

// Along all of them, the half spectrum's last dimension first or last.
Tensor run(Kind kind, const Tensor& input, const FftPlan& plan) {
  const GradMode off(false);
  if (!input.device().is_meta() && !backend(input.device()).fft)
    return to(run(kind, to(input, kCpu), plan), input.device());
  const int count = plan.dims.rank;
  if (count == 0) return to(input, complex_of(input.dtype()), input.device(), true);
  Tensor x = input;
  for (int i = 0; i < count; ++i) {
    const int at = kind == Kind::from_half ? i : count - 1 - i;
    const bool is_half = at == count - 1;
    const FftShape s = {plan.n[at], int(plan.dims[at]), plan.inverse,
                        i == count - 1 ? plan.scale : 1.0, is_half && plan.weighted};
    x = along(is_half ? kind : Kind::complex, x, s, i > 0);
  }
  return x;
}

FftPlan reversed(FftPlan plan, bool weighted) {
  plan.inverse = !plan.inverse;
  plan.weighted = weighted;
  return plan;
}

// What an input of these sizes had of the dimensions that were transformed.
Tensor cut(Tensor g, const FftPlan& plan, const Shape& sizes) {
  for (const std::int64_t d : plan.dims)
    if (g.size(d) != sizes[int(d)]) g = narrow(g, d, 0, sizes[int(d)]);
  return g;
}

}  // namespace

Tensor fft_complex(const Tensor& input, const FftPlan& plan) {
  const bool was_real = !is_complex(input.dtype());
  return record(
      was_real && plan.dims.rank == 1 ? "FftR2CBackward0" : "FftC2CBackward0",
      run(Kind::complex, input, plan),
      [plan = reversed(plan, false), was_real, sizes = input.shape()](Tensor g) {
        const Tensor found = cut(fft_complex(g, plan), plan, sizes);
        return Gradients(was_real ? real(found) : found);
      },
      input);
}

Tensor fft_to_half(const Tensor& input, const FftPlan& plan) {
  return record(
      "FftR2CBackward0", run(Kind::to_half, input, plan),
      [plan = reversed(plan, !plan.weighted), sizes = input.shape()](Tensor g) {
        return Gradients(cut(fft_from_half(g, plan), plan, sizes));
      },
      input);
}

Tensor fft_from_half(const Tensor& input, const FftPlan& plan) {
  return record(
      "FftC2RBackward0", run(Kind::from_half, input, plan),
      [plan = reversed(plan, !plan.weighted), sizes = input.shape()](Tensor g) {
        return Gradients(cut(fft_to_half(g, plan), plan, sizes));
      },
      input);
}

}  // namespace rushlight
