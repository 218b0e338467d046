// What the engine and backward formulas share: sums of gradients, and the undoing of a broadcast.
#include <algorithm>
#include <cmath>

#include "autograd/anomaly.h"
#include "ops/ops.h"
#include "ops/reduce/reduce.h"

namespace rushlight {

Tensor cast_gradient(const Tensor& g, DType dtype) { return g->sparse ? g : to(g, dtype); }

Tensor add_gradients(Tensor a, Tensor b) {
  if (a->sparse || b->sparse) [[unlikely]]
    return sparse_gradients.add(a, b);
  constexpr std::int64_t kLarge = 4096;
  const bool alike = a.numel() >= kLarge && same(a.sizes(), b.sizes()) && a.dtype() == b.dtype() &&
                     a.is_contiguous() && b.is_contiguous() && a.device() == b.device();
  if (alike && !grad_enabled()) {
    if (!is_sole(a)) std::swap(a, b);
    if (is_sole(a)) {
      add_into(a, b);
      return as_new(std::move(a));
    }
  }
  return add(a, b);
}

void add_gradients_into(const Tensor& sum, const Tensor& g) {
  add_into(sum, g);
  ++sum->version();
}

// Row-major, not shared with another tensor.
Tensor own_gradient(const Tensor& g) {
  if (g->sparse) return g;
  if (grad_enabled() && g.requires_grad()) return clone(g);
  Tensor out = empty(g.sizes(), g.dtype(), g.device());
  copy_bits(out, g);
  return out;
}

Tensor like_saved(const Tensor& t, DType dtype, bool dense) {
  const Tensor out = to(t, dtype);
  return dense ? contiguous(out) : out;
}

static Shape with_parts(Sizes shape) {
  Shape whole(shape);
  whole.push_back(2);
  return whole;
}

Tensor sum_to(const Tensor& g, Sizes shape) {
  if (same(g.sizes(), shape)) return g;
  if (is_complex(g.dtype())) return view_as_complex(sum_to(view_as_real(g), with_parts(shape)));
  Shape dims;
  const int extra = g.dim() - int(shape.size());
  for (int d = 0; d < g.dim(); ++d)
    if (d < extra || (shape[std::size_t(d - extra)] == 1 && g->shape[d] != 1)) dims.push_back(d);
  if (dims.rank == 0) return view(g, Shape(shape));
  const Tensor summed = sum(g, dims, true);
  return extra ? view(summed, Shape(shape)) : summed;
}
Tensor sum_to(const Tensor& g, const Shape& shape) { return sum_to(g, shape.view()); }

Shape with_rows(const Tensor& rows, Sizes shape) {
  Shape whole{rows->shape[0]};
  for (const std::int64_t size : shape) whole.push_back(size);
  return whole;
}

Tensor sum_rows_to(const Tensor& rows, Sizes shape) {
  Shape wide{rows->shape[0]};
  for (int d = int(shape.size()) + 1; d < rows.dim(); ++d) wide.push_back(1);
  for (const std::int64_t size : shape) wide.push_back(size);
  const Tensor summed = sum_to(rows, wide);
  return wide.rank == int(shape.size()) + 1 ? summed : reshape(summed, with_rows(rows, shape));
}

Tensor row_of(const Tensor& rows, std::int64_t i) { return select(rows, 0, i); }

Tensor stacked_rows(std::vector<Tensor> rows) {
  const auto defined =
      std::find_if(rows.begin(), rows.end(), [](const Tensor& t) { return bool(t); });
  if (defined == rows.end()) return {};
  for (Tensor& row : rows)
    if (!row) row = zeros_like(*defined);
  return stack(rows, 0);
}

bool has_nan(const Tensor& t) {
  if (!is_floating(t.dtype()) || t.numel() == 0 || t.device().is_meta()) return false;
  const GradMode off(false);
  return std::isnan(item(amax(t, {}, false)).as_double());  // NaN wins
}

}  // namespace rushlight
