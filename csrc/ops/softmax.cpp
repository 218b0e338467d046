// Softmax. The backward reads the result; where it must itself be differentiable it is written with
// ops, on the result with its history.
#include "ops/softmax.h"

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/softmax.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight {
namespace {

SoftmaxShape shape_of(const Tensor& t, int dim) {
  SoftmaxShape s{1, 1, 1};
  for (int d = 0; d < t.dim(); ++d) {
    std::int64_t& n = d < dim ? s.outer : d == dim ? s.dim : s.inner;
    n = checked_mul(n, t->shape[d]);
  }
  return s;
}

Tensor backward(const SoftmaxShape& s, const Tensor& g, const Tensor& y, bool logarithm) {
  Tensor out = empty(y.sizes(), y.dtype(), y.device());
  if (out.numel() == 0 || out.device().is_meta()) return out;
  const Tensor grad = contiguous(g), result = contiguous(y);
  const View a = dense_view(grad, out.dtype(), out.numel()),
             b = dense_view(result, out.dtype(), out.numel()), o = view_of(out);
  const SoftmaxKernels& kernels = *backend(out.device()).softmax;
  const Unlocked unlocked(double(out.numel()) * 0.5, {&grad, &result, &out});
  kernels.softmax_backward(s, a, b, logarithm, o);
  return out;
}

Tensor gradient(const SoftmaxShape& s, const Tensor& g, const Tensor& y, std::int64_t dim,
                bool logarithm) {
  if (!grad_enabled()) return backward(s, g, y, logarithm);
  const Shape dims{dim};
  if (logarithm) return sub(g, mul(apply<Exp>(y), sum(g, dims, true)));
  return mul(y, sub(g, sum(mul(g, y), dims, true)));
}

Tensor run(const Tensor& given, std::int64_t dim, std::optional<DType> dtype, bool logarithm) {
  const int at = wrap_dim(dim, given.dim());
  const Tensor input = dtype ? to(given, *dtype) : given;
  if (!is_floating(input.dtype()) && input.numel())  // torch has no kernel to ask for no elements
    fail<NotImplementedError>("\"",
                              logarithm ? "log_softmax_lastdim_kernel_impl" : "softmax_kernel_impl",
                              "\" not implemented for '", scalar_name(input.dtype()), "'");
  const SoftmaxShape s = shape_of(input, at);
  Tensor out = empty(input.sizes(), input.dtype(), input.device());
  if (out.numel() != 0 && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor x = contiguous(input);
    const View v = view_of(x), o = view_of(out);
    const SoftmaxKernels& kernels = *backend(out.device()).softmax;
    const Unlocked unlocked(double(out.numel()) * 0.5, {&x, &out});
    kernels.softmax(s, v, logarithm, o);
  }
  if (!needs_grad(input)) return out;
  return record(
      logarithm ? "LogSoftmaxBackward0" : "SoftmaxBackward0", out,
      showing(
          "dim result",
          both(
              [s, logarithm](Tensor g, Node& self, std::int64_t dim, const SavedOutput& saved) {
                return Gradients(gradient(s, g, saved.get(self), dim, logarithm));
              },
              [s, logarithm](Rows rows, Node& self, std::int64_t dim, const SavedOutput& saved) {
                SoftmaxShape all = s;
                all.outer = checked_mul(s.outer, rows.g->shape[0]);
                if (rows.g.dim() == 1) return Gradients(zeros_like(rows.g));  // of a number
                const Tensor y = expand(saved.get(self), rows.g.shape());
                return Gradients(gradient(all, rows.g, y, dim + 1, logarithm));
              }),
          std::int64_t(at), SavedOutput(out)),
      input);
}

}  // namespace

Tensor softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  return run(input, dim, dtype, false);
}
Tensor log_softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  return run(input, dim, dtype, true);
}

}  // namespace rushlight
