// Reductions as functions and methods.
#include "ops/reduce/reduce.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/linalg/linalg.h"
#include "ops/ops.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/covariance.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Dims = std::optional<Shape>;
using Dim = std::optional<std::int64_t>;

Sizes of(const Dims& d) { return d ? d->view() : Sizes(); }

Tensor prod_of_all(const Tensor& x, OptionalDtype dtype) { return prod(x, dtype); }
Tensor prod_along(const Tensor& x, std::int64_t dim, bool keepdim, OptionalDtype dtype) {
  return prod(x, dim, keepdim, dtype);
}
Tensor logsumexp_along(const Tensor& x, Shape dim, bool keepdim) {
  return logsumexp(x, dim.view(), keepdim);
}
// With dim=() nothing is reduced, where other reductions take all dimensions: the elements
// themselves, as bools.
template <Tensor (*F)(const Tensor&, Sizes, bool)>
Tensor any_or_all(const Tensor& x, Dims dim, bool keepdim) {
  const bool alone = dim && dim->rank == 0;
  return alone ? F(unsqueeze(x, -1), Shape{-1}.view(), false) : F(x, of(dim), keepdim);
}
Tensor count_nonzero_along(const Tensor& x, Shape dim) { return count_nonzero(x, dim.view()); }
using Whole = Tensor (*)(const Tensor&);
using ExtremesAlong = TensorPair (*)(const Tensor&, std::int64_t, bool);
using Reduce = Tensor (*)(const Tensor&, Sizes, bool, OptionalDtype);
template <class Op>
Tensor elementwise(const Tensor& x, const Tensor& other) {
  return apply<Op>(x, other);
}

// torch has `unbiased` beside `correction`: three signatures of each.
using Correction = std::optional<double>;
using Moment = Tensor (*)(const Tensor&, Sizes, double, bool);
using Moments = TensorPair (*)(const Tensor&, Sizes, double, bool);
template <Moment F>
Tensor by_correction(const Tensor& x, Sizes dim, Correction correction, bool keepdim) {
  return F(x, dim, correction.value_or(1), keepdim);
}
template <Moment F>
Tensor by_unbiased(const Tensor& x, Sizes dim, bool unbiased, bool keepdim) {
  return F(x, dim, unbiased, keepdim);
}
template <Moment F>
Tensor of_all(const Tensor& x, bool unbiased) {
  return F(x, {}, unbiased, false);
}
template <Moments F>
TensorPair pair_by_correction(const Tensor& x, Sizes dim, Correction correction, bool keepdim) {
  return F(x, dim, correction.value_or(1), keepdim);
}
template <Moments F>
TensorPair pair_by_unbiased(const Tensor& x, Sizes dim, bool unbiased, bool keepdim) {
  return F(x, dim, unbiased, keepdim);
}
template <Moments F>
TensorPair pair_of_all(const Tensor& x, bool unbiased) {
  return F(x, {}, unbiased, false);
}

// p is a number, 'fro', or None (the same as 2).
Tensor norm_number(const Tensor& x, std::optional<double> p, Sizes dim, bool keepdim,
                   OptionalDtype dtype) {
  return vector_norm(x, p.value_or(2), dim, keepdim, dtype);
}
Tensor norm_named(const Tensor& x, std::string_view p, Dims dim, bool keepdim,
                  OptionalDtype dtype) {
  if (p == "nuc") return nuclear_norm(dtype ? to(x, *dtype) : x, of(dim), keepdim);
  if (p != "fro")
    fail<RuntimeError>("norm(): p must be a number, inf, -inf, 'fro' or 'nuc', not ", p);
  if (dim && dim->rank > 2)
    fail<RuntimeError>("linalg.matrix_norm: dim must be a 2-tuple. Got ", dim->view());
  return vector_norm(x, 2, of(dim), keepdim, dtype);
}

