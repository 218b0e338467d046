// Membership: see csrc/ops/search.cpp.
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

}  // namespace

void bind_search(py::module_& m) {
  overloads<&isin_tensors, &isin_number, &isin_among_number>(
      m,
      {"isin(elements, test_elements, *, assume_unique=False, invert=False, out=None)",
       "isin(element, test_elements, *, assume_unique=False, invert=False, out=None)",
       "isin(elements, test_element, *, assume_unique=False, invert=False, out=None)"},
      As::function,
      R"(Whether each element occurs among test_elements.

Args:
    elements, element: the tensor, or a number, to look for.
    test_elements, test_element: the tensor, or a number, to look in.
    assume_unique: a hint, which changes nothing.
    invert: whether to say which do not occur.

Shape:
    that of elements.

>>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 3]))
tensor([False,  True,  True]))");
}

}  // namespace rushlight::python
