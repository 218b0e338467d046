// Constant padding. Its gradient is padding by the negated amounts, so it is differentiable as
// often as one likes.
#include "ops/pad.h"

#include <algorithm>
#include <limits>

#include "autograd/showing.h"
#include "ops/memory_format.h"

namespace rushlight {
namespace {

// The part of t that is in the other tensor too: `pad` elements beyond its edges are left out.
Tensor inner(const Tensor& t, const std::vector<std::int64_t>& pad, int sign) {
  Tensor part = t;
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    const int dim = t.dim() - 1 - int(i);
    const std::int64_t left = std::max<std::int64_t>(0, sign * pad[2 * i]);
    const std::int64_t right = std::max<std::int64_t>(0, sign * pad[2 * i + 1]);
    if (left || right) part = narrow(part, dim, left, part.size(dim) - left - right);
  }
  return part;
}

// How many elements a negative padding takes; the least int64 has no opposite.
std::int64_t taken_by(std::int64_t padding) {
  return padding < 0 ? -std::max(padding, -std::numeric_limits<std::int64_t>::max()) : 0;
}

Shape padded_shape(const Tensor& input, const std::vector<std::int64_t>& pad) {
  if (pad.size() % 2)
    fail<RuntimeError>("Length of pad must be even but instead it equals ", pad.size());
  if (int(pad.size() / 2) > input.dim())
    fail<RuntimeError>(
        "Length of pad should be no more than twice the number of dimensions of the input. Pad "
        "length is ",
        pad.size(), "while the input has ", input.dim(), "dimensions.");
  Shape out = input.shape();
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    const std::size_t d = std::size_t(input.dim()) - 1 - i;
    const std::int64_t cut = taken_by(pad[2 * i]), more = taken_by(pad[2 * i + 1]);
    const std::int64_t size = checked_add(checked_add(out.sizes[d], pad[2 * i]), pad[2 * i + 1]);
    if (size < 0 || cut > out.sizes[d] || more > out.sizes[d] - cut)
      fail<RuntimeError>("The input size ", out.sizes[d], ", plus negative padding ", pad[2 * i],
                         " and ", pad[2 * i + 1], ", resulted in a negative output size, ",
                         "which is invalid. Check dimension ", d, " of your input.\n",
                         describe("input", input));
    out.sizes[d] = size;
  }
  return out;
}

}  // namespace

Tensor constant_pad_nd(const Tensor& input, const std::vector<std::int64_t>& pad, Scalar value) {
  const Shape shape = padded_shape(input, pad);
  if (std::ranges::any_of(pad, [](std::int64_t n) { return n > 0; }))
    check_fits("pad", "value", value, input.dtype());
  Tensor out;
  {
    const GradMode off(false);
    out = empty_in_format(shape.view(), input.dtype(), input.device(), format_of(input));
    fill_(out, value);
    copy_bits(inner(out, pad, 1), inner(input, pad, -1));
  }
  return record("ConstantPadNdBackward0", out,
                showing(
                    "pad",
                    [](Tensor g, Node&, std::vector<std::int64_t> back) -> Gradients {
                      for (std::int64_t& n : back) n = -n;
                      return {constant_pad_nd(g, back, 0)};
                    },
                    pad),
                input);
}

}  // namespace rushlight
