// Orders, distinct values and counts as functions and methods.
#include "ops/sort/sort.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/sort/quantile.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Dim = std::optional<std::int64_t>;
using Flag = std::optional<bool>;
using Whole = Tensor (*)(const Tensor&);
using AlongDim = TensorPair (*)(const Tensor&, std::int64_t, bool);

// Every sort here is stable, so `stable` changes nothing.
TensorPair sort_op(const Tensor& x, std::int64_t dim, bool descending) {
  return sort(x, dim, descending);
}
TensorPair sort_stable(const Tensor& x, Flag, std::int64_t dim, bool descending) {
  return sort(x, dim, descending);
}
Tensor argsort_op(const Tensor& x, std::int64_t dim, bool descending) {
  return argsort(x, dim, descending);
}
Tensor argsort_stable(const Tensor& x, Flag, std::int64_t dim, bool descending) {
  return argsort(x, dim, descending);
}
Tensor quantile_op(const Tensor& input, Input q, Dim dim, bool keepdim, std::string_view how) {
  return quantile("quantile", input, q, dim, keepdim, how);
}
Tensor nanquantile_op(const Tensor& input, Input q, Dim dim, bool keepdim, std::string_view how) {
  return quantile("nanquantile", input, q, dim, keepdim, how);
}

py::object chosen(std::tuple<Tensor, Tensor, Tensor> all, bool inverse, bool counts) {
  auto& [values, inverses, times] = all;
  py::list list;
  list.append(py::reinterpret_steal<py::object>(wrap(values)));
  if (inverse) list.append(py::reinterpret_steal<py::object>(wrap(inverses)));
  if (counts) list.append(py::reinterpret_steal<py::object>(wrap(times)));
  if (list.size() == 1) return list[0];
  return py::tuple(list);
}
py::object unique_op(const Tensor& x, bool, bool return_inverse, bool return_counts, Dim dim) {
  return chosen(unique(x, dim, false, {return_inverse, return_counts}), return_inverse,
                return_counts);
}
py::object unique_consecutive_op(const Tensor& x, bool return_inverse, bool return_counts,
                                 Dim dim) {
  return chosen(unique(x, dim, true, {return_inverse, return_counts}), return_inverse,
                return_counts);
}

