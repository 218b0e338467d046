// Matrix products as torch's functions and methods.
#include "ops/linalg/matmul.h"

#include "bindings/autocast.h"
#include "bindings/forms.h"
#include "bindings/linalg.h"
#include "bindings/module.h"
#include "bindings/signature.h"
#include "ops/linalg/products.h"
#include "ops/pointwise.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// The result of compute(), or `out` filled with it.
template <class F>
Tensor written(const char* name, const Out& out, F compute) {
  if (!out) return compute();
  if (needs_grad(*out))
    fail<RuntimeError>(name,
                       "(): functions with out=... arguments don't support automatic "
                       "differentiation, but one of the arguments requires grad.");
  const Tensor made = compute();
  if (made.requires_grad() && grad_enabled())
    fail<RuntimeError>(name,
                       "(): functions with out=... arguments don't support automatic "
                       "differentiation, but one of the arguments requires grad.");
  check_exact(out, made.dtype());
  check_no_internal_overlap(*out, name);
  check_same_device(name, made, "input", *out, "out");
  const GradMode off(false);
  resize_output(*out, made.shape());
  copy_bits(*out, made);
  finish_inplace(*out);
  return *out;
}

Tensor mm_out(const Tensor& a, const Tensor& b, Out out) {
  return written("mm", out, [&] { return mm(a, b); });
}
Tensor bmm_out(const Tensor& a, const Tensor& b, Out out) {
  return written("bmm", out, [&] { return bmm(a, b); });
}
Tensor mv_out(const Tensor& a, const Tensor& b, Out out) {
  return written("mv", out, [&] { return mv(a, b); });
}
Tensor dot_out(const Tensor& a, const Tensor& b, Out out) {
  return written("dot", out, [&] { return dot(a, b); });
}
Tensor outer_out(const Tensor& a, const Tensor& b, Out out) {
  return written("outer", out, [&] { return outer(a, b); });
}
Tensor matmul_out(const Tensor& a, const Tensor& b, Out out) {
  return written("matmul", out, [&] { return matmul(a, b); });
}

template <auto F>
Tensor sum_out(const Tensor& input, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha,
               Out out) {
  return written("addmm", out, [&] { return F(input, a, b, beta, alpha); });
}

Tensor linear_op(const Tensor& input, const Tensor& weight, std::optional<Tensor> bias, Out out) {
  return written("linear", out, [&] { return linear(input, weight, bias); });
}
Tensor bilinear_op(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                   std::optional<Tensor> bias) {
  return bilinear(input1, input2, weight, bias);
}

}  // namespace

