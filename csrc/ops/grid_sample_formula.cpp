// See grid_sample_formula.h. Positions, taps and weights are the texts of kernels/grid_sample.h,
// read with T = Value. Tensors are (n, channels, points, taps), 1 where they are the same.
#include "ops/grid_sample_formula.h"

#include "ops/value.h"

namespace rushlight {
namespace {

// The taps of all positions along one axis.
struct Axis {
  Tensor element, inside;  // int64, 0 where it is outside; bool
  Tensor weight, slope;
  Value outer;  // the slope of the position by the grid, (n, points)
};

// taps[k] of shape (n, points), or numbers, as one tensor whose dimension 1 + axis are the taps.
Tensor join_taps(const Value* taps, int count, const Tensor& like, int rank, int axis) {
  std::vector<Tensor> each;
  for (int k = 0; k < count; ++k)
    each.push_back(taps[k].is_scalar() ? full_like(like, Scalar(taps[k].scalar()))
                                       : taps[k].tensor());
  Tensor joined = stack(each, 2);
  for (int r = 0; r < rank; ++r)
    if (r != axis) joined = unsqueeze(joined, 2 + r);
  return joined;
}

template <GridMode Mode>
Axis taps_along(const GridShape& s, const Tensor& positions, int rank, int axis) {
  constexpr int count = grid_taps(Mode);
  const std::int64_t size = s.in[3 - rank + axis];
  Axis result;
  Value x = grid_position(Value(positions), size, s.align_corners, result.outer);
  if (Mode != GridMode::bicubic) x = grid_padded(x, size, s.padding, s.align_corners, result.outer);
  const Value whole = grid_whole<Mode>(Value(detach(x.tensor())));
  Value weight[count], slope[count], element[count], inside[count];
  grid_weights<Mode>(x, whole, weight, slope, 1);
  for (int k = 0; k < count; ++k) {
    const Value at = grid_tap<Mode>(whole, k, size, s.padding, s.align_corners);
    inside[k] = (at >= Value(0)) & (at < Value(double(size)));
    element[k] = where(inside[k], at, Value(0));
  }
  const auto join = [&](const Value* taps) {
    return join_taps(taps, count, positions, rank, axis);
  };
  result.weight = join(weight);
  result.slope = join(slope);
  result.element = to(join(element), DType::int64);
  result.inside = join(inside);
  return result;
}

// The product over all axes, of slopes along `sloped` and of weights elsewhere.
Value product(const Axis* axes, int rank, int sloped) {
  Value result(1);
  for (int r = 0; r < rank; ++r)
    result = result * Value(r == sloped ? axes[r].slope : axes[r].weight);
  return result;
}

template <int Rank, GridMode Mode>
Gradients formula(const GridShape& s, const Tensor& grad, const Tensor& input, const Tensor& grid,
                  bool needs_input, bool needs_grid) {
  const Tensor positions = reshape(grid, {s.n, s.points, Rank});
  Axis axes[Rank];
  Tensor element;  // in its plane
  Value inside;
  for (int r = 0; r < Rank; ++r) {
    axes[r] = taps_along<Mode>(s, select(positions, 2, Rank - 1 - r), Rank, r);
    const Tensor& at = axes[r].element;
    element = r ? add(mul(element, Scalar(s.in[3 - Rank + r])), at) : at;
    inside = r ? inside & Value(axes[r].inside) : Value(axes[r].inside);
  }
  std::int64_t taps = 1;
  for (int r = 0; r < Rank; ++r) taps *= grid_taps(Mode);
  const Shape shared{s.n, 1, s.points, taps}, each{s.n, s.channels, s.points, taps},
      flat{s.n, s.channels, s.points * taps};
  const Tensor index = reshape(expand(reshape(element, shared), each), flat);
  inside = reshape(inside.tensor(), shared);
  const Value g = reshape(grad, {s.n, s.channels, s.points, 1});
  Gradients result;
  if (needs_input) {
    const Value share = reshape(product(axes, Rank, -1).tensor(), shared);
    const Tensor shares = where(inside, g * share, Value(0)).tensor();
    const Tensor sums = zeros({s.n, s.channels, s.plane()}, grad.dtype(), grad.device());
    result[0] = reshape(scatter_add(sums, 2, index, reshape(shares, flat)), input.shape());
  }
  if (needs_grid) {
    const Tensor planes = reshape(input, {s.n, s.channels, s.plane()});
    const Value found = reshape(gather(planes, 2, index), each);
    const Value values = where(inside, found, Value(0)) * g;
    std::vector<Tensor> by_axis;
    for (int r = Rank - 1; r >= 0; --r) {
      const Value slope = reshape(product(axes, Rank, r).tensor(), shared);
      const Value sums = sum((values * slope).tensor(), Shape{1, 3}.view(), false);
      by_axis.push_back((sums * axes[r].outer).tensor());
    }
    result[1] = reshape(stack(by_axis, 2), grid.shape());
  }
  return result;
}

}  // namespace

Gradients grid_sample_formula(const GridShape& s, const Tensor& grad, const Tensor& input,
                              const Tensor& grid, bool needs_input, bool needs_grid) {
  const DType dtype = input.dtype(), computed = is_reduced(dtype) ? DType::float32 : dtype;
  Gradients result;
  dispatch_grid(s, [&](auto rank, auto mode) {
    result = formula<decltype(rank)::value, decltype(mode)::value>(
        s, to(grad, computed), to(input, computed), to(grid, computed), needs_input, needs_grid);
  });
  for (std::size_t i = 0; i < 2; ++i)
    if (result[i]) result[i] = to(result[i], dtype);
  return result;
}

}  // namespace rushlight
