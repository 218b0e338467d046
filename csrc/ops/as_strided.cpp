// as_strided, whose gradient must cope with elements that are seen more than once; and the
// gradients of views, which scatter g into zeros.
#include "core/backend.h"
#include "ops/view.h"

namespace rushlight {
namespace {

// g placed into zeros of shape `whole` through a view of it.
template <class V>
Tensor placed(const Tensor& g, const Shape& whole, V view_of_zeros) {
  const GradMode off(false);
  Tensor out = zeros(whole, g.dtype(), g.device());
  copy_bits(view_of_zeros(out), g);
  return out;
}

}  // namespace

Tensor select_backward(const Tensor& g, const Shape& whole, int dim, std::int64_t index) {
  Tensor out = placed(g, whole, [&](const Tensor& z) { return select(z, dim, index); });
  return record(
      "SelectBackwardBackward0", std::move(out),
      [=](Tensor gg) { return Gradients(select(gg, dim, index)); }, g);
}

Tensor slice_backward(const Tensor& g, const Shape& whole, int dim, std::int64_t start,
                      std::int64_t end, std::int64_t step) {
  Tensor out = placed(g, whole, [&](const Tensor& z) { return slice(z, dim, start, end, step); });
  return record(
      "SliceBackwardBackward0", std::move(out),
      [=](Tensor gg) { return Gradients(slice(gg, dim, start, end, step)); }, g);
}

Tensor diagonal_backward(const Tensor& g, const Shape& whole, std::int64_t offset, int dim1,
                         int dim2) {
  Tensor out = placed(g, whole, [&](const Tensor& z) { return diagonal(z, offset, dim1, dim2); });
  return record(
      "DiagonalBackwardBackward0", std::move(out),
      [=](Tensor gg) { return Gradients(diagonal(gg, offset, dim1, dim2)); }, g);
}

// Windows overlap where step < size: one offset within the window at a time, each a plain slice.
Tensor unfold_backward(const Tensor& g, const Shape& whole, int dim, std::int64_t size,
                       std::int64_t step) {
  Tensor out;
  {
    const GradMode off(false);
    out = zeros(whole, g.dtype(), g.device());
    const std::int64_t windows = whole.rank ? g.size(dim) : 1;
    for (std::int64_t k = 0; k < size; ++k) {
      const Tensor part = select(g, -1, k);
      const Tensor place =
          whole.rank ? slice(out, dim, k, k + (windows - 1) * step + 1, step) : out;
      add_gradients_into(place, part);
    }
  }
  return record(
      "UnfoldBackwardBackward0", std::move(out),
      [=](Tensor gg) { return Gradients(unfold(gg, dim, size, step)); }, g);
}

namespace {

// The gradient with respect to a tensor of geometry `in`, of its view of geometry `out`. Both live
// in a buffer as large as the storage's part they touch; elements seen several times are added.
Tensor as_strided_backward(const Tensor& g, const ViewGeometry& in, const ViewGeometry& out) {
  Tensor result;
  {
    const GradMode off(false);
    const Extent a = extent_of(in.size, in.strides.data()),
                 b = extent_of(out.size, out.strides.data());
    const std::int64_t low = std::min(in.offset + a.low, out.offset + b.low);
    const std::int64_t high = std::max(in.offset + a.high, out.offset + b.high);
    Tensor buffer =
        zeros({std::max<std::int64_t>(checked_add(high - low, 1), 0)}, g.dtype(), g.device());
    if (g.numel()) {
      // A dimension of stride 0, or one that overlaps, is walked step by step.
      auto place = [&](auto& self, const Tensor& part, int d, std::int64_t at) -> void {
        if (d == out.size.rank) {
          const Tensor cell = geometry(buffer, {}, nullptr, at);
          return add_gradients_into(cell, part);
        }
        for (std::int64_t i = 0; i < out.size[d]; ++i)
          self(self, select(part, 0, i), d + 1, at + i * out.strides[std::size_t(d)]);
      };
      bool distinct =
          true;  // sorted by stride, each dimension starts beyond the reach of the former
      int order[kMaxRank];
      for (int d = 0; d < out.size.rank; ++d) {
        int k = d;
        for (; k > 0 && out.strides[std::size_t(order[k - 1])] > out.strides[std::size_t(d)]; --k)
          order[k] = order[k - 1];
        order[k] = d;
      }
      std::int64_t reach = 1;
      for (int k = 0; k < out.size.rank; ++k) {
        const auto d = std::size_t(order[k]);
        if (out.size.sizes[d] == 1) continue;
        distinct &= out.strides[d] >= reach;
        reach += (out.size.sizes[d] - 1) * out.strides[d];
      }
      if (distinct)
        copy_bits(geometry(buffer, out.size, out.strides.data(), out.offset - low), g);
      else
        place(place, g, 0, out.offset - low);
    }
    result = empty(in.size, g.dtype(), g.device());
    copy_bits(result, geometry(buffer, in.size, in.strides.data(), in.offset - low));
  }
  return record(
      "AsStridedBackwardBackward0", std::move(result),
      [in, out](Tensor gg) {
    // The same elements, read through a buffer laid out as the input was.
        const Extent a = extent_of(in.size, in.strides.data()),
                     b = extent_of(out.size, out.strides.data());
        const std::int64_t low = std::min(in.offset + a.low, out.offset + b.low);
        const std::int64_t high = std::max(in.offset + a.high, out.offset + b.high);
        Tensor buffer = zeros({high - low + 1}, gg.dtype(), gg.device());
        Tensor place =
            as_strided(buffer, in.size, Shape(Sizes(in.strides.data(), std::size_t(in.size.rank))),
                       in.offset - low);
        copy_(place, gg);
        return Gradients(as_strided(buffer, out.size,
                                    Shape(Sizes(out.strides.data(), std::size_t(out.size.rank))),
                                    out.offset - low));
      },
      g);
}

}  // namespace

Tensor as_strided(const Tensor& input, const Shape& size, const Shape& stride,
                  std::optional<std::int64_t> offset) {
  if (size.rank != stride.rank)
    fail<RuntimeError>("mismatch in length of strides and shape: size ", size, ", stride ", stride);
  for (std::int64_t s : stride)
    if (s < 0)
      fail<RuntimeError>(
          "as_strided: Negative strides are not supported at the moment, got strides: ", stride);
  const std::int64_t at = offset.value_or(input.offset());
  Tensor out = geometry(input, size, stride.sizes.data(), at);
  const ViewGeometry from{input.shape(), input->strides, input.offset()},
      to{out.shape(), out->strides, at};
  return make_view("AsStridedBackward0", input, std::move(out),
                   [from, to](Tensor g) { return Gradients(as_strided_backward(g, from, to)); });
}

ViewGeometry geometry_in_pairs(const Body& b) {
  ViewGeometry g = view_geometry(b);
  if (!is_complex(b.dtype)) return g;
  if (g.size.rank == kMaxRank)
    fail<RuntimeError>(
        "a view of complex numbers as real ones, or of real ones as complex, was modified in "
        "place: where one has ",
        kMaxRank, " dimensions this cannot be recorded\nwork on a clone()");
  for (int d = 0; d < g.size.rank; ++d) g.strides[std::size_t(d)] *= 2;
  g.strides[std::size_t(g.size.rank)] = 1;
  g.size.push_back(2);
  g.offset *= 2;
  return g;
}

Ref<Node> view_node(Body& view) {
  struct ViewNode final : Node {
    ViewGeometry from, to;
    bool from_real = false, from_complex = false;  // if the view is of the other kind
    ViewNode() : Node("AsStridedBackward0") {}
    Gradients backward(std::span<Tensor> grads) override {
      const Tensor& g = grads[0];
      const Tensor out = as_strided_backward(from_real ? view_as_real(g) : g, from, to);
      return Gradients(from_complex ? view_as_complex(out) : out);
    }
  };
  auto* node = new ViewNode;
  const Body& base = *view.base;
  const bool pairs = in_pairs(base, view);
  node->from_complex = pairs && is_complex(base.dtype);
  node->from_real = pairs && !node->from_complex;
  node->from = pairs ? geometry_in_pairs(base) : view_geometry(base);
  node->to = pairs ? geometry_in_pairs(view) : view_geometry(view);
  node->add_input(Tensor(view.base));
  return Ref<Node>::adopt(node);
}

}  // namespace rushlight
