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

// dims: their number, or those of both factors as two lists; a tensor is one of these.
Tensor tensordot_op(const Tensor& a, const Tensor& b, py::handle dims) {
  auto given = py::reinterpret_borrow<py::object>(dims);
  if (const Tensor* t = as_tensor(dims.ptr()))
    given = dims.attr(t->numel() == 1 ? "item" : "tolist")();
  if (PyLong_Check(given.ptr())) {
    int overflow;
    const std::int64_t n = PyLong_AsLongLongAndOverflow(given.ptr(), &overflow);
    return tensordot(a, b, overflow ? overflow * std::numeric_limits<std::int64_t>::max() : n);
  }
  if (!is_list(given.ptr()) || PySequence_Fast_GET_SIZE(given.ptr()) != 2)
    fail<RuntimeError>(
        "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
        "containing two lists, but got dims=",
        std::string(py::str(given)));
  const py::tuple pair(given);
  rushlight::Dims lists[2];
  for (std::size_t i = 0; i < 2; ++i)
    if (!Argument<rushlight::Dims>::read(pair[i].ptr(), lists[i]))
      fail<TypeError>(
          "tensordot(): argument 'dims' must be int or two lists of ints, not a list of ",
          Py_TYPE(pair[i].ptr())->tp_name);
  return tensordot(a, b, lists[0], lists[1]);
}

Tensor times(const char* op, const Tensor& t, const AnyNumber& by) {
  return by.complex ? mul(t, number_as(op, by.complex, t.dtype())) : mul(t, by.scalar);
}
bool is_zero(const AnyNumber& n) {
  const auto none = [](const Tensor& t) { return item(t).as_double() == 0; };
  return n.complex ? none(real(n.complex)) && none(imag(n.complex)) : n.scalar.as_double() == 0;
}
// With a complex number the product is computed first: the kernels take real ones.
constexpr char kAddmm[] = "addmm", kAddmv[] = "addmv", kBaddbmm[] = "baddbmm", kAddbmm[] = "addbmm",
               kAddr[] = "addr";
template <auto Op, const char* Name>
Tensor with_any_numbers(const Tensor& input, const Tensor& left, const Tensor& right,
                        AnyNumber beta, AnyNumber alpha) {
  if (!beta.complex && !alpha.complex) return Op(input, left, right, beta.scalar, alpha.scalar);
  const Tensor product = times(Name, Op(input, left, right, 0, 1), alpha);
  return is_zero(beta) ? product : add(product, times(Name, input, beta));
}

}  // namespace

