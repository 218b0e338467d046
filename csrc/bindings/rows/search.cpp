// Positions in sorted values, and membership: see csrc/ops/sort/search.cpp.
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/pointwise/pointwise.h"
#include "ops/sort/sort.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

Tensor isin_tensors(const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  return isin(as_input(elements), as_input(test_elements), invert);
}
Tensor isin_number(Scalar element, const Tensor& test_elements, bool, bool invert) {
  return isin(as_input(element), as_input(test_elements), invert);
}
Tensor isin_among_number(const Tensor& elements, Scalar test_element, bool, bool invert) {
  return isin(as_input(elements), as_input(test_element), invert);
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
                           Side side, std::optional<Tensor> sorter) {
  return searchsorted(sequence, input, out_int32, is_right(right, side), sorter.value_or(Tensor()));
}
Tensor searchsorted_number(const Tensor& sequence, Scalar self, bool out_int32, bool right,
                           Side side, std::optional<Tensor> sorter) {
  return searchsorted_tensor(sequence, number_like(sequence, self), out_int32, right, side, sorter);
}
Tensor bucketize_number(Scalar self, const Tensor& boundaries, bool out_int32, bool right) {
  return bucketize(number_like(boundaries, self), boundaries, out_int32, right);
}

}  // namespace

void bind_search(py::module_& m) {
  overloads<&isin_tensors, &isin_number, &isin_among_number>(
      m,
      {"isin(elements, test_elements, *, assume_unique=False, invert=False, out=None)",
       "isin(element, test_elements, *, assume_unique=False, invert=False, out=None)",
       "isin(elements, test_element, *, assume_unique=False, invert=False, out=None)"},
      {.as = As::function, .exact = true},
      R"(Whether each element occurs among test_elements.

Args:
    elements, element: the tensor, or a scalar, to look for.
    test_elements, test_element: the tensor, or a scalar, to look in.
    assume_unique: a hint, which changes nothing.
    invert: whether to say which do not occur.

Shape:
    that of elements.

>>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 3]))
tensor([False,  True,  True]))");
  overloads<&searchsorted_tensor, &searchsorted_number>(
      m,
      {"searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, "
       "sorter=None, out=None)",
       "searchsorted(sorted_sequence, self, *, out_int32=False, right=False, side=None, "
       "sorter=None, out=None)"},
      {.as = As::function, .exact = true},
      R"(The index at which each value must be inserted so that the sequence stays sorted.

Args:
    sorted_sequence: ascending along its last dimension.
    input: the values.
    self: one value, a scalar.
    out_int32: whether the indices are int32 instead of int64.
    right: whether an equal element comes before the inserted value.
    side: 'left' or 'right', another way to say right.
    sorter: the indices that sort sorted_sequence; None if it is sorted.

Shape:
    that of input; sorted_sequence is (n), or has input's shape but for the last size.

>>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 4]))
tensor([1, 2]))");
  overloads<&bucketize, &bucketize_number>(
      m,
      {"bucketize(input, boundaries, *, out_int32=False, right=False, out=None)",
       "bucketize(self, boundaries, *, out_int32=False, right=False, out=None)"},
      {.as = As::function, .exact = true},
      R"(The index of the interval between boundaries in which each element lies.

Args:
    input: the values.
    self: one value, a scalar.
    boundaries: an ascending vector.
    out_int32: whether the indices are int32 instead of int64.
    right: whether an element on a boundary lies in the interval after it.

Shape:
    that of input.

>>> torch.bucketize(torch.tensor([0, 3, 9]), torch.tensor([1, 3, 5]))
tensor([0, 1, 3]))");
}

}  // namespace rushlight::python
