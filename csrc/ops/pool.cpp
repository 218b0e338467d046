// Pooling. A changer must know: a max-pool whose indices nobody asked for keeps its winners as
// bytes where the windows are 2x2, and makes int64 indices only for a second derivative.
#include "ops/pool.h"

#include "core/backend.h"
#include "core/dense_view.h"
#include "core/work.h"
#include "kernels/pool.h"
#include "ops/pool_shape.h"

namespace rushlight {
namespace {

double nanoseconds(const PoolShape& s) {
  return double(s.planes) *
         (double(s.in[0]) * double(s.in[1]) + double(s.result[0]) * double(s.result[1])) * 0.3;
}

// Elements of the image and of the result.
std::int64_t inputs_of(const PoolShape& s) { return s.planes * s.in[0] * s.in[1]; }
std::int64_t results_of(const PoolShape& s) { return s.planes * s.result[0] * s.result[1]; }

void check_indices(std::int64_t bad) {
  if (bad >= 0)
    fail<RuntimeError>("max-pool indices were changed: the one at flat position ", bad,
                       " lies outside its plane");
}

Tensor scatter_max(const PoolShape& s, const Tensor& g, const Tensor& indices, const Shape& sizes);

// out[o] = input[indices[o]]
Tensor gather_max(const PoolShape& s, const Tensor& input, const Tensor& indices,
                  const Shape& sizes) {
  Tensor out = empty(sizes, input.dtype(), input.device());
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor x = contiguous(input), at = contiguous(indices);
    const View v = dense_view(x, out.dtype(), inputs_of(s)),
               i = dense_view(at, DType::int64, results_of(s)), o = view_of(out);
    const PoolKernels& kernels = *backend(out.device()).pool;
    const Unlocked unlocked(nanoseconds(s), {&x, &at, &out});
    check_indices(kernels.max_gather(s, v, i, o));
  }
  return record(
      "MaxPool2DWithIndicesBackwardBackward0", std::move(out),
      [s, at = Saved(indices), from = input.shape()](Tensor g) {
        return Gradients(scatter_max(s, g, at.get(), from));
      },
      input);
}

Tensor scatter_max(const PoolShape& s, const Tensor& g, const Tensor& indices, const Shape& sizes) {
  Tensor out = empty(sizes, g.dtype(), g.device());
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor grad = contiguous(g), at = contiguous(indices);
    const View v = dense_view(grad, out.dtype(), results_of(s)),
               i = dense_view(at, DType::int64, results_of(s)), o = view_of(out);
    const PoolKernels& kernels = *backend(out.device()).pool;
    const Unlocked unlocked(nanoseconds(s), {&grad, &at, &out});
    check_indices(kernels.max_backward(s, v, i, o));
  }
  return record(
      "MaxPool2DWithIndicesBackward0", std::move(out),
      [s, at = Saved(indices), from = g.shape()](Tensor gg) {
        return Gradients(gather_max(s, gg, at.get(), from));
      },
      g);
}

// The kernel's call: `indices` or `codes` may be undefined.
void run_max(const PoolShape& s, const Tensor& input, const Tensor& out, const Tensor& indices,
             const Tensor& codes) {
  if (out.numel() == 0 || out.device().is_meta()) return;
  const GradMode off(false);
  const Tensor x = contiguous(input);
  const View v = dense_view(x, out.dtype(), inputs_of(s)), o = view_of(out);
  const View i = indices ? view_of(indices) : View{}, c = codes ? view_of(codes) : View{};
  const PoolKernels& kernels = *backend(out.device()).pool;
  const Unlocked unlocked(nanoseconds(s), {&x, &out, &indices, &codes});
  kernels.max(s, v, o, indices ? &i : nullptr, codes ? &c : nullptr);
}

bool has_2x2_windows(const PoolShape& s) {
  for (int d = 0; d < 2; ++d)
    if (s.kernel[d] != 2 || s.stride[d] != 2 || s.padding[d] != 0 || s.dilation[d] != 1 ||
        s.result[d] != s.in[d] / 2)
      return false;
  return !s.adaptive;
}

const char* max_node(int rank, bool adaptive) {
  if (adaptive) return rank == 1 ? "SqueezeBackward1" : "AdaptiveMaxPool2DBackward0";
  return rank == 1 ? "SqueezeBackward1" : "MaxPool2DWithIndicesBackward0";
}

Tensor max_indices(const PoolShape& s, const Tensor& input, const Shape& sizes) {
  const GradMode off(false);
  Tensor indices = empty(sizes, DType::int64, input.device());
  run_max(s, input, empty(sizes, input.dtype(), input.device()), indices, {});
  return indices;
}

Tensor max_with_codes(const char* node, const PoolShape& s, const Tensor& input,
                      const Shape& sizes) {
  Tensor out = empty(sizes, input.dtype(), input.device());
  const Tensor codes = needs_grad(input) ? empty(sizes, DType::uint8, input.device()) : Tensor();
  run_max(s, input, out, {}, codes);
  return record(
      node, std::move(out),
      [s, x = Saved(input), codes](Tensor g) {
        const Tensor& input = x.get();
        if (grad_enabled() && wants_grad(g))
          return Gradients(scatter_max(s, g, max_indices(s, input, g.shape()), input.shape()));
        Tensor grad_input = empty(input.shape(), input.dtype(), input.device());
        const Tensor grad = contiguous(g);
        if (grad_input.numel() && !grad_input.device().is_meta()) {
          const View v = dense_view(grad, DType::float32, results_of(s)), c = view_of(codes),
                     o = view_of(grad_input);
          const PoolKernels& kernels = *backend(g.device()).pool;
          const Unlocked unlocked(nanoseconds(s), {&grad, &codes, &grad_input});
          kernels.max_2x2_backward(s, v, c, o);
        }
        return Gradients(grad_input);
      },
      input);
}