void bind_matmul(py::module_& m) {
  op<&rushlight::mm>(m, "mm(input, mat2, *, out=None)",
                     with_complex({.autocast = kLower, .exact = true}),
                     R"(The product of two matrices; no broadcasting.

Args:
    mat2: the second factor.

Shape:
    (m, k) and (k, n) give (m, n).

>>> torch.mm(torch.ones(2, 3), torch.ones(3, 1))
tensor([[3.],
        [3.]]))");
  op<&tensordot_op>(m, "tensordot(a, b, dims=2, out=None)",
                    with_complex({.as = As::function, .exact = true}),
                    R"(The sum of products over several dimensions of both.

Args:
    a: the first factor.
    b: the second factor.
    dims: how many of a's last and b's first dimensions are summed over, or two lists of dimensions.

Shape:
    the other dimensions of a, then those of b.

>>> torch.tensordot(torch.ones(2, 3), torch.ones(3, 4), dims=1).shape
torch.Size([2, 4]))");
  op<&rushlight::bmm>(m, "bmm(input, mat2, *, out=None)",
                      with_complex({.autocast = kLower, .exact = true}),
                      R"(The products of two batches of matrices.

Args:
    mat2: the second factor.

Shape:
    (b, m, k) and (b, k, n) give (b, m, n).

>>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 1)).flatten()
tensor([3., 3.]))");
  op<&rushlight::grouped_mm>(m, "grouped_mm(mat_a, mat_b, *, offs=None, bias=None, out_dtype=None)",
                             {.as = As::functional, .waits = true},
                             R"(One product for each group, as layers of experts need them.

Args:
    mat_a: the first factor: of 3 dimensions, a matrix for each group; of 2, the rows of all groups.
    mat_b: the second factor: of 3 dimensions, a matrix for each group; of 2, the columns of all
        groups. Where both have 2, the groups are of mat_a's columns and mat_b's rows.
    offs: where the groups end, in int32; None where both factors have 3 dimensions. What comes
        after the last group is zeros.
    bias: None.
    out_dtype: mat_a's dtype.

Shape:
    (n, k), (g, k, m), (g) give (n, m); (g, n, k), (k, m), (g) give (n, m); (n, k), (k, m), (g)
    give (g, n, m); (g, n, k), (g, k, m) give (g, n, m).

>>> ends = torch.tensor([1, 3], dtype=torch.int32)
>>> experts = torch.stack((torch.ones(4, 4), 2 * torch.ones(4, 4)))
>>> torch.nn.functional.grouped_mm(torch.ones(3, 4), experts, offs=ends)[:, 0]
tensor([4., 8., 8.]))");
  op<&rushlight::mv>(m, "mv(input, vec, *, out=None)",
                     with_complex({.autocast = kLowerOnCuda, .exact = true}),
                     R"(The product of a matrix and a vector.

Args:
    vec: the vector.

Shape:
    (n, m) and (m) give (n).

>>> torch.mv(torch.ones(2, 3), torch.ones(3))
tensor([3., 3.]))");
  op<&rushlight::dot>(m, "dot(input, tensor, *, out=None)", with_complex({.exact = true}),
                      R"(The sum of products of two vectors of one length.

Args:
    tensor: the second vector.

Shape:
    (n) and (n) give ().

>>> torch.dot(torch.tensor([2, 3]), torch.tensor([2, 1]))
tensor(7))");
  op<&rushlight::outer>(m, "outer(input, vec2, *, out=None)", with_complex(As::both),
                        R"(The outer product of two vectors: out[i][j] = input[i] * vec2[j].

Args:
    vec2: the second vector.

Shape:
    (n) and (m) give (n, m).

>>> torch.outer(torch.tensor([1., 2.]), torch.tensor([1., 10.]))
tensor([[ 1., 10.],
        [ 2., 20.]]))");
  publish_alias(m, As::both, "outer", "ger");
  op<&rushlight::matmul>(m, "matmul(input, other, *, out=None)",
                         with_complex({.autocast = kLower, .exact = true}),
                         R"(The matrix product of two tensors; `x @ y`.

Two vectors give their dot product, a matrix and a vector a vector, two matrices a matrix; with more
dimensions the last two are multiplied and the others broadcast.

Args:
    other: the second factor.

Shape:
    (*, n, k) and (*, k, m) give (*, n, m); the * broadcast.

Raises:
    RuntimeError: if the inner sizes, dtypes or devices differ.

>>> torch.matmul(torch.ones(4, 2, 3), torch.ones(3)).shape
torch.Size([4, 2]))");
  op<&with_any_numbers<&rushlight::addmm, kAddmm>>(
      m, "addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None)",
      with_complex({.autocast = kLower, .in_place = As::method, .exact = true}),
      R"(beta * input + alpha * (mat1 @ mat2); input broadcasts.

Args:
    input: the term; it broadcasts to the shape of the product.
    beta: the factor of input; with 0 input is not read.
    alpha: the factor of the product.
    mat1: the first factor.
    mat2: the second factor.

Shape:
    mat1 (n, k) and mat2 (k, m) give (n, m).

>>> torch.addmm(torch.tensor([1.]), torch.ones(1, 3), torch.ones(3, 1))
tensor([[4.]]))");
  op<&with_any_numbers<&rushlight::addmv, kAddmv>>(
      m, "addmv(input, mat, vec, *, beta=1, alpha=1, out=None)",
      with_complex({.autocast = kLowerOnCuda, .in_place = As::both, .exact = true}),
      R"(beta * input + alpha * (mat @ vec).

Args:
    input: the term; it broadcasts to the shape of the product.
    beta: the factor of input; with 0 input is not read.
    alpha: the factor of the product.
    mat: the matrix.
    vec: the vector.

Shape:
    mat (n, m) and vec (m) give (n).

>>> torch.addmv(torch.tensor([1.]), torch.ones(1, 3), torch.ones(3))
tensor([4.]))");
  op<&with_any_numbers<&rushlight::baddbmm, kBaddbmm>>(
      m, "baddbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None)",
      with_complex({.autocast = kLower, .in_place = As::method, .exact = true}),
      R"(beta * input + alpha * bmm(batch1, batch2).

Args:
    input: the term; it broadcasts to the shape of the product.
    beta: the factor of input; with 0 input is not read.
    alpha: the factor of the product.
    batch1: the first factors.
    batch2: the second factors.

Shape:
    batch1 (b, n, k) and batch2 (b, k, m) give (b, n, m).

>>> torch.baddbmm(torch.ones(1), torch.ones(1, 1, 3), torch.ones(1, 3, 1))
tensor([[[4.]]]))");
  op<&with_any_numbers<&rushlight::addbmm, kAddbmm>>(
      m, "addbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None)",
      with_complex({.autocast = kLower, .in_place = As::method, .exact = true}),
      R"(beta * input + alpha * the sum of bmm(batch1, batch2) over the batch.

Args:
    input: the term; it broadcasts to the shape of the product.
    beta: the factor of input; with 0 input is not read.
    alpha: the factor of the product.
    batch1: the first factors.
    batch2: the second factors.

Shape:
    batch1 (b, n, k) and batch2 (b, k, m) give (n, m).

>>> torch.addbmm(torch.ones(1), torch.ones(2, 1, 3), torch.ones(2, 3, 1))
tensor([[7.]]))");
  op<&with_any_numbers<&rushlight::addr, kAddr>>(
      m, "addr(input, vec1, vec2, *, beta=1, alpha=1, out=None)",
      with_complex({.autocast = kLowerOnCuda, .in_place = As::method}),
      R"(beta * input + alpha * outer(vec1, vec2).

Args:
    input: the term; it broadcasts to the shape of the product.
    beta: the factor of input; with 0 input is not read.
    alpha: the factor of the product.
    vec1: the first vector.
    vec2: the second vector.

Shape:
    vec1 (n) and vec2 (m) give (n, m).

>>> torch.addr(torch.zeros(1, 2), torch.tensor([2.]), torch.tensor([1., 3.]))
tensor([[2., 6.]]))");
  op<&linear>(m, "linear(input, weight, bias=None, *, out=None)",
              with_complex({.as = As::functional, .autocast = kLower, .exact = true}),
              R"(input @ weight.T + bias

Args:
    weight: the matrix of weights.
    bias: what is added to each row; None for nothing.

Shape:
    input (*, in), weight (out, in), bias (out) give (*, out).

Raises:
    RuntimeError: if sizes, dtypes or devices differ; both sides are named.

>>> torch.nn.functional.linear(torch.ones(1, 2), torch.ones(3, 2), torch.zeros(3))
tensor([[2., 2., 2.]]))");
  op<&bilinear_op>(m, "bilinear(input1, input2, weight, bias=None)",
                   with_complex(As::function | As::functional),
                   R"(input1 @ weight[o] @ input2 + bias[o], for each row and each output feature o.

Args:
    input1: the first input.
    input2: the second input.
    weight: a matrix for each output feature.
    bias: what is added to each row; None for nothing.

Shape:
    input1 (*, in1), input2 (*, in2), weight (out, in1, in2), bias (out) give (*, out).

>>> torch.nn.functional.bilinear(torch.ones(1, 2), torch.ones(1, 3), torch.ones(1, 2, 3))
tensor([[6.]]))");
  bind_linalg(m);
  op<&kron>(m, "kron(input, other, *, out=None)", with_complex(As::both),
            R"(The Kronecker product: the blocks input[i, j] * other.

Args:
    other: the second factor.

Shape:
    input (m, n), other (p, q) give (m p, n q); a missing dimension has size 1.

>>> torch.kron(torch.eye(2), torch.ones(1, 2))
tensor([[1., 1., 0., 0.],
        [0., 0., 1., 1.]]))");
}

}  // namespace rushlight::python
