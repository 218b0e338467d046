// Matrix products: checks in torch's words, and one call of the kernel. Gradients: products.cpp.
#include "ops/linalg/matmul.h"

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/operands.h"
#include "ops/linalg/products.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight {
namespace {

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

constexpr double kFewProducts = 1 << 16;  // a bias costs the CPU less than to ask about it

// Whether beta * input + alpha * left right, of so many columns, is a product with a bias.
bool is_bias(const Tensor& input, const Tensor& left, std::int64_t columns, Scalar beta,
             Scalar alpha) {
  return input.dim() == 1 && input.numel() == columns && input.dtype() == left.dtype() &&
         is_floating(input.dtype()) && beta.as_double() == 1 && alpha.as_double() == 1 &&
         !input.device().is_meta() && backend(input.device()).matmul->matmul_bias &&
         (input.device().is_cuda() || double(left.numel()) * double(columns) >= kFewProducts);
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
  run_product(self, mat2, out, 1, 0);
  return record_product("MmBackward0", std::move(out), self, mat2);
}

Tensor bmm(const Tensor& batch1, const Tensor& batch2) {
  check_batches(batch1, batch2);
  Tensor out = empty({batch1->shape[0], batch1->shape[1], batch2->shape[2]}, batch1.dtype(),
                     batch1.device());
  run_product(batch1, batch2, out, 1, 0);
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
  run_product(self, vec, out, 1, 0, true);
  return record(
      "MvBackward0", std::move(out),
      showing("self vec",
              both(
                  [](Tensor g, Node& self, const Saved& m, const Saved& v) {
                    return Gradients(self.needs_input(0) ? outer(g, conj(v.get())) : Tensor(),
                                     self.needs_input(1) ? mv(t(conj(m.get())), g) : Tensor());
                  },
                  [](Rows rows, Node& self, const Saved& m, const Saved& v) {
                    return Gradients(
                        self.needs_input(0) ? mul(unsqueeze(rows.g, 2), conj(v.get())) : Tensor(),
                        self.needs_input(1) ? mm(rows.g, conj(m.get())) : Tensor());
                  }),
              Saved(self), Saved(vec)),
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
  Tensor out;
  {
    const GradMode off(false);
    if (is_complex(self.dtype())) {
      out = sum(mul(self, tensor), {}, false);
    } else {
      out = empty({1, 1}, self.dtype(), self.device());
      run_product(unsqueeze(self, 0), unsqueeze(tensor, 1), out, 1, 0);
      out = view(out, Shape());
      out->base = {};
    }
  }
  return record(
      "DotBackward0", std::move(out),
      showing("self tensor",
              both(
                  [](Tensor g, Node& self, const Saved& a, const Saved& b) {
                    return Gradients(self.needs_input(0) ? mul(g, conj(b.get())) : Tensor(),
                                     self.needs_input(1) ? mul(g, conj(a.get())) : Tensor());
                  },
                  [](Rows rows, Node& self, const Saved& a, const Saved& b) {
                    const Tensor g = unsqueeze(rows.g, 1);
                    return Gradients(self.needs_input(0) ? mul(g, conj(b.get())) : Tensor(),
                                     self.needs_input(1) ? mul(g, conj(a.get())) : Tensor());
                  }),
              Saved(self), Saved(tensor)),
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
  if (is_bias(input, mat1, shape[1], beta, alpha)) {
    Tensor out = empty(shape, mat1.dtype(), input.device());
    if (run_with_bias(mat1, mat2, input, out))
      return record_sum("AddmmBackward0", std::move(out), input, mat1, mat2, beta, alpha);
  }
  Tensor out = start_sum(input, shape, beta, mat1.dtype());
  if (input.dtype() != mat2.dtype())
    fail<RuntimeError>("self and mat2 must have the same dtype, but got ",
                       scalar_name(input.dtype()), " and ", scalar_name(mat2.dtype()));
  refuse_bool(mat1, "addmm_impl_cpu_");
  run_product(mat1, mat2, out, alpha, beta);
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
  run_product(mat, vec, out, alpha, beta, true);
  return record(
      "AddmvBackward0", std::move(out),
      [shape = input.shape(), m = Saved(mat), v = Saved(vec), beta, alpha](Tensor g, Node& self) {
        Tensor of_input, of_mat, of_vec;
        if (self.needs_input(0)) of_input = sum_to(scaled(g, beta), shape);
        if (self.needs_input(1)) of_mat = scaled(outer(g, conj(v.get())), alpha);
        if (self.needs_input(2)) of_vec = scaled(mv(t(conj(m.get())), g), alpha);
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
  run_product(batch1, batch2, out, alpha, beta);
  return record_sum("BaddbmmBackward0", std::move(out), input, batch1, batch2, beta, alpha);
}

// The sum over the batch is one product: the batch is merged into the inner dimension.
Tensor addbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, Scalar beta,
              Scalar alpha) {
  check_batches(batch1, batch2);
  const std::int64_t inner = checked_mul(batch1->shape[0], batch1->shape[2]);
  const Tensor left = reshape(permute(batch1, {1, 0, 2}), {batch1->shape[1], inner});
  const Tensor right = reshape(batch2, {inner, batch2->shape[2]});
  return named(addmm(input, left, right, beta, alpha), "AddbmmBackward0");
}

Tensor addr(const Tensor& input, const Tensor& vec1, const Tensor& vec2, Scalar beta,
            Scalar alpha) {
  if (vec1.dim() != 1 || vec2.dim() != 1)
    fail<RuntimeError>("addr: Expected 1-D argument vec1 and vec2, but got ", vec1.dim(), "-D and ",
                       vec2.dim(), "-D");
  const DType of_product = promote_types(vec1.dtype(), vec2.dtype());
  const DType common = promote_types(input.dtype(), of_product);
  for (const auto& [name, number] : {std::pair("beta", beta), std::pair("alpha", alpha)}) {
    if (number.is_floating() && is_integral(common))
      fail<RuntimeError>("For integral input tensors, argument ", name,
                         " must not be a floating point number.");
    if (number.kind == Scalar::Kind::boolean && common != DType::boolean)
      fail<RuntimeError>("Boolean ", name, " only supported for Boolean results.\naddr(): pass ",
                         "a number: the result is ", common);
    check_fits("addr", name, number, common);
  }
  if (common == DType::boolean) {
    const auto chosen = [](const Tensor& t, Scalar by) {
      return by.as_double() != 0 ? t : zeros_like(t);
    };
    return apply<LogicalOr>(chosen(input, beta), chosen(outer(vec1, vec2), alpha));
  }
  // With 0, input is not read: a NaN in it does not spread.
  const Tensor first = beta.as_double() == 0 ? zeros_like(input) : scaled(input, beta);
  if (is_reduced(common))  // each is rounded
    return named(add(first, scaled(outer(vec1, vec2), alpha)), "AddrBackward0");
  const Tensor column = unsqueeze(vec1, 1);
  const Input inputs[] = {as_input(first), as_input(vec2), as_input(column)};
  return named(pointwise(pointwise_op<Addcmul>(), inputs, &alpha), "AddrBackward0");
}

std::string matmul_library() { return backend(kCpu).matmul->library(); }

}  // namespace rushlight
