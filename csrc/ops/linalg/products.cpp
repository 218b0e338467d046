// The kernels' calls for products, and the gradients, written with products again.
#include "ops/linalg/products.h"

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "ops/linalg/matmul.h"

namespace rushlight {
namespace {

constexpr double kNanosecondsPerProduct = 0.02;

// A matrix, a column (`column`: size n becomes (n, 1)) or a batch, as the kernel's rank 3: a copy
// of the geometry costs as much as a small product.
View as_batch(const Tensor& t, bool column = false) {
  View v;
  const Body& b = start_view(v, t);
  v.numel = b.numel;
  if (b.shape.rank == 2 && !column) [[likely]] {
    const std::int64_t rows = b.shape[0], columns = b.shape[1];
    v.rank = 3;
    v.sizes[0] = 1, v.sizes[1] = rows, v.sizes[2] = columns;
    v.strides[0] = 0, v.strides[1] = b.strides[0], v.strides[2] = b.strides[1];
    return v;
  }
  const int rank = b.shape.rank + (column ? 1 : 0);
  v.rank = std::max(rank, 3);
  for (int d = 2, from = rank - 1; d >= 0; --d, --from) {
    const bool is_own = from >= 0 && from < b.shape.rank;
    v.sizes[d] = is_own ? b.shape[from] : 1;
    v.strides[d] = is_own ? b.strides[std::size_t(from)] : from == rank - 1 ? 1 : 0;
  }
  return v;
}

// They fitted when they were checked; another thread may have changed one since.
struct ProductOperands {
  View left, right, out;
  ProductOperands(const Tensor& l, const Tensor& r, const Tensor& o, bool column = false)
      : left(as_batch(l)), right(as_batch(r, column)), out(as_batch(o, column)) {
    if (left.sizes[0] != out.sizes[0] || left.sizes[1] != out.sizes[1] || left.dtype != out.dtype ||
        left.rank != 3)
      fail_changed(l);
    if (right.sizes[0] != out.sizes[0] || right.sizes[1] != left.sizes[2] ||
        right.sizes[2] != out.sizes[2] || right.dtype != out.dtype || right.rank != 3)
      fail_changed(r);
  }
};
bool is_transposed(const Tensor& t) {
  const int d = t.dim();
  return t->strides[std::size_t(d - 2)] == 1 && t->strides[std::size_t(d - 1)] >= t->shape[d - 2] &&
         t->shape[d - 2] > 1;
}

// d(left x right): g x right^H and left^H x g, laid out as the operand was: as columns or as rows.
Tensor left_gradient(const Tensor& g, bool as_columns, const Tensor& other) {
  const auto product = g.dim() == 3 ? bmm : mm;
  const Tensor right = conj(other);
  if (as_columns) return transposed(product(right, transposed(g)));
  return product(g, transposed(right));
}
Tensor right_gradient(const Tensor& g, const Tensor& other, bool as_columns) {
  const auto product = g.dim() == 3 ? bmm : mm;
  const Tensor left = conj(other);
  if (as_columns) return transposed(product(transposed(g), left));
  return product(transposed(left), g);
}

// Each operand, if the other's gradient is wanted. The left one is often the result of an
// activation or a norm: where a product has so many columns, computing that again takes a hundredth
// of its time.
Saved kept_left(const Tensor& left, const Tensor& right) {
  constexpr std::int64_t kColumns = 256;
  if (!wants_grad(right)) return {};
  return right->shape[right.dim() - 1] >= kColumns ? Saved::recomputed(left) : Saved(left);
}
Saved kept_right(const Tensor& left, const Tensor& right) {
  return wants_grad(left) ? Saved(right) : Saved();
}

// Of a matrix, for its node to show.
OfDimensions sizes_of(const Tensor& t) {
  return {{0, t->shape[t.dim() - 2], t->shape[t.dim() - 1]}, 2};
}
OfDimensions strides_of(const Tensor& t) {  // as torch keeps them: where a gradient needs them
  if (!wants_grad(t)) return {{}, 0};
  const auto d = std::size_t(t.dim());
  return {{0, t->strides[d - 2], t->strides[d - 1]}, 2};
}

// Of rows: (rows, ..., m, n) x (..., n, k) as one product, the rows joined to m.
Tensor rows_product(const Tensor& g, const Tensor& right) {
  if (right.dim() == 2) {
    const Tensor folded = reshape(g, {checked_mul(g->shape[0], g->shape[1]), g->shape[2]});
    return view(mm(folded, right), {g->shape[0], g->shape[1], right->shape[1]});
  }
  const std::int64_t batch = g->shape[1], joined = checked_mul(g->shape[0], g->shape[2]);
  const Tensor folded = reshape(permute(g, {1, 0, 2, 3}), {batch, joined, g->shape[3]});
  const Tensor made = view(bmm(folded, right), {batch, g->shape[0], g->shape[2], right->shape[2]});
  return permute(made, {1, 0, 2, 3});
}
Tensor left_rows(const Tensor& g, const Tensor& right) {
  return rows_product(g, transposed(conj(right)));
}
Tensor right_rows(const Tensor& g, const Tensor& left) {
  return transposed(rows_product(transposed(g), conj(left)));
}

// Of complex numbers: four products of the parts.
void run_parts(const Tensor& left, const Tensor& right, const Tensor& out, Scalar alpha,
               Scalar beta, bool column) {
  const GradMode off(false);
  const Tensor a = contiguous(real(left)), b = contiguous(imag(left));
  const Tensor c = contiguous(real(right)), d = contiguous(imag(right));
  const auto part = [&](const Tensor& into, const Tensor& first, const Tensor& second,
                        double sign) {
    const Tensor sum =
        beta.as_double() == 0 ? empty(out.sizes(), into.dtype(), out.device()) : contiguous(into);
    run_product(a, first, sum, alpha, beta, column);
    run_product(b, second, sum, Scalar(sign * alpha.as_double()), 1, column);
    copy_bits(into, sum);
  };
  part(real(out), c, d, -1);
  part(imag(out), d, c, 1);
}

}  // namespace

void run_product(const Tensor& left, const Tensor& right, const Tensor& out, Scalar alpha,
                 Scalar beta, bool column) {
  if (out.numel() == 0 || out.device().is_meta()) return;
  if (is_complex(out.dtype())) [[unlikely]]
    return run_parts(left, right, out, alpha, beta, column);
  const ProductOperands of(left, right, out, column);
  const Backend& b = backend(out.device());
  // Kernels choose by this number, which expanded matrices take beyond 64 bits.
  const double products = double(checked_mul(out.numel(), of.left.sizes[2]));
  if (!is_floating(out.dtype()) && products != 0) {
    check_fits("addmm", "beta", beta, out.dtype());
    check_fits("addmm", "alpha", alpha, out.dtype());
  }
  const Unlocked unlocked(products * (is_floating(out.dtype()) ? kNanosecondsPerProduct : 0.3),
                          {&left, &right, &out});
  b.matmul->matmul(of.left, of.right, of.out, alpha, beta);
}

bool run_with_bias(const Tensor& left, const Tensor& right, const Tensor& bias, const Tensor& out) {
  const Backend& b = backend(out.device());
  if (!b.matmul->matmul_bias || out.numel() == 0 || left.numel() == 0) return false;
  const ProductOperands of(left, right, out);
  const View added = view_of(bias);
  if (added.rank != 1 || added.numel != of.out.sizes[2] || added.dtype != out.dtype())
    fail_changed(bias);
  const double products = double(checked_mul(out.numel(), of.left.sizes[2]));
  const Unlocked unlocked(products * kNanosecondsPerProduct, {&left, &right, &bias, &out});
  return b.matmul->matmul_bias(of.left, of.right, added, of.out);
}

Tensor record_product(const char* name, Tensor out, const Tensor& left, const Tensor& right) {
  if (!needs_grad(left, right)) return out;
  const bool l_columns = is_transposed(left), r_columns = is_transposed(right);
  return record(
      name, std::move(out),
      showing(left.dim() == 3 ? "self mat2"
                              : "self mat2 self_sym_sizes self_sym_strides mat2_sym_sizes "
                                "mat2_sym_strides",
              both(
                  [l_columns, r_columns](Tensor g, Node& self, const Saved& l, const Saved& r) {
                    Tensor of_left, of_right;  // the second first: only that one may compute l
                    if (self.needs_input(1)) of_right = right_gradient(g, l.once(), r_columns);
                    if (self.needs_input(0)) of_left = left_gradient(g, l_columns, r.get());
                    return Gradients(of_left, of_right);
                  },
                  [](Rows rows, Node& self, const Saved& l, const Saved& r) {
                    return Gradients(self.needs_input(0) ? left_rows(rows.g, r.get()) : Tensor(),
                                     self.needs_input(1) ? right_rows(rows.g, l.once()) : Tensor());
                  }),
              kept_left(left, right), kept_right(left, right), sizes_of(left), strides_of(left),
              sizes_of(right), strides_of(right)),
      left, right);
}

Tensor record_sum(const char* name, Tensor out, const Tensor& input, const Tensor& left,
                  const Tensor& right, Scalar beta, Scalar alpha) {
  if (!needs_grad(input, left, right)) return out;
  const bool l_columns = is_transposed(left), r_columns = is_transposed(right);
  return record(name, std::move(out),
                showing(left.dim() == 3 ? "batch1 batch2 beta alpha"
                                        : "mat1 mat2 beta alpha mat1_sym_sizes mat1_sym_strides "
                                          "mat2_sym_sizes mat2_sym_strides",
                        both(
                            [shape = input.shape(), l_columns, r_columns](
                                Tensor g, Node& self, const Saved& l, const Saved& r, Scalar beta,
                                Scalar alpha) {
                              Tensor of_input, of_left, of_right;
                              if (self.needs_input(0)) of_input = sum_to(scaled(g, beta), shape);
                              if (self.needs_input(2))
                                of_right = scaled(right_gradient(g, l.once(), r_columns), alpha);
                              if (self.needs_input(1))
                                of_left = scaled(left_gradient(g, l_columns, r.get()), alpha);
                              return Gradients(of_input, of_left, of_right);
                            },
                            [shape = input.shape()](Rows rows, Node& self, const Saved& l,
                                                    const Saved& r, Scalar beta, Scalar alpha) {
                              const Tensor& g = rows.g;
                              Tensor of_input, of_left, of_right;
                              if (self.needs_input(0))
                                of_input = sum_rows_to(scaled(g, beta), shape);
                              if (self.needs_input(1))
                                of_left = scaled(left_rows(g, r.get()), alpha);
                              if (self.needs_input(2))
                                of_right = scaled(right_rows(g, l.once()), alpha);
                              return Gradients(of_input, of_left, of_right);
                            }),
                        kept_left(left, right), kept_right(left, right), beta, alpha,
                        sizes_of(left), strides_of(left), sizes_of(right), strides_of(right)),
                input, left, right);
}

}  // namespace rushlight
