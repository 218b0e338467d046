// Running reductions, orders, distinct values and counts as functions and methods.
#include "ops/sort.h"

#include "bindings/autocast.h"
#include "bindings/forms.h"
#include "bindings/module.h"
#include "bindings/output.h"
#include "bindings/return_types.h"
#include "bindings/signature.h"
#include "ops/scan.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Dt = std::optional<DType>;
using Dim = std::optional<std::int64_t>;
using Flag = std::optional<bool>;

Tensor cumsum_op(const Tensor& x, std::int64_t dim, Dt dtype, Out out) {
  return deliver("cumsum", out, cumsum(x, dim, dtype));
}
Tensor cumprod_op(const Tensor& x, std::int64_t dim, Dt dtype, Out out) {
  return deliver("cumprod", out, cumprod(x, dim, dtype));
}
Tensor logcumsumexp_op(const Tensor& x, std::int64_t dim, Out out) {
  return deliver("logcumsumexp", out, logcumsumexp(x, dim));
}
Named cummax_op(const Tensor& x, std::int64_t dim, OutPair out) {
  return {Returns::cummax, deliver("cummax", out, cummax(x, dim))};
}
Named cummin_op(const Tensor& x, std::int64_t dim, OutPair out) {
  return {Returns::cummin, deliver("cummin", out, cummin(x, dim))};
}

// Every sort here is stable, so `stable` changes nothing.
Named sort_op(const Tensor& x, std::int64_t dim, bool descending, Flag, OutPair out) {
  return {Returns::sort, deliver("sort", out, sort(x, dim, descending))};
}
Tensor argsort_op(const Tensor& x, std::int64_t dim, bool descending, Flag) {
  return argsort(x, dim, descending);
}
Tensor msort_op(const Tensor& x, Out out) { return deliver("msort", out, msort(x)); }
Named topk_op(const Tensor& x, std::int64_t k, Dim dim, bool largest, bool sorted, OutPair out) {
  return {Returns::topk, deliver("topk", out, topk(x, k, dim.value_or(-1), largest, sorted))};
}
Named kthvalue_op(const Tensor& x, std::int64_t k, Dim dim, bool keepdim, OutPair out) {
  return {Returns::kthvalue, deliver("kthvalue", out, kthvalue(x, k, dim.value_or(-1), keepdim))};
}
Tensor median_all(const Tensor& x) { return median(x); }
Named median_dim(const Tensor& x, std::int64_t dim, bool keepdim, OutPair out) {
  return {Returns::median, deliver("median", out, median(x, dim, keepdim))};
}
Tensor nanmedian_all(const Tensor& x) { return nanmedian(x); }
Named nanmedian_dim(const Tensor& x, std::int64_t dim, bool keepdim, OutPair out) {
  return {Returns::nanmedian, deliver("nanmedian", out, nanmedian(x, dim, keepdim))};
}
Named mode_op(const Tensor& x, std::int64_t dim, bool keepdim, OutPair out) {
  return {Returns::mode, deliver("mode", out, mode(x, dim, keepdim))};
}

py::object chosen(std::tuple<Tensor, Tensor, Tensor> all, bool inverse, bool counts) {
  auto& [values, places, times] = all;
  py::list list;
  list.append(py::reinterpret_steal<py::object>(wrap(values)));
  if (inverse) list.append(py::reinterpret_steal<py::object>(wrap(places)));
  if (counts) list.append(py::reinterpret_steal<py::object>(wrap(times)));
  if (list.size() == 1) return list[0];
  return py::tuple(list);
}
py::object unique_op(const Tensor& x, bool, bool return_inverse, bool return_counts, Dim dim) {
  return chosen(unique(x, dim, false), return_inverse, return_counts);
}
py::object unique_consecutive_op(const Tensor& x, bool return_inverse, bool return_counts,
                                 Dim dim) {
  return chosen(unique(x, dim, true), return_inverse, return_counts);
}

Tensor bincount_op(const Tensor& x, std::optional<Tensor> weights, std::int64_t minlength) {
  return bincount(x, weights.value_or(Tensor()), minlength);
}
Tensor histc_op(const Tensor& x, std::int64_t bins, double min, double max, Out out) {
  return deliver("histc", out, histc(x, bins, min, max));
}

