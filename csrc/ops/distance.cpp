// cdist and pdist. The norms are in kernels/distance.h; the gradients are kernels too, and written
// with ops where they must be differentiable themselves. The Euclidean distances of many rows come
// from a matrix product.
#include "ops/distance.h"

#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/distance.h"
#include "ops/linalg/matmul.h"
#include "ops/triangular.h"
#include "ops/value.h"

namespace rushlight {

static Value sign_of(const Value& x) { return apply_to_values<Sign>(x); }

namespace {

Tensor slopes(const Tensor& difference, const Tensor& distances, double p) {
  Value out;
  dispatch_norm(p, [&](auto norm) { out = norm.slope(Value(difference), Value(distances)); });
  return out.is_scalar() ? zeros_like(difference) : out.tensor();
}

// ---- by a matrix product: |x|^2 - 2 x y + |y|^2, in one product of longer rows
Tensor euclidean(const Tensor& x1, const Tensor& x2) {
  Tensor out;
  {
    const GradMode off(false);
    const std::int64_t last = -1;
    const auto squares = [&](const Tensor& x) { return sum(mul(x, x), {&last, 1}, true); };
    const Tensor a = squares(x1), b = squares(x2);
    const Tensor left = cat({mul(x1, Scalar(-2)), a, ones_like(a)}, -1);
    const Tensor right = cat({x2, ones_like(b), b}, -1);
    const Tensor squared = matmul(left, transpose(right, -2, -1));
    out = apply<Sqrt>(clamp(squared, as_input(Scalar(0)), {}));
  }
  return record(
      "EuclideanDistBackward0", out,
      [a = Saved(x1), b = Saved(x2), y = SavedOutput(out)](Tensor g, Node& self) {
        const Tensor distances = y.get(self);
        const Value equal = Value(distances) == Value(0);
        const Tensor ratio =
            where(equal, Value(0), Value(g) / where(equal, Value(1), Value(distances))).tensor();
        const auto of = [](const Tensor& x, const Tensor& other, const Tensor& r) {
          const std::int64_t last = -1;
          return sub(mul(x, sum(r, {&last, 1}, true)), matmul(r, other));
        };
        Tensor of_x1, of_x2;
        if (self.needs_input(0)) of_x1 = of(a.get(), b.get(), ratio);
        if (self.needs_input(1)) of_x2 = of(b.get(), a.get(), transpose(ratio, -2, -1));
        return Gradients(of_x1, of_x2);
      },
      x1, x2);
}

// ---- by kernels; x1 [b, n, d], x2 [b, m, d]
Tensor backward_kernel(const Tensor& g, const Tensor& distances, const Tensor& given_x,
                       const Tensor& given_y, double p) {
  const Tensor x = contiguous(given_x), y = contiguous(given_y);
  Tensor out = empty(x.sizes(), x.dtype(), x.device());
  if (out.numel()) {
    const View of_x = dense_view(x, out.dtype(), out.numel()),
               of_y = dense_view(y, out.dtype(), y.numel());
    const View to = view_of(out), from = view_of(g), by = view_of(distances);
    const Backend& b = backend(out.device());
    const Unlocked unlocked(double(out.numel()) * double(y.size(1)),
                            {&out, &g, &distances, &x, &y});
    b.distance->between_backward(to, from, by, of_x, of_y, p);
  }
  return out;
}

Tensor between(const Tensor& x1, const Tensor& x2, double p) {
  const std::int64_t batches = x1.size(0), n = x1.size(1), m = x2.size(1);
  const Tensor x = contiguous(x1), y = contiguous(x2);
  Tensor out = empty({batches, n, m}, x.dtype(), x.device());
  if (out.numel() && !out.device().is_meta()) {
    const View of_x = dense_view(x, out.dtype(), x.numel()),
               of_y = dense_view(y, out.dtype(), y.numel());
    const View to = view_of(out);
    const Backend& b = backend(out.device());
    const Unlocked unlocked(double(out.numel()) * double(x.size(2)), {&out, &x, &y});
    b.distance->between(to, of_x, of_y, p);
  }
  return record(
      "CdistBackward0", out,
      [a = Saved(x1), b = Saved(x2), y = SavedOutput(out), p](Tensor g, Node& self) {
        const Tensor distances = y.get(self);
        Tensor of_x1, of_x2;
        if (grad_enabled()) {
          const Tensor difference = sub(unsqueeze(a.get(), 2), unsqueeze(b.get(), 1));
          const Tensor parts = mul(unsqueeze(g, 3), slopes(difference, unsqueeze(distances, 3), p));
          const std::int64_t of_m = 2, of_n = 1;
          if (self.needs_input(0)) of_x1 = sum(parts, {&of_m, 1}, false);
          if (self.needs_input(1)) of_x2 = neg(sum(parts, {&of_n, 1}, false));
          return Gradients(of_x1, of_x2);
        }
        if (self.needs_input(0)) of_x1 = backward_kernel(g, distances, a.get(), b.get(), p);
        if (self.needs_input(1))
          of_x2 =
              backward_kernel(transpose(g, 1, 2), transpose(distances, 1, 2), b.get(), a.get(), p);
        return Gradients(of_x1, of_x2);
      },
      x1, x2);
}

bool wants_product(std::string_view mode, const Tensor& x1, const Tensor& x2) {
  if (mode == "use_mm_for_euclid_dist") return true;
  if (mode == "donot_use_mm_for_euclid_dist") return false;
  if (mode != "use_mm_for_euclid_dist_if_necessary")
    fail<ValueError>(mode, " is not a valid value for compute_mode");
  return x1.size(-2) > 25 || x2.size(-2) > 25;
}

void check_operand(const char* name, const Tensor& x) {
  if (!is_floating(x.dtype()))
    fail<RuntimeError>("cdist only supports floating-point dtypes, ", name,
                       " got: ", scalar_name(x.dtype()));
  if (x.dim() < 2)
    fail<RuntimeError>("cdist only supports at least 2D tensors, ", name, " got: ", x.dim(), "D");
}

}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::string_view compute_mode) {
  check_operand("X1", x1);
  check_operand("X2", x2);
  const bool by_product = wants_product(compute_mode, x1, x2);
  check_same_device("cdist", x1, "x1", x2, "x2");
  if (x1.size(-1) != x2.size(-1))
    fail<RuntimeError>("X1 and X2 must have the same number of columns. X1: ", x1.size(-1),
                       " X2: ", x2.size(-1));
  if (!(p >= 0)) fail<RuntimeError>("cdist only supports non-negative p values");
  const DType dtype = promote_types(x1.dtype(), x2.dtype());
  const auto leading = [](const Tensor& x) {
    return Shape(x.sizes().first(std::size_t(x.dim() - 2)));
  };
  const Shape batch = broadcast(leading(x1), leading(x2));
  const auto spread = [&](const Tensor& x) {
    Shape shape = batch;
    shape.push_back(x.size(-2));
    shape.push_back(x.size(-1));
    return expand(to(x, dtype), shape);
  };
  const Tensor a = spread(x1), b = spread(x2);
  Shape whole = batch;
  whole.push_back(a.size(-2));
  whole.push_back(b.size(-2));
  if (p == 2 && by_product && a.size(-1) && numel_of(whole)) return euclidean(a, b);
  const std::int64_t batches = numel_of(batch);
  const auto flat = [&](const Tensor& x) { return reshape(x, {batches, x.size(-2), x.size(-1)}); };
  return named(view(between(flat(a), flat(b), p), whole), "CdistBackward0");
}

