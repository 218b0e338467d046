// Padding.
#include "ops/pad.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

std::vector<std::int64_t> read_amounts(py::handle pad) {
  std::vector<std::int64_t> amounts;
  if (!Argument<std::vector<std::int64_t>>::read(pad.ptr(), amounts))
    fail<TypeError>("pad(): argument 'pad' must be tuple of ints");
  return amounts;
}
Tensor pad_constant(const Tensor& input, py::handle pad, Scalar value) {
  return constant_pad_nd(input, read_amounts(pad), value);
}
Tensor pad_mirrored(const Tensor& input, py::handle pad, bool replicates) {
  return pad_edges(input, read_amounts(pad), replicates ? PadMode::replicate : PadMode::reflect);
}
Tensor pad_circular(const Tensor& input, py::handle pad) {
  return pad_edges(input, read_amounts(pad), PadMode::circular);
}

}  // namespace

void bind_pad(py::module_& m) {
  op<&pad_constant>(m, "constant_pad_nd(input, pad, value=0)", by_parts(As::function),
                    R"(Extends dimensions at both ends with a constant.

Args:
    pad: (left, right) of the last dimension, then of the one before it, and so on; negative ones
        cut.
    value: the constant.

Shape:
    each such size grows by left + right.

>>> torch.constant_pad_nd(torch.ones(2), (1, 0))
tensor([0., 1., 1.]))");
  op<&pad_mirrored>(m, "_pad_mirrored(input, pad, replicates)",
                    by_parts({.as = As::function, .autocast = kFullOnCpu}),
                    "Extends dimensions by reflections, or by the outermost elements.");
  op<&pad_circular>(m, "_pad_circular(input, pad)", by_parts(As::function),
                    "Extends dimensions by the elements of the other end.");
}

}  // namespace rushlight::python