using Side = std::optional<std::string_view>;
bool is_right(bool right, Side side) {
  if (!side) return right;
  if (*side != "left" && *side != "right")
    fail<RuntimeError>("torch.searchsorted(): side can only be 'left' or 'right' but got ", *side);
  if (right && *side == "left")
    fail<RuntimeError>(
        "torch.searchsorted(): side and right can't be set to opposites, got side of "
        "left while right was True");
  return *side == "right";
}
Tensor number_like(const Tensor& like, Scalar number) {
  const DType d =
      number.is_floating() && is_integral(like.dtype()) ? default_dtype() : like.dtype();
  return scalar_tensor(number, d, like.device());
}
Tensor searchsorted_tensor(const Tensor& sequence, const Tensor& input, bool out_int32, bool right,
                           Side side, std::optional<Tensor> sorter, Out out) {
  return deliver(
      "searchsorted", out,
      searchsorted(sequence, input, out_int32, is_right(right, side), sorter.value_or(Tensor())));
}
Tensor searchsorted_number(const Tensor& sequence, Scalar self, bool out_int32, bool right,
                           Side side, std::optional<Tensor> sorter, Out out) {
  return searchsorted_tensor(sequence, number_like(sequence, self), out_int32, right, side, sorter,
                             out);
}
Tensor bucketize_tensor(const Tensor& input, const Tensor& boundaries, bool out_int32, bool right,
                        Out out) {
  return deliver("bucketize", out, bucketize(input, boundaries, out_int32, right));
}
Tensor bucketize_number(Scalar self, const Tensor& boundaries, bool out_int32, bool right,
                        Out out) {
  return bucketize_tensor(number_like(boundaries, self), boundaries, out_int32, right, out);
}

void bind_scans(py::module_& m) {
  op<casting<&cumsum_op, with_out(kFullOnCuda)>>(m, "cumsum(input, dim, *, dtype=None, out=None)",
                                                 As::both,
                                                 R"(The running sum along dim.

    >>> torch.tensor([1, 2, 3]).cumsum(0)
    tensor([1, 3, 6])
)");
  op<casting<&cumprod_op, with_out(kFullOnCuda)>>(m, "cumprod(input, dim, *, dtype=None, out=None)",
                                                  As::both,
                                                  R"(The running product along dim.

    >>> torch.cumprod(torch.tensor([1, 2, 3]), 0)
    tensor([1, 2, 6])
)");
  op_in_place<&cumsum>(m, "cumsum_(self, dim, *, dtype=None)");
  op_in_place<&cumprod>(m, "cumprod_(self, dim, *, dtype=None)");
  op<&logcumsumexp_op>(m, "logcumsumexp(input, dim, *, out=None)", As::both,
                       R"(The logarithm of the running sum of exp(x) along dim.

    >>> torch.logcumsumexp(torch.tensor([0., 0., 0.]), 0)
    tensor([0.0000, 0.6931, 1.0986])
)");
  op<&cummax_op>(m, "cummax(input, dim, *, out=None)", As::both,
                 R"(The largest element so far along dim, and where it last stood.

    >>> torch.cummax(torch.tensor([1, 3, 2]), 0)
    torch.return_types.cummax(
    values=tensor([1, 3, 3]),
    indices=tensor([0, 1, 1]))
)");
  op<&cummin_op>(m, "cummin(input, dim, *, out=None)", As::both,
                 R"(The smallest element so far along dim, and where it last stood.

    >>> torch.cummin(torch.tensor([3, 1, 2]), 0)
    torch.return_types.cummin(
    values=tensor([3, 1, 1]),
    indices=tensor([0, 1, 1]))
)");
}