template <Moment F>
void bind_moment(py::module_& m, const std::string& name, const char* doc) {
  overloads<&by_unbiased<F>, &by_correction<F>, &of_all<F>>(
      m,
      {name + "(input, dim, unbiased, keepdim=False, *, out=None)",
       name + "(input, dim=None, *, correction=None, keepdim=False, out=None)",
       name + "(input, unbiased)"},
      with_complex(As::both), doc);
}
template <Moments F>
void bind_moments(py::module_& m, const std::string& name, const char* doc) {
  overloads<&pair_by_unbiased<F>, &pair_by_correction<F>, &pair_of_all<F>>(
      m,
      {name + "(input, dim, unbiased, keepdim=False)",
       name + "(input, dim=None, *, correction=None, keepdim=False)", name + "(input, unbiased)"},
      with_complex(As::function), doc);
}

void bind_sums(py::module_& m) {
  op<Reduce(&sum)>(m, "sum(input, dim=None, keepdim=False, *, dtype=None, out=None)",
                   stored({.autocast = kFullOnCuda, .exact = true, .in_dtype_of_out = true}),
                   R"(The sum of all elements, or along dim.

Args:
    dtype: the dtype to convert to first; None for input's, and int64 for integers.

>>> torch.tensor([[1., 2.], [3., 4.]]).sum(0)
tensor([4., 6.]))");
  op<&sum_to_size>(m, "sum_to_size(input, *size)", stored(As::method),
                   R"(The sum over the dimensions that broadcasting from `size` would expand.

Args:
    *size: the shape of the result.

Shape:
    self broadcasts from size, which is that of the result.

>>> torch.ones(2, 3).sum_to_size(1, 3)
tensor([[2., 2., 2.]]))");
  op<&mean>(m, "mean(input, dim=None, keepdim=False, *, dtype=None, out=None)", stored(As::both),
            R"(The mean of all elements, or along dim.

    >>> torch.tensor([[1., 2.], [3., 4.]]).mean(1)
    tensor([1.5000, 3.5000])
)");
  op<&nansum>(m, "nansum(input, dim=None, keepdim=False, *, dtype=None, out=None)", As::both,
              R"(The sum, with NaN counted as 0.

Args:
    dtype: the dtype to convert to first; None for input's, and int64 for integers.

>>> torch.nansum(torch.tensor([1., float("nan"), 2.]))
tensor(3.))");
  op<&nanmean>(m, "nanmean(input, dim=None, keepdim=False, *, dtype=None, out=None)", As::both,
               R"(The mean of what is not NaN.

    >>> torch.nanmean(torch.tensor([1., float("nan"), 2.]))
    tensor(1.5000)
)");
  overloads<&prod_of_all, &prod_along>(
      m, {"prod(input, *, dtype=None)", "prod(input, dim, keepdim=False, *, dtype=None, out=None)"},
      with_complex({.autocast = kFull, .exact = true, .in_dtype_of_out = true}),
      R"(The product of all elements, or along dim.

Args:
    dtype: the dtype to convert to first; None for input's, and int64 for integers.
    dim: the dimension to reduce; None for all.

>>> torch.prod(torch.tensor([[1., 2.], [3., 4.]]), 1)
tensor([ 2., 12.]))");
  op<&any_or_all<&any>>(m, "any(input, dim=None, keepdim=False, *, out=None)",
                        with_complex({.as = As::both, .exact = true}),
                        R"(Whether any element is not 0, or any along dim.

Args:
    dim: the dimension or dimensions to reduce; None for all.

>>> torch.any(torch.tensor([[0, 2], [0, 0]]), dim=1)
tensor([ True, False]))");
  op<&any_or_all<&all>>(m, "all(input, dim=None, keepdim=False, *, out=None)",
                        with_complex({.as = As::both, .exact = true}),
                        R"(Whether all elements are not 0, or all along dim.

Args:
    dim: the dimension or dimensions to reduce; None for all.

>>> torch.all(torch.tensor([[1, 2], [3, 0]]), dim=1)
tensor([ True, False]))");
  op<&count_nonzero>(m, "count_nonzero(input, dim=None)", with_complex(As::function),
                     R"(How many elements are not 0.

Args:
    dim: the dimension or dimensions to count along; None for all.

Shape:
    that of input without dim.

>>> torch.count_nonzero(torch.tensor([[0, 2], [3, 4]]), dim=0)
tensor([1, 2]))");
  overloads<&count_nonzero, &count_nonzero_along>(
      m, {"count_nonzero(input, dim=None)", "count_nonzero(input, *dim)"}, with_complex(As::method),
      R"(torch.count_nonzero() as a method.

Args:
    dim: the dimensions to count along, one by one or in a tuple; None for all.

Shape:
    that of input without dim.

>>> torch.tensor([[0, 2], [3, 4]]).count_nonzero(0, 1)
tensor(3))");
}

