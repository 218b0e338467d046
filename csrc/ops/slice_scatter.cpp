// Copies of a tensor in which a view of it holds other values: the views' opposites.
#include "ops/index/index.h"

namespace rushlight {
namespace {

bool repeats_elements(const Tensor& t) {
  for (int d = 0; d < t.dim(); ++d)
    if (t->shape[d] > 1 && t->strides[std::size_t(d)] == 0) return true;
  return false;
}

// A copy with the strides of t, gaps included.
Tensor strided_clone(const Tensor& t) {
  if (t.is_contiguous() || t.device().is_meta() || repeats_elements(t)) return clone(t);
  const Tensor out = empty_strided(t.sizes(), t.strides().data(), t.dtype(), t.device());
  copy_bits(out, t);
  return out;
}

// A copy of input whose part(copy) is src. The gradient of input is 0 there; src's is what it
// holds.
template <class Part>
Tensor replaced(const char* op, const char* node, const Tensor& input, const Tensor& src,
                Part part) {
  check_same_device(op, input, "input", src, "src");
  Tensor out;
  {
    const GradMode off(false);
    out = strided_clone(input);
    const Tensor target = part(out);
    if (!same(target.sizes(), src.sizes()))
      fail<RuntimeError>("expected src to have a size equal to the slice of self. src size = ",
                         src.sizes(), ", slice size = ", target.sizes());
    copy_bits(target, src);
  }
  return record(
      node, out,
      [op, node, part, shape = src.shape(), dtype = src.dtype()](Tensor g, Node& self) {
        Tensor of_input, of_src;
        if (self.needs_input(0))
          of_input = replaced(op, node, g, zeros(shape, g.dtype(), g.device()), part);
        if (self.needs_input(1)) of_src = to(part(g), dtype);
        return Gradients(of_input, of_src);
      },
      input, src);
}

struct Geometry {
  Shape size, stride;
  std::int64_t offset;
};
Geometry geometry_of(const Tensor& t) {
  return {t.shape(), Shape(Sizes(t->strides.data(), std::size_t(t.dim()))), t.offset()};
}
Tensor seen(const Tensor& t, const Geometry& g) {
  return as_strided(t, g.size, g.stride, g.offset);
}

// Memory that reaches as far as this geometry does, with t's elements at their offsets.
Tensor laid_out(const Tensor& t, const Geometry& g) {
  std::int64_t room = g.offset;
  if (t.numel()) room = checked_add(room, extent_of(g.size, g.stride.sizes.data()).high + 1);
  const Tensor memory = zeros({room}, t.dtype(), t.device());
  copy_(seen(memory, g), t);
  return memory;
}

Tensor scattered(const Tensor& input, const Tensor& src, const Geometry& own, const Geometry& to) {
  const Tensor memory = laid_out(input, own);
  copy_(seen(memory, to), src);
  return seen(as_new(memory), own);
}

}  // namespace

Tensor select_scatter(const Tensor& input, const Tensor& src, std::int64_t dim,
                      std::int64_t index) {
  return replaced("select_scatter", "SelectScatterBackward0", input, src,
                  [=](const Tensor& t) { return select(t, dim, index); });
}

Tensor slice_scatter(const Tensor& input, const Tensor& src, std::int64_t dim,
                     std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                     std::int64_t step) {
  return replaced("slice_scatter", "SliceScatterBackward0", input, src,
                  [=](const Tensor& t) { return slice(t, dim, start, end, step); });
}

Tensor diagonal_scatter(const Tensor& input, const Tensor& src, std::int64_t offset,
                        std::int64_t dim1, std::int64_t dim2) {
  return replaced("diagonal_scatter", "DiagonalScatterBackward0", input, src,
                  [=](const Tensor& t) { return diagonal(t, offset, dim1, dim2); });
}

// The copy's memory is laid out as input's.
Tensor as_strided_scatter(const Tensor& given, const Tensor& src, const Shape& size,
                          const Shape& stride, std::optional<std::int64_t> storage_offset) {
  check_same_device("as_strided_scatter", given, "input", src, "src");
  const Tensor input = repeats_elements(given) ? contiguous(given) : given;
  const Geometry own = geometry_of(input),
                 to_src = {size, stride, storage_offset.value_or(input.offset())};
  Tensor out;
  {
    const GradMode off(false);
    if (!same(size, src.sizes()))
      fail<RuntimeError>("expected src to have a size equal to the slice of self. src size = ",
                         src.sizes(), ", slice size = ", size);
    out = scattered(input, src, own, to_src);
  }
  return record(
      "AsStridedScatterBackward0", out,
      [own, to_src, dtype = src.dtype()](Tensor g, Node& self) {
        Tensor of_input, of_src;
        if (self.needs_input(0))
          of_input = scattered(g, zeros(to_src.size, g.dtype(), g.device()), own, to_src);
        if (self.needs_input(1)) of_src = to(seen(laid_out(g, own), to_src), dtype);
        return Gradients(of_input, of_src);
      },
      input, src);
}

}  // namespace rushlight