void bind_orders(py::module_& m) {
  overloads<&sort_op, &sort_stable>(
      m,
      {"sort(input, dim=-1, descending=False, *, out=None) -> (values, indices)",
       "sort(input, *, stable, dim=-1, descending=False, out=None) -> (values, indices)"},
      As::both,
      R"(The elements sorted along dim, and the index of each in input.

Args:
    descending: whether the largest element comes first.
    stable: changes nothing: every sort here keeps the order of equal elements.

Shape:
    that of input.

>>> torch.tensor([3., 1., 2.]).sort()
torch.return_types.sort(
values=tensor([1., 2., 3.]),
indices=tensor([1, 2, 0])))");
  overloads<&argsort_op, &argsort_stable>(
      m,
      {"argsort(input, dim=-1, descending=False)",
       "argsort(input, *, stable, dim=-1, descending=False, out=None)"},
      As::both, R"(The indices that sort input along dim.

Args:
    descending: whether the largest element comes first.
    stable: changes nothing: every sort here keeps the order of equal elements.

Shape:
    that of input.

>>> torch.argsort(torch.tensor([3., 1., 2.]))
tensor([1, 2, 0]))");
  op<&msort>(m, "msort(input, *, out=None)", {.as = As::both, .exact = true},
             R"(The elements sorted along the first dimension.

Shape:
    that of input.

>>> torch.msort(torch.tensor([3., 1., 2.]))
tensor([1., 2., 3.]))");
  op<&quantile_op>(
      m, "quantile(input, q, dim=None, keepdim=False, *, interpolation='linear', out=None)",
      {.as = As::both, .exact = true},
      R"(The value below which a fraction q of the elements is; NaN if an element is NaN.

Args:
    q: a number in [0, 1], or a vector of them, which becomes the first dimension.
    dim: the dimension; None for all elements.
    interpolation: 'linear', 'lower', 'higher', 'midpoint' or 'nearest', between two elements.

Shape:
    that of input without dim, after that of q.

>>> torch.quantile(torch.tensor([1.0, 2.0, 4.0]), 0.75)
tensor(3.))");
  op<&nanquantile_op>(
      m, "nanquantile(input, q, dim=None, keepdim=False, *, interpolation='linear', out=None)",
      {.as = As::both, .exact = true}, R"(quantile() of the elements that are not NaN.

Args:
    q: as of quantile().
    dim: the dimension; None for all elements.
    interpolation: as of quantile().

Shape:
    that of input without dim, after that of q.

>>> torch.nanquantile(torch.tensor([1.0, float("nan"), 3.0]), 0.5)
tensor(2.))");
  op<&topk>(m,
            "topk(input, k, dim=-1, largest=True, sorted=True, *, out=None) -> (values, indices)",
            As::both,
            R"(The k largest (or smallest) elements along dim, and their indices.

Args:
    k: how many.
    dim: the dimension; None for the last.
    largest: whether the largest elements are taken, else the smallest.
    sorted: changes nothing: the elements are always in order.

Shape:
    that of input with k in dim.

>>> torch.tensor([3., 1., 2.]).topk(2).indices
tensor([0, 2]))");
  op<&kthvalue>(m, "kthvalue(input, k, dim=-1, keepdim=False, *, out=None) -> (values, indices)",
                As::both,
                R"(The k-th smallest element along dim, and its index.

Args:
    k: which one, counted from 1.
    dim: the dimension; None for the last.

>>> torch.kthvalue(torch.tensor([3., 1., 2.]), 2)
torch.return_types.kthvalue(
values=tensor(2.),
indices=tensor(2)))");
  overloads<Whole(&median), AlongDim(&median)>(
      m, {"median(input)", "median(input, dim, keepdim=False, *, out=None) -> (values, indices)"},
      As::both,
      R"(The middle element in order, the lower of two; NaN if any element is NaN.

Args:
    dim: the dimension to reduce; without it all elements are, and there are no indices.

>>> torch.median(torch.tensor([4., 1., 2., 3.]))
tensor(2.))");
  overloads<Whole(&nanmedian), AlongDim(&nanmedian)>(
      m,
      {"nanmedian(input)",
       "nanmedian(input, dim, keepdim=False, *, out=None) -> (values, indices)"},
      As::both,
      R"(The middle element in order of those that are not NaN.

Args:
    dim: the dimension to reduce; without it all elements are, and there are no indices.

>>> torch.nanmedian(torch.tensor([3., float("nan"), 1.]))
tensor(1.))");
  op<&mode>(
      m, "mode(input, dim=-1, keepdim=False, *, out=None) -> (values, indices)", As::both,
      R"(The most frequent element along dim, the smallest of equally frequent ones, and its index.

>>> torch.mode(torch.tensor([2, 1, 2])).values
tensor(2))");
}

void bind_unique(py::module_& m) {
  op<&unique_op>(m,
                 "unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None)",
                 {.as = As::both, .waits = true},
                 R"(The distinct elements, or slices of dim, in ascending order.

Args:
    sorted: changes nothing: they are always in order.
    return_inverse: whether to return also the index in the result of each element of input.
    return_counts: whether to return also how often each occurs.
    dim: the dimension whose slices are compared; None for the elements of the flattened input.

Shape:
    the values are (n); with dim, that of input with n in dim. The counts are (n).

>>> torch.tensor([3, 1, 3]).unique(return_counts=True)
(tensor([1, 3]), tensor([1, 2])))");
  op<&unique_consecutive_op>(
      m, "unique_consecutive(input, return_inverse=False, return_counts=False, dim=None)",
      {.as = As::both, .waits = true},
      R"(The first of each run of equal elements, or slices of dim.

Args:
    return_inverse: whether to return also the index in the result of each element of input.
    return_counts: whether to return also how often each occurs.
    dim: the dimension whose slices are compared; None for the elements of the flattened input.

Shape:
    the values are (n); with dim, that of input with n in dim. The counts are (n).

>>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]), return_counts=True)
(tensor([1, 2, 1]), tensor([2, 1, 1])))");
}

}  // namespace

void bind_sort(py::module_& m) {
  bind_orders(m);
  bind_unique(m);
}

}  // namespace rushlight::python