void bind_extremes(py::module_& m) {
  overloads<Whole(&max), &elementwise<Maximum>, ExtremesAlong(&max)>(
      m,
      {"max(input, *, out=None)", "max(input, other, *, out=None)",
       "max(input, dim, keepdim=False, *, out=None) -> (values, indices)"},
      As::both,
      R"(The largest element; with dim, the largest along dim, and indices; with other, maximum().

Args:
    other: a tensor to compare with elementwise, instead of reducing.

>>> torch.tensor([[1., 5.], [7., 2.]]).max(1)
torch.return_types.max(
values=tensor([5., 7.]),
indices=tensor([1, 0])))");
  overloads<Whole(&min), &elementwise<Minimum>, ExtremesAlong(&min)>(
      m,
      {"min(input, *, out=None)", "min(input, other, *, out=None)",
       "min(input, dim, keepdim=False, *, out=None) -> (values, indices)"},
      As::both,
      R"(The smallest element; with dim, the smallest along dim, and indices; with other, minimum().

Args:
    other: a tensor to compare with elementwise, instead of reducing.

>>> torch.min(torch.tensor([[5., 1.], [7., 2.]]), 1)
torch.return_types.min(
values=tensor([1., 2.]),
indices=tensor([1, 1])))");
  op<&amax>(m, "amax(input, dim=None, keepdim=False, *, out=None)", {.as = As::both, .exact = true},
            R"(The largest elements along dim; equal ones share the gradient.

    >>> torch.amax(torch.tensor([[1., 5.], [7., 2.]]), 1)
    tensor([5., 7.])
)");
  op<&amin>(m, "amin(input, dim=None, keepdim=False, *, out=None)", {.as = As::both, .exact = true},
            R"(The smallest elements along dim; equal ones share the gradient.

    >>> torch.amin(torch.tensor([[1., 5.], [7., 2.]]), 1)
    tensor([1., 2.])
)");
  op<&aminmax>(m, "aminmax(input, *, dim=None, keepdim=False, out=None) -> (min, max)",
               {.exact = true},
               R"(The smallest and the largest element.

Args:
    dim: the dimension to reduce; None for all.

>>> low, high = torch.aminmax(torch.tensor([3., 1., 2.]))
>>> low, high
(tensor(1.), tensor(3.)))");
  op<&argmax>(m, "argmax(input, dim=None, keepdim=False, *, out=None)",
              {.as = As::both, .exact = true},
              R"(The index of the largest element, the first of equal ones.

Args:
    dim: the dimension to reduce; None for the index in the flattened tensor.

>>> torch.argmax(torch.tensor([[1., 5.], [7., 2.]]), 1)
tensor([1, 0]))");
  op<&argmin>(m, "argmin(input, dim=None, keepdim=False, *, out=None)",
              {.as = As::both, .exact = true},
              R"(The index of the smallest element, the first of equal ones.

Args:
    dim: the dimension to reduce; None for the index in the flattened tensor.

>>> torch.argmin(torch.tensor([[1., 5.], [7., 2.]]), 1)
tensor([0, 1]))");
}

