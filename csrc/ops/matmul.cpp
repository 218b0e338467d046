// Matrix products: checks, one call of the kernel, and gradients written with products again.
#include "ops/matmul.h"

#include "core/backend.h"
#include "core/dense_view.h"
#include "core/operands.h"
#include "core/work.h"
#include "kernels/matmul.h"
#include "ops/pointwise.h"

namespace rushlight {
namespace {

Tensor transposed(const Tensor& t) { return transpose(t, -2, -1); }
bool is_transposed(const Tensor& t) {
  const int d = t.dim();
  return t->strides[std::size_t(d - 2)] == 1 && t->strides[std::size_t(d - 1)] >= t->shape[d - 2] &&
         t->shape[d - 2] > 1;
}

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

void run(const Tensor& left, const Tensor& right, const Tensor& out, Scalar alpha, Scalar beta,
         bool column = false) {
  if (out.numel() == 0 || out.device().is_meta()) return;
  const View l = as_batch(left), r = as_batch(right, column), o = as_batch(out, column);
  // They fitted when they were checked; another thread may have changed one since.
  if (l.sizes[0] != o.sizes[0] || l.sizes[1] != o.sizes[1] || l.dtype != o.dtype || l.rank != 3)
    fail_changed(left);
  if (r.sizes[0] != o.sizes[0] || r.sizes[1] != l.sizes[2] || r.sizes[2] != o.sizes[2] ||
      r.dtype != o.dtype || r.rank != 3)
    fail_changed(right);
  const Backend& b = backend(out.device());
  const double products = double(out.numel()) * double(l.sizes[2]);
  const Unlocked unlocked(products * (is_floating(out.dtype()) ? 0.02 : 0.3),
                          {&left, &right, &out});
  b.matmul->matmul(l, r, o, alpha, beta);
}

// Whether the device can add `bias` to each row of a product with (_, columns) in one kernel.
bool may_fuse(const Tensor& bias, const Tensor& left, std::int64_t columns, Scalar beta,
              Scalar alpha) {
  return bias.dim() == 1 && bias.numel() == columns && bias.dtype() == left.dtype() &&
         is_floating(bias.dtype()) && beta.as_double() == 1 && alpha.as_double() == 1 &&
         !bias.device().is_meta() && backend(bias.device()).matmul->matmul_bias;
}
// A product and something with a vector of `length` in one kernel; false, and nothing of use done,
// where the device has none for these operands.
bool run_fused(bool (*MatmulKernels::*kernel)(const View&, const View&, const View&, const View&),
               const Tensor& left, const Tensor& right, const Tensor& vector, std::int64_t length,
               const Tensor& out) {
  if (out.numel() == 0) return false;
  const Backend& b = backend(out.device());
  const View l = as_batch(left), r = as_batch(right), o = as_batch(out), v = view_of(vector);
  if (l.sizes[1] != o.sizes[1] || l.dtype != o.dtype) fail_changed(left);
  if (r.sizes[1] != l.sizes[2] || r.sizes[2] != o.sizes[2] || r.dtype != o.dtype)
    fail_changed(right);
  if (v.rank != 1 || v.numel != length || v.dtype != o.dtype) fail_changed(vector);
  const Unlocked unlocked(double(out.numel()) * double(l.sizes[2]) * 0.02,
                          {&left, &right, &out, &vector});
  return (b.matmul->*kernel)(l, r, v, o);
}

void refuse_bool(const Tensor& t, const char* kernel) {
  if (t.dtype() == DType::boolean)
    fail<NotImplementedError>("\"", kernel, "\" not implemented for 'Bool'");
}

[[noreturn]] void fail_shapes(const Tensor& a, const Tensor& b) {
  fail<RuntimeError>("mat1 and mat2 shapes cannot be multiplied (", a->shape[0], "x", a->shape[1],
                     " and ", b->shape[0], "x", b->shape[1], ")\n", describe("mat1", a), "; ",
                     describe("mat2", b), ": the columns of the first must be the rows of the ",
                     "second");
}

void check_batches(const Tensor& batch1, const Tensor& batch2) {
  if (batch1.dim() != 3) fail<RuntimeError>("batch1 must be a 3D tensor");
  if (batch2.dim() != 3) fail<RuntimeError>("batch2 must be a 3D tensor");
  if (batch2->shape[0] != batch1->shape[0] || batch2->shape[1] != batch1->shape[2])
    fail<RuntimeError>("Expected size for first two dimensions of batch2 tensor to be: [",
                       batch1->shape[0], ", ", batch1->shape[2], "] but got: [", batch2->shape[0],
                       ", ", batch2->shape[1], "].");
  check_operands("bmm", "bmm", {"batch1", "self", batch1}, {"batch2", "mat2", batch2});
  if (batch1.dtype() != batch2.dtype())
    fail<RuntimeError>("expected scalar type ", scalar_name(batch1.dtype()), " but found ",
                       scalar_name(batch2.dtype()));
  refuse_bool(batch1, "bmm");
}

// `out` starts as beta * input; torch's words where input does not broadcast.
Tensor start_sum(const Tensor& input, const Shape& shape, Scalar beta, DType dtype) {
  Tensor out = empty(shape, dtype, input.device());
  if (!can_broadcast_to(input.sizes(), shape)) {
    for (int d = 0; d < shape.rank && d < input.dim(); ++d) {
      const int to = shape.rank - 1 - d, from = input.dim() - 1 - d;
      if (input->shape[from] != 1 && input->shape[from] != shape[to])
        fail<RuntimeError>("The expanded size of the tensor (", shape[to],
                           ") must match the existing size (", input->shape[from],
                           ") at non-singleton dimension ", to, ".  Target sizes: ", shape,
                           ".  Tensor sizes: ", input.sizes());
    }
    fail<RuntimeError>(
        "expand(", input.sizes(), ", size=", shape, "): the number of sizes provided (", shape.rank,
        ") must be greater or equal to the number of dimensions in the tensor (", input.dim(), ")");
  }
  if (beta.as_double() != 0 && !out.device().is_meta()) {
    const GradMode off(false);
    copy_bits(out, input);
  }
  return out;
}

Tensor scaled(const Tensor& t, Scalar by) { return by.as_double() == 1 ? t : mul(t, by); }

// d(left x right): g x right^T and left^T x g, laid out as the operand is.
Tensor left_gradient(const Tensor& g, const Tensor& left, const Tensor& right) {
  const auto product = g.dim() == 3 ? bmm : mm;
  if (is_transposed(left)) return transposed(product(right, transposed(g)));
  return product(g, transposed(right));
}
Tensor right_gradient(const Tensor& g, const Tensor& left, const Tensor& right) {
  const auto product = g.dim() == 3 ? bmm : mm;
  if (is_transposed(right)) return transposed(product(transposed(g), left));
  return product(transposed(left), g);
}

Tensor record_product(const char* name, Tensor out, const Tensor& left, const Tensor& right) {
  if (!needs_grad(left, right)) return out;
  return record(
      name, std::move(out),
      [l = Saved(left), r = Saved(right)](Tensor g, Node& self) {
        return Gradients(self.needs_input(0) ? left_gradient(g, l.get(), r.get()) : Tensor(),
                         self.needs_input(1) ? right_gradient(g, l.get(), r.get()) : Tensor());
      },
      left, right);
}
// The gradients of the bias and of the right operand, t(weight), from one reading of g.
bool fused_gradients(const Tensor& g, const Tensor& left, const Tensor& right, Tensor& of_bias,
                     Tensor& of_right) {
  if (grad_enabled() || !is_transposed(right) || left.numel() == 0 ||
      !backend(g.device()).matmul->matmul_sums)
    return false;
  const std::int64_t columns = right->shape[1];
  Tensor of_weight = empty({columns, right->shape[0]}, g.dtype(), g.device());
  Tensor sums = empty({columns}, g.dtype(), g.device());
  if (!run_fused(&MatmulKernels::matmul_sums, transposed(g), left, sums, columns, of_weight))
    return false;
  of_right = transposed(of_weight);
  of_bias = std::move(sums);
  return true;
}
Tensor record_sum(const char* name, Tensor out, const Tensor& input, const Tensor& left,
                  const Tensor& right, Scalar beta, Scalar alpha) {
  if (!needs_grad(input, left, right)) return out;
  const bool fuses = left.dim() == 2 && may_fuse(input, left, out->shape[1], beta, alpha);
  return record(
      name, std::move(out),
      [shape = input.shape(), l = Saved(left), r = Saved(right), beta, alpha, fuses](Tensor g,
                                                                                     Node& self) {
        Tensor of_input, of_left, of_right;
        if (self.needs_input(1)) of_left = scaled(left_gradient(g, l.get(), r.get()), alpha);
        if (fuses && self.needs_input(0) && self.needs_input(2) &&
            fused_gradients(g, l.get(), r.get(), of_input, of_right))
          return Gradients(of_input, of_left, of_right);
        if (self.needs_input(0)) of_input = sum_to(scaled(g, beta), shape);
        if (self.needs_input(2)) of_right = scaled(right_gradient(g, l.get(), r.get()), alpha);
        return Gradients(of_input, of_left, of_right);
      },
      input, left, right);
}

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2) {
  if (self.dim() != 2) fail<RuntimeError>("self must be a matrix\n", describe("self", self));
  if (mat2.dim() != 2) fail<RuntimeError>("mat2 must be a matrix\n", describe("mat2", mat2));
  check_operands("mm", "mm", {"self", "self", self}, {"mat2", "mat2", mat2});
  if (self->shape[1] != mat2->shape[0]) fail_shapes(self, mat2);
  if (self.dtype() != mat2.dtype())
    fail<RuntimeError>("expected m1 and m2 to have the same dtype, but got: ", c_name(self.dtype()),
                       " != ", c_name(mat2.dtype()), "\n", describe("m1", self), "; ",
                       describe("m2", mat2), "; convert one with .to(dtype)");
  refuse_bool(self, "addmm_impl_cpu_");
  Tensor out = empty({self->shape[0], mat2->shape[1]}, self.dtype(), self.device());
  run(self, mat2, out, 1, 0);
  return record_product("MmBackward0", std::move(out), self, mat2);
}

Tensor bmm(const Tensor& batch1, const Tensor& batch2) {
  check_batches(batch1, batch2);
  Tensor out = empty({batch1->shape[0], batch1->shape[1], batch2->shape[2]}, batch1.dtype(),
                     batch1.device());
  run(batch1, batch2, out, 1, 0);
  return record_product("BmmBackward0", std::move(out), batch1, batch2);
}

static void check_vector(const Tensor& input, const Tensor& mat, const Tensor& vec,
                         std::int64_t size) {
  if (mat.dim() != 2 || vec.dim() != 1)
    fail<RuntimeError>("vector + matrix @ vector expected, got ", input.dim(), ", ", mat.dim(),
                       ", ", vec.dim());
  check_same_device("addmv", mat, "mat", vec, "vec");
  if (mat->shape[1] != vec->shape[0] || (size != 1 && size != mat->shape[0]))
    fail<RuntimeError>("size mismatch, got input (", size, "), mat (", mat->shape[0], "x",
                       mat->shape[1], "), vec (", vec->shape[0], ")");
  if (mat.dtype() != vec.dtype())
    fail<RuntimeError>("addmv input tensors must have the same dtype, but got ",
                       scalar_name(vec.dtype()), ", ", scalar_name(mat.dtype()), ", and ",
                       scalar_name(vec.dtype()));
  refuse_bool(mat, "addmv_impl_cpu");
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  check_vector(vec, self, vec, self.dim() == 2 ? self->shape[0] : 1);
  Tensor out = empty({self->shape[0]}, self.dtype(), self.device());
  run(self, vec, out, 1, 0, true);
  return record(
      "MvBackward0", std::move(out),
      [m = Saved(self), v = Saved(vec)](Tensor g, Node& self) {
        return Gradients(self.needs_input(0) ? outer(g, v.get()) : Tensor(),
                         self.needs_input(1) ? mv(t(m.get()), g) : Tensor());
      },
      self, vec);
}

Tensor dot(const Tensor& self, const Tensor& tensor) {
  if (self.dim() != 1 || tensor.dim() != 1)
    fail<RuntimeError>("1D tensors expected, but got ", self.dim(), "D and ", tensor.dim(),
                       "D tensors");
  check_same_device("dot", self, "self", tensor, "tensor");
  if (self.dtype() != tensor.dtype())
    fail<RuntimeError>("dot : expected both vectors to have same dtype, but found ",
                       scalar_name(self.dtype()), " and ", scalar_name(tensor.dtype()));
  if (self.numel() != tensor.numel())
    fail<RuntimeError>("inconsistent tensor size, expected tensor ", self.sizes(), " and src ",
                       tensor.sizes(), " to have the same number of elements, but got ",
                       self.numel(), " and ", tensor.numel(), " elements respectively");
  refuse_bool(self, "dot");
  Tensor out = empty({1, 1}, self.dtype(), self.device());
  {
    const GradMode off(false);
    run(unsqueeze(self, 0), unsqueeze(tensor, 1), out, 1, 0);
    out = view(out, Shape());
    out->base = {};
  }
  return record(
      "DotBackward0", std::move(out),
      [a = Saved(self), b = Saved(tensor)](Tensor g, Node& self) {
        return Gradients(self.needs_input(0) ? mul(g, b.get()) : Tensor(),
                         self.needs_input(1) ? mul(g, a.get()) : Tensor());
      },
      self, tensor);
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  if (self.dim() != 1)
    fail<RuntimeError>("outer: Expected 1-D argument self, but got ", self.dim(), "-D");
  if (vec2.dim() != 1)
    fail<RuntimeError>("outer: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  return mul(unsqueeze(self, 1), vec2);
}

Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, Scalar beta,
             Scalar alpha) {
  if (mat1.dim() != 2) fail<RuntimeError>("mat1 must be a matrix, got ", mat1.dim(), "-D tensor");
  if (mat2.dim() != 2) fail<RuntimeError>("mat2 must be a matrix, got ", mat2.dim(), "-D tensor");
  check_operands("addmm", "addmm", {"mat1", "mat1", mat1}, {"mat2", "mat2", mat2});
  check_operands("addmm", "addmm", {"mat1", "mat1", mat1}, {"self", "self", input});
  if (mat1.dtype() != mat2.dtype())
    fail<RuntimeError>("mat1 and mat2 must have the same dtype, but got ",
                       scalar_name(mat1.dtype()), " and ", scalar_name(mat2.dtype()), "\n",
                       describe("mat1", mat1), "; ", describe("mat2", mat2),
                       "; convert one with .to(dtype), as in x.float()");
  if (mat1->shape[1] != mat2->shape[0]) fail_shapes(mat1, mat2);
  const Shape shape{mat1->shape[0], mat2->shape[1]};
  if (may_fuse(input, mat1, shape[1], beta, alpha)) {
    Tensor out = empty(shape, mat1.dtype(), input.device());
    if (run_fused(&MatmulKernels::matmul_bias, mat1, mat2, input, shape[1], out))
      return record_sum("AddmmBackward0", std::move(out), input, mat1, mat2, beta, alpha);
  }
  Tensor out = start_sum(input, shape, beta, mat1.dtype());
  if (input.dtype() != mat2.dtype())
    fail<RuntimeError>("self and mat2 must have the same dtype, but got ",
                       scalar_name(input.dtype()), " and ", scalar_name(mat2.dtype()));
  refuse_bool(mat1, "addmm_impl_cpu_");
  run(mat1, mat2, out, alpha, beta);
  return record_sum("AddmmBackward0", std::move(out), input, mat1, mat2, beta, alpha);
}

Tensor addmv(const Tensor& input, const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha) {
  check_vector(input, mat, vec, input.dim() == 0 ? 1 : input->shape[0]);
  check_same_device("addmv", mat, "mat", input, "self");
  if (input.dtype() != vec.dtype())
    fail<RuntimeError>("addmv input tensors must have the same dtype, but got ",
                       scalar_name(input.dtype()), ", ", scalar_name(mat.dtype()), ", and ",
                       scalar_name(vec.dtype()));
  Tensor out = start_sum(input, {mat->shape[0]}, beta, mat.dtype());
  run(mat, vec, out, alpha, beta, true);
  return record(
      "AddmvBackward0", std::move(out),
      [shape = input.shape(), m = Saved(mat), v = Saved(vec), beta, alpha](Tensor g, Node& self) {
        Tensor of_input, of_mat, of_vec;
        if (self.needs_input(0)) of_input = sum_to(scaled(g, beta), shape);
        if (self.needs_input(1)) of_mat = scaled(outer(g, v.get()), alpha);
        if (self.needs_input(2)) of_vec = scaled(mv(t(m.get()), g), alpha);
        return Gradients(of_input, of_mat, of_vec);
      },
      input, mat, vec);
}

Tensor baddbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, Scalar beta,
               Scalar alpha) {
  check_batches(batch1, batch2);
  check_same_device("baddbmm", batch1, "batch1", input, "self");
  if (input.dtype() != batch1.dtype())
    fail<RuntimeError>("Input dtypes must be the same, got: input ", c_name(input.dtype()),
                       ", batch1: ", c_name(batch1.dtype()), ", batch2: ", c_name(batch2.dtype()));
  Tensor out = start_sum(input, {batch1->shape[0], batch1->shape[1], batch2->shape[2]}, beta,
                         batch1.dtype());
  run(batch1, batch2, out, alpha, beta);
  return record_sum("BaddbmmBackward0", std::move(out), input, batch1, batch2, beta, alpha);
}