Tensor pdist(const Tensor& input, double p) {
  if (input.dim() != 2)
    fail<RuntimeError>("pdist only supports 2D tensors, got: ", input.dim(), "D");
  if (!is_floating(input.dtype()))
    fail<RuntimeError>("pdist only supports floating-point dtypes, got ",
                       scalar_name(input.dtype()));
  if (!(p >= 0)) fail<RuntimeError>("pdist only supports non-negative p values");
  const Tensor x = contiguous(detach(input));  // whose sizes no other thread changes
  const std::int64_t n = x.size(0);
  const std::int64_t count = n < 2        ? 0
                             : n % 2 == 0 ? checked_mul(n / 2, n - 1)
                                          : checked_mul(n, (n - 1) / 2);
  Tensor out = empty({count}, x.dtype(), x.device());
  if (count && !out.device().is_meta()) {
    const View of_x = dense_view(x, out.dtype(), x.numel()), to = view_of(out);
    const Backend& b = backend(out.device());
    const Unlocked unlocked(double(count) * double(x.size(1)), {&out, &x});
    b.distance->pairs(to, of_x, p);
  }
  return record(
      "PdistBackward0", out,
      [kept = Saved(input), y = SavedOutput(out), p, from = x.shape()](Tensor g, Node& self) {
        const Tensor rows = kept.get(), distances = y.get(self);
        if (!same(rows.sizes(), from.view())) fail_changed(rows);
        if (grad_enabled()) {
          const Tensor pairs = triu_indices(rows.size(0), rows.size(0), 1, rows.device());
          const Tensor i = select(pairs, 0, 0), j = select(pairs, 0, 1);
          const Tensor difference = sub(index_select(rows, 0, i), index_select(rows, 0, j));
          const Tensor parts = mul(unsqueeze(g, 1), slopes(difference, unsqueeze(distances, 1), p));
          const Tensor none = zeros(rows.shape(), rows.dtype(), rows.device());
          return Gradients(index_add(index_add(none, 0, i, parts, 1), 0, j, parts, -1));
        }
        const Tensor dense = contiguous(detach(rows));
        const Tensor grads = contiguous(g), lengths = contiguous(distances);
        Tensor of_rows = empty(dense.sizes(), dense.dtype(), dense.device());
        if (of_rows.numel()) {
          const View of_x = dense_view(dense, of_rows.dtype(), of_rows.numel()),
                     of_g = dense_view(grads, of_rows.dtype(), distances.numel()),
                     of_lengths = dense_view(lengths, of_rows.dtype(), distances.numel());
          const View to = view_of(of_rows);
          const Backend& b = backend(of_rows.device());
          const Unlocked unlocked(double(of_rows.numel()) * double(rows.size(0)),
                                  {&of_rows, &grads, &lengths, &dense});
          b.distance->pairs_backward(to, of_g, of_lengths, of_x, p);
        }
        return Gradients(of_rows);
      },
      input);
}

}  // namespace rushlight