void bind_orders(py::module_& m) {
  op<&sort_op>(m, "sort(input, dim=-1, descending=False, stable=False, *, out=None)", As::both,
               R"(The elements in order along dim, and where each stood.

    >>> torch.tensor([3., 1., 2.]).sort()
    torch.return_types.sort(
    values=tensor([1., 2., 3.]),
    indices=tensor([1, 2, 0]))
)");
  op<&argsort_op>(m, "argsort(input, dim=-1, descending=False, stable=False)", As::both,
                  R"(The indices that sort along dim.

    >>> torch.argsort(torch.tensor([3., 1., 2.]))
    tensor([1, 2, 0])
)");
  op<&msort_op>(m, "msort(input, *, out=None)", As::both, R"(The elements in order along dim 0.

    >>> torch.msort(torch.tensor([3., 1., 2.]))
    tensor([1., 2., 3.])
)");
  op<&topk_op>(m, "topk(input, k, dim=None, largest=True, sorted=True, *, out=None)", As::both,
               R"(The k largest (or smallest) elements along dim, and where they stand.

    >>> torch.tensor([3., 1., 2.]).topk(2).indices
    tensor([0, 2])
)");
  op<&kthvalue_op>(m, "kthvalue(input, k, dim=None, keepdim=False, *, out=None)", As::both,
                   R"(The k-th smallest element along dim, counted from 1, and where it stands.

    >>> torch.kthvalue(torch.tensor([3., 1., 2.]), 2)
    torch.return_types.kthvalue(
    values=tensor(2.),
    indices=tensor(2))
)");
  overloads<&median_all, &median_dim>(
      m, {"median(input)", "median(input, dim, keepdim=False, *, out=None)"}, As::both,
      R"(The middle element, the lower of two; NaN if there is one.

    >>> torch.median(torch.tensor([4., 1., 2., 3.]))
    tensor(2.)
)");
  overloads<&nanmedian_all, &nanmedian_dim>(
      m, {"nanmedian(input)", "nanmedian(input, dim, keepdim=False, *, out=None)"}, As::both,
      R"(The middle element of those that are not NaN.

    >>> torch.nanmedian(torch.tensor([3., float("nan"), 1.]))
    tensor(1.)
)");
  op<&mode_op>(m, "mode(input, dim=-1, keepdim=False, *, out=None)", As::both,
               R"(The most frequent element along dim, the smallest of equals.

    >>> torch.mode(torch.tensor([2, 1, 2])).values
    tensor(2)
)");
}

void bind_places(py::module_& m) {
  op<&unique_op>(m,
                 "unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None)",
                 As::both, R"(The distinct elements, or slices along dim, in ascending order.

    >>> torch.tensor([3, 1, 3]).unique(return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
)");
  op<&unique_consecutive_op>(
      m, "unique_consecutive(input, return_inverse=False, return_counts=False, dim=None)", As::both,
      R"(The first of each run of equal elements, or slices along dim.

    >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]), return_counts=True)
    (tensor([1, 2, 1]), tensor([2, 1, 1]))
)");
  op<&bincount_op>(m, "bincount(input, weights=None, minlength=0)", As::both,
                   R"(How often each non-negative integer occurs, or the sum of its weights.

    >>> torch.bincount(torch.tensor([0, 2, 2]))
    tensor([1, 0, 2])
)");
  op<&histc_op>(m, "histc(input, bins=100, min=0, max=0, *, out=None)", As::both,
                R"(Counts in equal parts of [min, max]; the data's own range if both are equal.

    >>> torch.histc(torch.tensor([0., 1., 3.]), bins=2, min=0, max=4)
    tensor([2., 1.])
)");
  overloads<&searchsorted_tensor, &searchsorted_number>(
      m,
      {"searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, "
       "sorter=None, out=None)",
       "searchsorted(sorted_sequence, self, *, out_int32=False, right=False, side=None, "
       "sorter=None, out=None)"},
      As::function, R"(Where values must be inserted so that the sequence stays in order.

    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 4]))
    tensor([1, 2])
)");
  overloads<&bucketize_tensor, &bucketize_number>(
      m,
      {"bucketize(input, boundaries, *, out_int32=False, right=False, out=None)",
       "bucketize(self, boundaries, *, out_int32=False, right=False, out=None)"},
      As::function, R"(The number of the interval between boundaries that each element lies in.

Args:
    right: whether an element on a boundary lies in the interval after it.

    >>> torch.bucketize(torch.tensor([0, 3, 9]), torch.tensor([1, 3, 5]))
    tensor([0, 1, 3])
)");
}

}  // namespace

void bind_sort(py::module_& m) {
  bind_scans(m);
  bind_orders(m);
  bind_places(m);
}

}  // namespace rushlight::python
