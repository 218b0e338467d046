// Reversed, rotated and rolled dimensions.
#include "autograd/showing.h"
#include "core/backend.h"
#include "core/unlocked.h"
#include "ops/join.h"

namespace rushlight {

Tensor flip(const Tensor& input, Sizes dims) {
  const unsigned mask = dim_mask(dims, input.dim(), false);
  Tensor out = empty_like(input);
  if (out.numel() && !out.device().is_meta()) {
    View from = stored_view_of(input);  // read backwards: inside the same storage
    for (int d = 0; d < input.dim(); ++d) {
      if (!(mask >> d & 1)) continue;
      from.data = static_cast<char*>(from.data) +
                  (from.sizes[d] - 1) * from.strides[d] * std::int64_t(item_size(from.dtype));
      from.strides[d] = -from.strides[d];
    }
    const Backend& b = backend(out.device());
    const Unlocked unlocked(double(out.numel()), {&out, &input});
    b.copy->copy(stored_view_of(out), from);
  }
  return record(
      "FlipBackward0", std::move(out),
      showing(
          "dims",
          [](Tensor g, Node&, const Shape& dims) { return Gradients(flip(g, dims.view())); },
          Shape(dims)),
      input);
}

Tensor fliplr(const Tensor& input) {
  if (input.dim() < 2) fail<RuntimeError>("Input must be >= 2-d.");
  const std::int64_t d = 1;
  return flip(input, {&d, 1});
}

Tensor flipud(const Tensor& input) {
  if (input.dim() < 1) fail<RuntimeError>("Input must be >= 1-d.");
  const std::int64_t d = 0;
  return flip(input, {&d, 1});
}

Tensor rot90(const Tensor& input, std::int64_t k, Sizes dims) {
  if (dims.size() != 2)
    fail<RuntimeError>("expected total rotation dims == 2, but got dims = ", dims.size());
  if (input.dim() < 2)
    fail<RuntimeError>("expected total dims >= 2, but got total dims = ", input.dim());
  const int a = wrap_dim(dims[0], input.dim()), b = wrap_dim(dims[1], input.dim());
  if (a == b)
    fail<RuntimeError>("expected rotation dims to be different, but got dim0 = ", dims[0],
                       " and dim1 = ", dims[1]);
  const std::int64_t first = a, second = b;
  const auto turned = [&]() -> Tensor {
    switch (((k % 4) + 4) % 4) {
      case 1: return transpose(flip(input, {&second, 1}), a, b);
      case 2: {
        const std::int64_t both[] = {first, second};
        return flip(input, both);
      }
      case 3: return transpose(flip(input, {&first, 1}), a, b);
      default: return clone(input);
    }
  };
  return named(turned(), "Rot90Backward0");
}

Tensor roll(const Tensor& input, Sizes shifts, Sizes dims) {
  if (dims.empty() && shifts.size() == 1) {
    Tensor out;
    {
      const GradMode off(false);
      const std::int64_t zero = 0;
      out = reshape(roll(reshape(input, {-1}), shifts, {&zero, 1}), input.shape());
      out->base = {};
    }
    return record(
        "RollBackward0", std::move(out),
        [by = shifts[0] % std::max<std::int64_t>(1, input.numel())](Tensor g) {
          const std::int64_t back = -by;
          return Gradients(roll(g, {&back, 1}, {}));
        },
        input);
  }
  if (shifts.empty()) fail<RuntimeError>("`shifts` required");
  if (shifts.size() != dims.size())
    fail<RuntimeError>("shifts and dimensions must align. shifts: ", shifts.size(),
                       ", dims:", dims.size());
  if (input.dim() == 0 && !dims.empty())
    fail<IndexError>("Dimension specified as ", dims[0], " but tensor has no dimensions");
  Tensor out = input;
  {
    const GradMode off(false);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const int at = wrap_dim(dims[i], input.dim());
      const std::int64_t n = input.dim() ? input->shape[at] : 0;
      if (n == 0) continue;
      const std::int64_t by = ((shifts[i] % n) + n) % n;
      out = cat({narrow(out, at, n - by, by), narrow(out, at, 0, n - by)}, at);
    }
    if (out.is_same(input)) out = clone(input);
  }
  using Numbers = std::vector<std::int64_t>;
  return record("RollBackward0", std::move(out),
                showing(
                    "dims shifts",
                    [](Tensor g, Node&, const Numbers& dims, const Numbers& shifts) {
                      Numbers back;
                      for (std::size_t i = 0; i < dims.size(); ++i)
                        back.push_back(-(shifts[i] % std::max<std::int64_t>(
                                                         1, g.size(wrap_dim(dims[i], g.dim())))));
                      return Gradients(roll(g, back, dims));
                    },
                    Numbers(dims.begin(), dims.end()), Numbers(shifts.begin(), shifts.end())),
                input);
}

}  // namespace rushlight
