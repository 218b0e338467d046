// See grid_sample.h. The gradient is one kernel, or, where it will be differentiated, the ops of
// grid_sample_formula.h.
#include "ops/grid_sample.h"

#include <algorithm>

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/grid_sample.h"
#include "ops/grid_sample_formula.h"
#include "ops/memory_format.h"

namespace rushlight {
namespace {

constexpr std::string_view kModes[] = {"bilinear", "nearest", "bicubic"};
constexpr std::string_view kPaddings[] = {"zeros", "border", "reflection"};

int find(std::span<const std::string_view> names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : int(at - names.begin());
}

GridShape read_shape(const Tensor& input, const Tensor& grid, std::string_view mode,
                     std::string_view padding_mode, bool align_corners) {
  const int m = find(kModes, mode), p = find(kPaddings, padding_mode);
  if (m < 0)
    fail<ValueError>("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or ",
                     "'bicubic', but got: '", mode, "'");
  if (p < 0)
    fail<ValueError>("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', ",
                     "or 'reflection', but got: '", padding_mode, "'");
  const std::string sizes =
      text("but got input with sizes ", input.sizes(), " and grid with sizes ", grid.sizes());
  check_same_device("grid_sampler", input, "input", grid, "grid");
  const int rank = input.dim() - 2;
  if ((rank != 2 && rank != 3) || grid.dim() != input.dim())
    fail<RuntimeError>("grid_sampler(): expected 4D or 5D input and grid with same number of ",
                       "dimensions, ", sizes);
  if (input->shape[0] != grid->shape[0])
    fail<RuntimeError>("grid_sampler(): expected grid and input to have same batch size, ", sizes);
  if (grid.size(-1) != rank)
    fail<RuntimeError>("grid_sampler(): expected grid to have size ", rank, " in last dimension, ",
                       sizes);
  for (int d = 2; d < input.dim(); ++d)
    if (input->shape[d] == 0)
      fail<RuntimeError>("grid_sampler(): expected input to have non-empty spatial dimensions, ",
                         "but input has sizes ", input.sizes(), " with dimension ", d,
                         " being empty");
  if (m == int(GridMode::bicubic) && rank != 2)
    fail<RuntimeError>("grid_sampler(): bicubic interpolation only supports 4D input");
  if (input.dtype() != grid.dtype())
    fail<RuntimeError>("expected scalar type ", scalar_name(input.dtype()), " but found ",
                       scalar_name(grid.dtype()), "\ngrid_sampler(): ", describe("input", input),
                       ", ", describe("grid", grid));
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("\"grid_sampler", rank, "d\" not implemented for '",
                              scalar_name(input.dtype()), "'");
  GridShape s{};
  s.rank = rank;
  s.n = input->shape[0];
  s.channels = input->shape[1];
  s.points = 1;
  std::int64_t plane = 1;
  for (int d = 0; d < rank; ++d) s.points = checked_mul(s.points, grid->shape[1 + d]);
  for (int axis = 0; axis < 3; ++axis) {
    const int d = axis - (3 - rank);
    s.in[axis] = d < 0 ? 1 : input->shape[2 + d];
    plane = checked_mul(plane, s.in[axis]);
  }
  if (plane > 0x7fffffff)
    fail<RuntimeError>("grid_sampler(): a plane has more than 2147483647 elements, ", sizes);
  s.mode = GridMode(m);
  s.padding = GridPadding(p);
  s.align_corners = align_corners;
  return s;
}

double nanoseconds(const GridShape& s) {
  return double(s.n) * double(s.channels) * double(s.points) * 3;
}

Gradients backward(const GridShape& s, const Tensor& g, const Tensor& input, const Tensor& grid,
                   bool needs_input, bool needs_grid) {
  Tensor by_input, by_grid;
  if (needs_input) by_input = empty(input.shape(), input.dtype(), input.device());
  if (needs_grid) by_grid = empty(grid.shape(), grid.dtype(), grid.device());
  if (input.device().is_meta()) return {by_input, by_grid};
  if (g.numel() == 0) {
    if (by_input) zero_(by_input);
    if (by_grid) zero_(by_grid);
    return {by_input, by_grid};
  }
  const GradMode off(false);
  const Tensor grad = contiguous(g), x = contiguous(input), at = contiguous(grid);
  const View gv = dense_view(grad, x.dtype(), s.n * s.channels * s.points),
             xv = dense_view(x, x.dtype(), s.n * s.channels * s.plane()),
             av = dense_view(at, x.dtype(), s.n * s.points * s.rank);
  const View iv = by_input ? view_of(by_input) : View{}, pv = by_grid ? view_of(by_grid) : View{};
  const GridSampleKernels& kernels = *backend(x.device()).grid_sample;
  const Unlocked unlocked(nanoseconds(s), {&grad, &x, &at, &by_input, &by_grid});
  kernels.backward(s, gv, xv, av, by_input ? &iv : nullptr, by_grid ? &pv : nullptr);
  return {by_input, by_grid};
}

}  // namespace

Tensor grid_sample(const Tensor& input, const Tensor& grid, std::string_view mode,
                   std::string_view padding_mode, bool align_corners) {
  const GridShape s = read_shape(input, grid, mode, padding_mode, align_corners);
  Shape sizes{s.n, s.channels};
  for (int d = 0; d < s.rank; ++d) sizes.push_back(grid->shape[1 + d]);
  Tensor out = empty(sizes, input.dtype(), input.device());
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const bool inside = s.channels > 1 && has_channels_inside(input);
    const Tensor x = inside ? channels_inside(input) : contiguous(input), at = contiguous(grid);
    const View v = dense_view(x, out.dtype(), s.n * s.channels * s.plane()),
               g = dense_view(at, out.dtype(), s.n * s.points * s.rank), o = view_of(out);
    const GridSampleKernels& kernels = *backend(out.device()).grid_sample;
    const Unlocked unlocked(nanoseconds(s), {&x, &at, &out});
    GridShape as_it_lies = s;
    as_it_lies.inside = inside;
    kernels.forward(as_it_lies, v, g, o);
  }
  return record(s.rank == 2 ? "GridSampler2DBackward0" : "GridSampler3DBackward0", std::move(out),
                showing(
                    "input grid interpolation_mode padding_mode align_corners",
                    [s](Tensor g, Node& self, const Saved& x, const Saved& at) {
                      const Tensor &input = x.get(), &grid = at.get();
                      if (needs_grad(g, input, grid) && g.numel())
                        return grid_sample_formula(s, g, input, grid, self.needs_input(0),
                                                   self.needs_input(1));
                      return backward(s, g, input, grid, self.needs_input(0), self.needs_input(1));
                    },
                    Saved(input), Saved(grid), std::int64_t(s.mode), std::int64_t(s.padding),
                    s.align_corners),
                input, grid);
}

}  // namespace rushlight
