// Counts of values: see csrc/ops/histogram.cpp.
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/sort/sort.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

Tensor bincount_op(const Tensor& x, std::optional<Tensor> weights, std::int64_t minlength) {
  return bincount(x, weights.value_or(Tensor()), minlength);
}

}  // namespace

void bind_histogram(py::module_& m) {
  op<&bincount_op>(m, "bincount(input, weights=None, minlength=0)", As::both,
                   R"(How often each non-negative integer occurs, or the sum of its weights.

Args:
    input: a vector of non-negative integers.
    weights: a weight for each; None for 1.
    minlength: the least size of the result.

Shape:
    the result is (max(max(input) + 1, minlength)).

>>> torch.bincount(torch.tensor([0, 2, 2]))
tensor([1, 0, 2]))");
  op<&histc>(m, "histc(input, bins=100, min=0, max=0, *, out=None)",
             {.as = As::both, .exact = true},
             R"(A histogram: how many elements lie in each of `bins` equal parts of [min, max].

Args:
    bins: how many parts.
    min: the lower end of the range.
    max: the upper end; where both are equal, the range is that of the data.

Shape:
    the result is (bins).

>>> torch.histc(torch.tensor([0., 1., 3.]), bins=2, min=0, max=4)
tensor([2., 1.]))");
}

}  // namespace rushlight::python