void bind_moments_and_norms(py::module_& m) {
  bind_moment<&var>(m, "var", R"(The variance: sum((x - mean)^2) / (n - correction).

    >>> torch.tensor([1., 2., 3.]).var()
    tensor(1.)
)");
  bind_moment<&stddev>(m, "std", R"(The standard deviation: the square root of var().

    >>> torch.std(torch.tensor([1., 3.]), correction=0)
    tensor(1.)
)");
  bind_moments<&var_mean>(m, "var_mean", R"(var() and mean() at once.

    >>> torch.var_mean(torch.tensor([1., 2., 3.]))
    (tensor(1.), tensor(2.))
)");
  bind_moments<&std_mean>(m, "std_mean", R"(std() and mean() at once.

    >>> torch.std_mean(torch.tensor([1., 2., 3.]))
    (tensor(1.), tensor(2.))
)");
  op<&logsumexp_along>(m, "logsumexp(input, dim, keepdim=False, *, out=None)",
                       with_complex({.autocast = kFullOnCuda}),
                       R"(log(sum(exp(x))) along dim, without overflow.

Args:
    dim: the dimension or dimensions to reduce.

>>> torch.logsumexp(torch.tensor([1000., 1000.]), 0)
tensor(1000.6932))");
  op<&vector_norm>(
      m, "_linalg_vector_norm(input, ord=2, dim=None, keepdim=False, *, dtype=None, out=None)",
      with_complex({.as = As::function, .autocast = kFullOnCuda}),
      "(sum |x|^ord)^(1 / ord); ord may be 0, inf and -inf.");
  overloads<&norm_named, &norm_number>(
      m,
      {"norm(input, p='fro', dim=None, keepdim=False, dtype=None, out=None)",
       "norm(input, p=None, dim=None, keepdim=False, dtype=None, out=None)"},
      with_complex({.autocast = kFullOnCuda, .exact = true}),
      R"((sum |x|^p)^(1 / p) of all elements, or along dim.

Args:
    p: the order: a number, inf, -inf, 'fro' (the same as 2) or 'nuc' (the sum of singular
        values).

>>> torch.tensor([3., 4.]).norm()
tensor(5.))");
}

}  // namespace

void bind_reduce(py::module_& m) {
  op<&segment_reduce>(
      m,
      "segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, "
      "axis=0, unsafe=False, initial=None)",
      {.as = As::function, .waits = true},
      R"(Rows of different lengths, one behind the other in a dimension, each reduced.

Args:
    data: the rows.
    reduce: 'sum', 'mean', 'prod', 'max' or 'min'.
    lengths: how many elements each row has; or
    offsets: where each row begins, and behind them where the last one ends.
    indices: not supported, as in torch.
    axis: the dimension of the rows, which is the last one of lengths.
    unsafe: whether the lengths may leave elements over.
    initial: what each reduction begins with; a row of no elements gives it.

Shape:
    that of data, with the number of rows along axis.

>>> torch.segment_reduce(torch.tensor([1., 2., 3.]), 'sum', lengths=torch.tensor([1, 2]))
tensor([1., 5.]))");
  bind_sums(m);
  bind_extremes(m);
  bind_moments_and_norms(m);
  op<&cov>(m, "cov(input, *, correction=1, fweights=None, aweights=None)", with_complex(As::both),
           R"(The covariance matrix of variables in rows.

Args:
    correction: the divisor is the number of observations less this; 1 is unbiased.
    fweights: how often each observation occurs, integers; None for once.
    aweights: how important each is; None for all alike.

Shape:
    input (n, m) gives (n, n); (m) gives ().

>>> torch.cov(torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
tensor([[ 1., -1.],
        [-1.,  1.]]))");
  op<&corrcoef>(m, "corrcoef(input)", with_complex(As::both),
                R"(The correlation coefficients of variables in rows.

Shape:
    input (n, m) gives (n, n); (m) gives ().

>>> torch.corrcoef(torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
tensor([[ 1., -1.],
        [-1.,  1.]]))");
}

}  // namespace rushlight::python
