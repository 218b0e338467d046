// Max-pooling. Note: one without return_indices keeps its winners as
// bytes where the windows are 2x2, and makes int64 indices only for a second derivative.
#include "pool.h"

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "ops/memory_format.h"
#include "shape.h"

namespace rushlight {
namespace {

void check_indices(std::int64_t bad) {
  if (bad >= 0)
    fail<RuntimeError>("max-pool indices were changed: the one at flat position ", bad,
                       " lies outside its plane");
}

Tensor scatter_max(const PoolShape& s, const Tensor& g, const Tensor& indices, const Shape& sizes);

// out[o] = input[indices[o]]
Tensor gather_max(const PoolShape& s, const Tensor& input, const Tensor& indices,
                  const Shape& sizes) {
  const Shape from = input.shape();  // before another thread can change it
  Tensor out = empty(sizes, input.dtype(), input.device());
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor x = contiguous(input), at = contiguous(indices);
    const View v = dense_view(x, out.dtype(), inputs_of(s)),
               i = dense_view(at, DType::int64, results_of(s)),
               o = dense_view(out, out.dtype(), results_of(s));
    const PoolKernels& kernels = *backend(out.device()).pool;
    const Unlocked unlocked(nanoseconds(s), {&x, &at, &out});
    check_indices(kernels.max_gather(s, v, i, o));
  }
  return record(
      "MaxPool2DWithIndicesBackwardBackward0", std::move(out),
      [s, at = Saved(indices), from](Tensor g) {
        return Gradients(scatter_max(s, g, at.get(), from));
      },
      input);
}

Tensor scatter_max(const PoolShape& s, const Tensor& g, const Tensor& indices, const Shape& sizes) {
  const bool inside = pools_inside(s, indices);
  const Shape from = g.shape();
  Tensor out = empty_image(sizes, g.dtype(), g.device(), inside);
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor grad = inside ? channels_inside(g) : contiguous(g);
    const Tensor at = inside ? channels_inside(indices) : contiguous(indices);
    const Tensor to = inside ? channels_inside(out) : out;
    const View v = dense_view(grad, out.dtype(), results_of(s)),
               i = dense_view(at, DType::int64, results_of(s)),
               o = dense_view(to, out.dtype(), inputs_of(s));
    const PoolKernels& kernels = *backend(out.device()).pool;
    const Unlocked unlocked(nanoseconds(s), {&grad, &at, &out});
    check_indices(kernels.max_backward(inside ? with_channels_inside(s, sizes[1]) : s, v, i, o));
  }
  return record(
      "MaxPool2DWithIndicesBackward0", std::move(out),
      [s, at = Saved(indices), from](Tensor gg) {
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

const char* max_node(int rank, bool adaptive) {
  if (rank == 1) return "SqueezeBackward1";
  if (adaptive) return rank == 2 ? "AdaptiveMaxPool2DBackward0" : "AdaptiveMaxPool3DBackward0";
  return rank == 2 ? "MaxPool2DWithIndicesBackward0" : "MaxPool3DWithIndicesBackward0";
}
Tensor max_indices(const PoolShape& s, const Tensor& input, const Shape& sizes) {
  const GradMode off(false);
  Tensor indices = empty(sizes, DType::int64, input.device());
  run_max(s, input, empty(sizes, input.dtype(), input.device()), indices, {});
  return indices;
}

// What the node of max_with_codes() shows as its indices.
struct IndicesOfInput {
  PoolShape s;
  Shape sizes;
};
SavedValue value_of(const IndicesOfInput& i, Node& node) {
  return max_indices(i.s, std::get<Tensor>(node.saved_value(0)), i.sizes);
}

Tensor max_with_codes(const char* node, const PoolShape& s, const Tensor& input, const Shape& sizes,
                      const ShownOptions& shown) {
  const Shape from = input.shape();  // before another thread can change it
  Tensor out = empty(sizes, input.dtype(), input.device());
  const Tensor codes = needs_grad(input) ? empty(sizes, DType::uint8, input.device()) : Tensor();
  run_max(s, input, out, {}, codes);
  return record(
      node, in_format_of(input, std::move(out)),
      showing(
          shown.rank == 1 ? "" : "self kernel_size stride padding dilation ceil_mode result1",
          [s, codes, from](Tensor g, Node&, const Saved& x) {
            if (grad_enabled() && wants_grad(g))
              return Gradients(scatter_max(s, g, max_indices(s, x.get(), g.shape()), from));
            Tensor grad_input = empty(from, DType::float32, codes.device());
            const Tensor grad = contiguous(g);
            if (grad_input.numel() && !grad_input.device().is_meta()) {
              const View v = dense_view(grad, DType::float32, results_of(s)), c = view_of(codes),
                         o = dense_view(grad_input, DType::float32, inputs_of(s));
              const PoolKernels& kernels = *backend(g.device()).pool;
              const Unlocked unlocked(nanoseconds(s), {&grad, &codes, &grad_input});
              kernels.max_2x2_backward(s, v, c, o);
            }
            return Gradients(grad_input);
          },
          Saved(input), shown.kernel, shown.stride, shown.padding, shown.dilation, shown.ceil_mode,
          IndicesOfInput{s, sizes}),
      input);
}

std::tuple<Tensor, Tensor> max_with_indices(const char* node, const PoolShape& s,
                                            const Tensor& input, const Shape& sizes, bool formatted,
                                            const ShownOptions& shown = {}) {
  const bool inside = formatted && is_floating(input.dtype()) && pools_inside(s, input);
  const Shape from = input.shape();  // before another thread can change it
  Tensor out = empty_image(sizes, input.dtype(), input.device(), inside);
  Tensor indices = empty_image(sizes, DType::int64, input.device(), inside);
  if (inside) {
    run_max(with_channels_inside(s, sizes[1]), channels_inside(input), channels_inside(out),
            channels_inside(indices), {});
  } else {
    run_max(s, input, out, indices, {});
    if (formatted) {
      out = in_format_of(input, std::move(out));
      indices = in_format_of(input, std::move(indices));
    }
  }
  out = record(node, std::move(out),
               showing(
                   shown.rank == 1 ? ""
                   : s.adaptive    ? "result1"
                                   : "result1 kernel_size stride padding dilation ceil_mode",
                   [s, from, volumes = shown.rank == 3](Tensor g, Node&, const Saved& at) {
                     if (s.adaptive) check_some_result("adaptive_max_pool", volumes, g);
                     return Gradients(scatter_max(s, g, at.get(), from));
                   },
                   Saved(indices), shown.kernel, shown.stride, shown.padding, shown.dilation,
                   shown.ceil_mode),
               input);
  return {std::move(out), std::move(indices)};
}

}  // namespace

Tensor max_pool(const char* name, int rank, const Tensor& input, const PoolOptions& options) {
  if (input.dtype() == DType::boolean || input.device().is_cuda())
    refuse_integers(input, rank == 3 ? "max_pool3d" : "max_pool2d");
  const auto [s, sizes] = pool_shape(name, rank, input, options, true);
  const bool inside = pools_inside(s, input);
  if (input.dtype() == DType::float32 && has_2x2_windows(s) && !inside)
    return max_with_codes(max_node(rank, false), s, input, sizes, shown(s, rank, options));
  if (needs_grad(input))
    return std::get<0>(
        max_with_indices(max_node(rank, false), s, input, sizes, true, shown(s, rank, options)));
  if (inside) {
    Tensor out = empty_image(sizes, input.dtype(), input.device(), true);
    run_max(with_channels_inside(s, sizes[1]), channels_inside(input), channels_inside(out), {},
            {});
    return out;
  }
  Tensor out = empty(sizes, input.dtype(), input.device());
  run_max(s, input, out, {}, {});
  return in_format_of(input, std::move(out));
}

std::tuple<Tensor, Tensor> max_pool_with_indices(const char* name, int rank, const Tensor& input,
                                                 const PoolOptions& options) {
  if (input.dtype() == DType::boolean || input.device().is_cuda())
    refuse_integers(input, rank == 3 ? "max_pool3d" : "max_pool2d");
  const auto [s, sizes] = pool_shape(name, rank, input, options, true);
  return max_with_indices(max_node(rank, false), s, input, sizes, true, shown(s, rank, options));
}

std::tuple<Tensor, Tensor> adaptive_max_pool(const char* name, int rank, const Tensor& input,
                                             const Shape& size) {
  refuse_integers(input, rank == 3 ? "adaptive_max_pool3d" : "adaptive_max_pool2d");
  const auto [s, sizes] = adaptive_shape(name, rank, input, size);
  return max_with_indices(max_node(rank, true), s, input, sizes, rank == 2, {.rank = rank});
}

}  // namespace rushlight