// The sum over the batch is one product: the batch joins the inner dimension.
Tensor addbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, Scalar beta,
              Scalar alpha) {
  check_batches(batch1, batch2);
  const std::int64_t inner = checked_mul(batch1->shape[0], batch1->shape[2]);
  return addmm(input, reshape(permute(batch1, {1, 0, 2}), {batch1->shape[1], inner}),
               reshape(batch2, {inner, batch2->shape[2]}), beta, alpha);
}

Tensor addr(const Tensor& input, const Tensor& vec1, const Tensor& vec2, Scalar beta,
            Scalar alpha) {
  if (vec1.dim() != 1 || vec2.dim() != 1)
    fail<RuntimeError>("addr: Expected 1-D argument vec1 and vec2, but got ", vec1.dim(), "-D and ",
                       vec2.dim(), "-D");
  const Tensor product = outer(vec1, vec2);
  for (const auto& [name, number] : {std::pair("beta", beta), std::pair("alpha", alpha)})
    if (number.is_floating() && is_integral(input.dtype()) && is_integral(product.dtype()))
      fail<RuntimeError>("For integral input tensors, argument ", name,
                         " must not be a floating point number.");
  if (input.dtype() == DType::boolean && product.dtype() == DType::boolean) {
    const auto chosen = [](const Tensor& t, Scalar by) {
      return by.as_double() != 0 ? t : zeros_like(t);
    };
    return apply<LogicalOr>(chosen(input, beta), chosen(product, alpha));
  }
  if (beta.as_double() == 0) {  // then input is not read, and a NaN in it does not spread
    broadcast(input.sizes(), product.sizes());
    return add(zeros_like(input), scaled(product, alpha));
  }
  return add(scaled(input, beta), scaled(product, alpha));
}

}  // namespace rushlight