std::tuple<Tensor, Tensor> max_with_indices(const char* node, const PoolShape& s,
                                            const Tensor& input, const Shape& sizes) {
  Tensor out = empty(sizes, input.dtype(), input.device());
  Tensor indices = empty(sizes, DType::int64, input.device());
  run_max(s, input, out, indices, {});
  out = record(
      node, std::move(out),
      [s, at = Saved(indices), from = input.shape()](Tensor g) {
        return Gradients(scatter_max(s, g, at.get(), from));
      },
      input);
  return {std::move(out), std::move(indices)};
}

Tensor average_backward(const PoolShape& s, const char* node, const Tensor& g, const Shape& sizes);

Tensor average(const PoolShape& s, const char* node, const Tensor& input, const Shape& sizes) {
  Tensor out = empty(sizes, input.dtype(), input.device());
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor x = contiguous(input);
    const View v = dense_view(x, out.dtype(), inputs_of(s)), o = view_of(out);
    const PoolKernels& kernels = *backend(out.device()).pool;
    const Unlocked unlocked(nanoseconds(s), {&x, &out});
    kernels.average(s, v, o);
  }
  return record(
      node, std::move(out),
      [s, node, from = input.shape()](Tensor g) {
        return Gradients(average_backward(s, node, g, from));
      },
      input);
}

Tensor average_backward(const PoolShape& s, const char* node, const Tensor& g, const Shape& sizes) {
  Tensor out = empty(sizes, g.dtype(), g.device());
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor grad = contiguous(g);
    const View v = dense_view(grad, out.dtype(), results_of(s)), o = view_of(out);
    const PoolKernels& kernels = *backend(out.device()).pool;
    const Unlocked unlocked(nanoseconds(s), {&grad, &out});
    kernels.average_backward(s, v, o);
  }
  return record(
      node, std::move(out),
      [s, node, from = g.shape()](Tensor gg) { return Gradients(average(s, node, gg, from)); }, g);
}

void refuse_integers(const Tensor& input, const char* kernel) {
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("\"", kernel, "\" not implemented for '", scalar_name(input.dtype()),
                              "'");
}

}  // namespace

Tensor max_pool(const char* name, int rank, const Tensor& input, const PoolOptions& options) {
  if (input.dtype() == DType::boolean || input.device().is_cuda())
    refuse_integers(input, "max_pool2d");
  const auto [s, sizes] = pool_shape(name, rank, input, options, true);
  if (input.dtype() == DType::float32 && has_2x2_windows(s))
    return max_with_codes(max_node(rank, false), s, input, sizes);
  if (needs_grad(input))
    return std::get<0>(max_with_indices(max_node(rank, false), s, input, sizes));
  Tensor out = empty(sizes, input.dtype(), input.device());
  run_max(s, input, out, {}, {});
  return out;
}

std::tuple<Tensor, Tensor> max_pool_with_indices(const char* name, int rank, const Tensor& input,
                                                 const PoolOptions& options) {
  if (input.dtype() == DType::boolean || input.device().is_cuda())
    refuse_integers(input, "max_pool2d");
  const auto [s, sizes] = pool_shape(name, rank, input, options, true);
  return max_with_indices(max_node(rank, false), s, input, sizes);
}

Tensor avg_pool(const char* name, int rank, const Tensor& input, const PoolOptions& options) {
  const bool integers = input.dtype() == DType::int64 && !input.device().is_cuda();
  if (!integers) refuse_integers(input, "avg_pool2d");
  if (options.divisor && *options.divisor == 0) fail<RuntimeError>("divisor must be not zero");
  auto [s, sizes] = pool_shape(name, rank, input, options, false);
  s.count_include_pad = options.count_include_pad;
  s.divisor = options.divisor.value_or(0);
  return average(s, rank == 1 ? "SqueezeBackward1" : "AvgPool2DBackward0", input, sizes);
}

Tensor adaptive_avg_pool(const char* name, int rank, const Tensor& input, const Shape& size) {
  refuse_integers(input, "adaptive_avg_pool2d");
  const auto [s, sizes] = adaptive_shape(name, rank, input, size);
  bool whole = rank == 2;  // to one element: torch takes the mean
  for (int d = 0; d < 2; ++d) whole = whole && s.result[d] == 1;
  const char* node = rank == 1 ? "SqueezeBackward1" : "AdaptiveAvgPool2DBackward0";
  return average(s, whole ? "MeanBackward1" : node, input, sizes);
}

std::tuple<Tensor, Tensor> adaptive_max_pool(const char* name, int rank, const Tensor& input,
                                             const Shape& size) {
  refuse_integers(input, "adaptive_max_pool2d");
  const auto [s, sizes] = adaptive_shape(name, rank, input, size);
  return max_with_indices(max_node(rank, true), s, input, sizes);
}

}  // namespace rushlight