void bind_matmul(py::module_& m) {
  op<casting<&mm_out, with_out(kLower)>>(m, "mm(input, mat2, *, out=None)", As::both,
                                         R"(The product of two matrices; no broadcasting.

Shape: (m, k) and (k, n) give (m, n).

>>> torch.mm(torch.ones(2, 3), torch.ones(3, 1))
tensor([[3.],
        [3.]]))");
  op<casting<&bmm_out, with_out(kLower)>>(m, "bmm(input, mat2, *, out=None)", As::both,
                                          R"(The products of two batches of matrices.

Shape: (b, m, k) and (b, k, n) give (b, m, n).

>>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 1)).flatten()
tensor([3., 3.]))");
  op<casting<&mv_out, with_out(kLowerOnCuda)>>(m, "mv(input, vec, *, out=None)", As::both,
                                               R"(The product of a matrix and a vector.

>>> torch.mv(torch.ones(2, 3), torch.ones(3))
tensor([3., 3.]))");
  op<&dot_out>(m, "dot(input, tensor, *, out=None)", As::both,
               R"(The sum of products of two vectors of one length.

>>> torch.dot(torch.tensor([2, 3]), torch.tensor([2, 1]))
tensor(7))");
  op<&outer_out>(m, "outer(input, vec2, *, out=None)", As::both,
                 R"(All products of the elements of two vectors.

>>> torch.outer(torch.tensor([1., 2.]), torch.tensor([1., 10.]))
tensor([[ 1., 10.],
        [ 2., 20.]]))");
  publish_alias(m, As::both, "outer", "ger");
  op<casting<&matmul_out, with_out(kLower)>>(m, "matmul(input, other, *, out=None)", As::both,
                                             R"(The matrix product of two tensors; `x @ y`.

Two vectors give their dot product, a matrix and a vector a vector, two matrices a matrix; with more
dimensions the last two are multiplied and the others broadcast.

Raises:
    RuntimeError: if the inner sizes, dtypes or devices differ.

>>> torch.matmul(torch.ones(4, 2, 3), torch.ones(3)).shape
torch.Size([4, 2]))");
  op<casting<&sum_out<&addmm>, with_out(kLower)>>(
      m, "addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None)", As::both,
      R"(beta * input + alpha * (mat1 @ mat2); input broadcasts.

>>> torch.addmm(torch.tensor([1.]), torch.ones(1, 3), torch.ones(3, 1))
tensor([[4.]]))");
  op<casting<&sum_out<&addmv>, with_out(kLowerOnCuda)>>(
      m, "addmv(input, mat, vec, *, beta=1, alpha=1, out=None)", As::both,
      R"(beta * input + alpha * (mat @ vec).

>>> torch.addmv(torch.tensor([1.]), torch.ones(1, 3), torch.ones(3))
tensor([4.]))");
  op<casting<&sum_out<&baddbmm>, with_out(kLower)>>(
      m, "baddbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None)", As::both,
      R"(beta * input + alpha * bmm(batch1, batch2).

>>> torch.baddbmm(torch.ones(1), torch.ones(1, 1, 3), torch.ones(1, 3, 1))
tensor([[[4.]]]))");
  op<casting<&sum_out<&addbmm>, with_out(kLower)>>(
      m, "addbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None)", As::both,
      R"(beta * input + alpha * the sum of bmm(batch1, batch2) over the batch.

>>> torch.addbmm(torch.ones(1), torch.ones(2, 1, 3), torch.ones(2, 3, 1))
tensor([[7.]]))");
  op<casting<&sum_out<&addr>, with_out(kLowerOnCuda)>>(
      m, "addr(input, vec1, vec2, *, beta=1, alpha=1, out=None)", As::both,
      R"(beta * input + alpha * outer(vec1, vec2).

>>> torch.addr(torch.zeros(1, 2), torch.tensor([2.]), torch.tensor([1., 3.]))
tensor([[2., 6.]]))");
  op_in_place<&addmm>(m, "addmm_(self, mat1, mat2, *, beta=1, alpha=1)");
  op_in_place<&addmv>(m, "addmv_(self, mat, vec, *, beta=1, alpha=1)");
  op_in_place<&baddbmm>(m, "baddbmm_(self, batch1, batch2, *, beta=1, alpha=1)");
  op_in_place<&addbmm>(m, "addbmm_(self, batch1, batch2, *, beta=1, alpha=1)");
  op_in_place<&addr>(m, "addr_(self, vec1, vec2, *, beta=1, alpha=1)");
  op<casting<&linear_op, with_out(kLower)>>(m, "linear(input, weight, bias=None, *, out=None)",
                                            As::function,
                                            R"(input @ weight.T + bias

Shape: input (*, in), weight (out, in), bias (out) give (*, out).

Raises:
    RuntimeError: if sizes, dtypes or devices differ; both sides are named.

>>> torch.nn.functional.linear(torch.ones(1, 2), torch.ones(3, 2), torch.zeros(3))
tensor([[2., 2., 2.]]))");
  op<&bilinear_op>(m, "bilinear(input1, input2, weight, bias=None)", As::function,
                   R"(input1 @ weight[o] @ input2 + bias[o], for each row and each o.

Shape: input1 (*, in1), input2 (*, in2), weight (out, in1, in2), bias (out) give (*, out).

>>> torch.nn.functional.bilinear(torch.ones(1, 2), torch.ones(1, 3), torch.ones(1, 2, 3))
tensor([[6.]]))");
  bind_linalg(m);
}

}  // namespace rushlight::python
