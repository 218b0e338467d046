// Matrix products as torch's functions and methods.
#include "ops/linalg/matmul.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "linalg.h"
#include "ops/linalg/products.h"
#include "ops/pointwise/pointwise.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

Tensor bilinear_op(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                   std::optional<Tensor> bias) {
  return bilinear(input1, input2, weight, bias);
}

}  // namespace

void bind_matmul(py::module_& m) {
  op<&rushlight::mm>(m, "mm(input, mat2, *, out=None)", {.autocast = kLower, .exact = true},
                     R"(The product of two matrices; no broadcasting.

Shape: (m, k) and (k, n) give (m, n).

>>> torch.mm(torch.ones(2, 3), torch.ones(3, 1))
tensor([[3.],
        [3.]]))");
  op<&rushlight::bmm>(m, "bmm(input, mat2, *, out=None)", {.autocast = kLower, .exact = true},
                      R"(The products of two batches of matrices.

Shape: (b, m, k) and (b, k, n) give (b, m, n).

>>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 1)).flatten()
tensor([3., 3.]))");
  op<&rushlight::mv>(m, "mv(input, vec, *, out=None)", {.autocast = kLowerOnCuda, .exact = true},
                     R"(The product of a matrix and a vector.

>>> torch.mv(torch.ones(2, 3), torch.ones(3))
tensor([3., 3.]))");
  op<&rushlight::dot>(m, "dot(input, tensor, *, out=None)", {.exact = true},
                      R"(The sum of products of two vectors of one length.

>>> torch.dot(torch.tensor([2, 3]), torch.tensor([2, 1]))
tensor(7))");
  op<&rushlight::outer>(m, "outer(input, vec2, *, out=None)", {.exact = true},
                        R"(All products of the elements of two vectors.

>>> torch.outer(torch.tensor([1., 2.]), torch.tensor([1., 10.]))
tensor([[ 1., 10.],
        [ 2., 20.]]))");
  publish_alias(m, As::both, "outer", "ger");
  op<&rushlight::matmul>(m, "matmul(input, other, *, out=None)",
                         {.autocast = kLower, .exact = true},
                         R"(The matrix product of two tensors; `x @ y`.

Two vectors give their dot product, a matrix and a vector a vector, two matrices a matrix; with more
dimensions the last two are multiplied and the others broadcast.

Raises:
    RuntimeError: if the inner sizes, dtypes or devices differ.

>>> torch.matmul(torch.ones(4, 2, 3), torch.ones(3)).shape
torch.Size([4, 2]))");
  op<&addmm>(m, "addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None)",
             {.autocast = kLower, .in_place = As::method, .exact = true},
             R"(beta * input + alpha * (mat1 @ mat2); input broadcasts.

>>> torch.addmm(torch.tensor([1.]), torch.ones(1, 3), torch.ones(3, 1))
tensor([[4.]]))");
  op<&addmv>(m, "addmv(input, mat, vec, *, beta=1, alpha=1, out=None)",
             {.autocast = kLowerOnCuda, .in_place = As::both, .exact = true},
             R"(beta * input + alpha * (mat @ vec).

>>> torch.addmv(torch.tensor([1.]), torch.ones(1, 3), torch.ones(3))
tensor([4.]))");
  op<&baddbmm>(m, "baddbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None)",
               {.autocast = kLower, .in_place = As::method, .exact = true},
               R"(beta * input + alpha * bmm(batch1, batch2).

>>> torch.baddbmm(torch.ones(1), torch.ones(1, 1, 3), torch.ones(1, 3, 1))
tensor([[[4.]]]))");
  op<&addbmm>(m, "addbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None)",
              {.autocast = kLower, .in_place = As::method, .exact = true},
              R"(beta * input + alpha * the sum of bmm(batch1, batch2) over the batch.

>>> torch.addbmm(torch.ones(1), torch.ones(2, 1, 3), torch.ones(2, 3, 1))
tensor([[7.]]))");
  op<&addr>(m, "addr(input, vec1, vec2, *, beta=1, alpha=1, out=None)",
            {.autocast = kLowerOnCuda, .in_place = As::method, .exact = true},
            R"(beta * input + alpha * outer(vec1, vec2).

>>> torch.addr(torch.zeros(1, 2), torch.tensor([2.]), torch.tensor([1., 3.]))
tensor([[2., 6.]]))");
  op<&linear>(m, "linear(input, weight, bias=None, *, out=None)",
              {.as = As::functional, .autocast = kLower, .exact = true},
              R"(input @ weight.T + bias

Shape: input (*, in), weight (out, in), bias (out) give (*, out).

Raises:
    RuntimeError: if sizes, dtypes or devices differ; both sides are named.

>>> torch.nn.functional.linear(torch.ones(1, 2), torch.ones(3, 2), torch.zeros(3))
tensor([[2., 2., 2.]]))");
  op<&bilinear_op>(m, "bilinear(input1, input2, weight, bias=None)", As::function | As::functional,
                   R"(input1 @ weight[o] @ input2 + bias[o], for each row and each o.

Shape: input1 (*, in1), input2 (*, in2), weight (out, in1, in2), bias (out) give (*, out).

>>> torch.nn.functional.bilinear(torch.ones(1, 2), torch.ones(1, 3), torch.ones(1, 2, 3))
tensor([[6.]]))");
  bind_linalg(m);
}

}  // namespace rushlight::python
