// Products with sparse matrices: each is the other's gradient. The kernels check every index.
#include "ops/sparse.h"

#include "autograd/record.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/sparse.h"

namespace rushlight {
namespace {

void check_indices(const char* op, const Tensor& rows, const Tensor& columns) {
  for (const Tensor& t : {rows, columns})
    if (t.dtype() != DType::int64 || t.dim() != 1 || t.numel() != rows.numel())
      fail<RuntimeError>(op, "(): rows and columns are int64 vectors of one length\n",
                         describe("rows", rows), "; ", describe("columns", columns));
  check_same_device(op, rows, "rows", columns, "columns");
}
void check_operand(const char* op, const char* name, const Tensor& t, int rank, const Tensor& like,
                   const Tensor& rows) {
  if (t.dim() != rank || t.dtype() != like.dtype() ||
      (t.dtype() != DType::float32 && t.dtype() != DType::float64))
    fail<RuntimeError>(op, "(): ", describe(name, t), " must have ", rank, " dimensions and be ",
                       "float32 or float64 as the others");
  check_same_device(op, t, name, rows, "rows");
}
[[noreturn]] void fail_index(const char* op, const Tensor& rows, const Tensor& columns,
                             std::int64_t at, std::int64_t n, std::int64_t m) {
  fail<RuntimeError>(op, "(): the sparse matrix of size [", n, ", ", m, "] has an entry at [",
                     element(rows, rows.offset() + at).as_int(), ", ",
                     element(columns, columns.offset() + at).as_int(),
                     "]\nits indices were written to: they must lie inside its size");
}

}  // namespace

Tensor sparse_product(const Tensor& rows, const Tensor& columns, const Tensor& values,
                      const Tensor& dense, std::int64_t n) {
  constexpr const char* op = "sparse_product";
  check_indices(op, rows, columns);
  check_operand(op, "values", values, 1, values, rows);
  check_operand(op, "dense", dense, 2, values, rows);
  if (values.numel() != rows.numel())
    fail<RuntimeError>(op, "(): ", describe("values", values), " for ", rows.numel(), " entries");
  const std::int64_t m = dense->shape[0], width = dense->shape[1], entries = rows.numel();
  Tensor out = zeros({n, width}, dense.dtype(), dense.device());
  if (entries && out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor r = contiguous(rows), c = contiguous(columns), v = contiguous(values),
                 d = contiguous(dense);
    const View vr = dense_view(r, DType::int64, entries), vc = dense_view(c, DType::int64, entries),
               vv = dense_view(v, out.dtype(), entries),
               vd = dense_view(d, out.dtype(), checked_mul(m, width)), vo = view_of(out);
    std::int64_t bad = 0;
    {
      const Unlocked unlocked(double(entries * width) * 0.3, {&r, &c, &v, &d, &out});
      bad = backend(out.device()).sparse->product(vr, vc, vv, vd, vo);
    }
    if (bad >= 0) fail_index("mm", r, c, bad, n, m);
  } else if (entries && width && !out.device().is_meta()) {
    fail_index("mm", contiguous(rows), contiguous(columns), 0, n, m);
  }
  return record(
      "SparseAddmmBackward0", std::move(out),
      [r = Saved(rows), c = Saved(columns), v = Saved(values), d = Saved(dense)](Tensor g,
                                                                                 Node& self) {
        const Tensor rows = r.get(&self), columns = c.get(&self);
        Tensor of_values, of_dense;
        if (self.needs_input(0)) of_values = sparse_dots(rows, columns, g, d.get(&self));
        if (self.needs_input(1))
          of_dense = sparse_product(columns, rows, v.get(&self), g, d.get(&self)->shape[0]);
        return Gradients(of_values, of_dense);
      },
      values, dense);
}

Tensor sparse_dots(const Tensor& rows, const Tensor& columns, const Tensor& a, const Tensor& b) {
  constexpr const char* op = "sparse_dots";
  check_indices(op, rows, columns);
  check_operand(op, "a", a, 2, a, rows);
  check_operand(op, "b", b, 2, a, rows);
  const std::int64_t n = a->shape[0], m = b->shape[0], width = a->shape[1], entries = rows.numel();
  if (b->shape[1] != width)
    fail<RuntimeError>(op, "(): ", describe("a", a), "; ", describe("b", b),
                       ": their rows must have one length");
  Tensor out = empty({entries}, a.dtype(), a.device());
  if (entries && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor r = contiguous(rows), c = contiguous(columns), x = contiguous(a),
                 y = contiguous(b);
    const View vr = dense_view(r, DType::int64, entries), vc = dense_view(c, DType::int64, entries),
               vx = dense_view(x, out.dtype(), checked_mul(n, width)),
               vy = dense_view(y, out.dtype(), checked_mul(m, width)), vo = view_of(out);
    std::int64_t bad = n && m ? -1 : 0;
    if (bad < 0) {
      const Unlocked unlocked(double(entries * width) * 0.3, {&r, &c, &x, &y, &out});
      bad = backend(out.device()).sparse->dots(vr, vc, vx, vy, vo);
    }
    if (bad >= 0) fail_index("mm", r, c, bad, n, m);
  }
  return record(
      "SparseDotsBackward0", std::move(out),
      [r = Saved(rows), c = Saved(columns), x = Saved(a), y = Saved(b)](Tensor g, Node& self) {
        const Tensor rows = r.get(&self), columns = c.get(&self);
        const Tensor a = x.get(&self), b = y.get(&self);
        Tensor of_a, of_b;
        if (self.needs_input(0)) of_a = sparse_product(rows, columns, g, b, a->shape[0]);
        if (self.needs_input(1)) of_b = sparse_product(columns, rows, g, a, b->shape[0]);
        return Gradients(of_a, of_b);
      },
      a, b);
}

}  // namespace rushlight
