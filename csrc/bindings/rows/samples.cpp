// Integrals, derivatives and differences of samples: see csrc/ops/samples.h.
#include "ops/samples.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

Tensor integral_over(const Tensor& y, const Tensor& x, std::int64_t dim) {
  return trapezoid(y, x, dim);
}
Tensor integral(const Tensor& y, double dx, std::int64_t dim) { return trapezoid(y, dx, dim); }
Tensor running_integral_over(const Tensor& y, const Tensor& x, std::int64_t dim) {
  return cumulative_trapezoid(y, x, dim);
}
Tensor running_integral(const Tensor& y, double dx, std::int64_t dim) {
  return cumulative_trapezoid(y, dx, dim);
}

// spacing: None, a scalar, or for each dimension a scalar or the vector of its coordinates.
std::vector<Tensor> gradient_op(const Tensor& input, py::handle spacing,
                                const std::optional<Shape>& dim, std::int64_t edge_order) {
  std::vector<Value> steps(std::size_t(dim ? dim->rank : input.dim()), Value(1));
  AnyNumber number;
  const auto step = [&] {
    return number.complex ? Value(number.complex) : Value(number.scalar.as_double());
  };
  if (is_list(spacing.ptr())) {
    steps.clear();
    for (const py::handle item : py::tuple(py::reinterpret_borrow<py::object>(spacing))) {
      const Tensor* vector = as_tensor(item.ptr());
      if (vector && vector->dim() != 1)
        fail<RuntimeError>(
            "torch.gradient expected each element of spacing to have one dimension, but got an "
            "element with ",
            vector->dim(), " dimensions!");
      number = {};
      if (!vector && !Argument<AnyNumber>::read(item.ptr(), number))
        fail<TypeError>("expected Tensor as element ", steps.size(), " in argument 1, but got ",
                        Py_TYPE(item.ptr())->tp_name, "\ngradient(): 'spacing'");
      steps.push_back(vector ? Value(*vector) : step());
    }
  } else if (!spacing.is_none()) {
    if (!Argument<AnyNumber>::read(spacing.ptr(), number))
      fail<TypeError>(
          "gradient(): argument 'spacing' must be Number or a list for each dimension, "
          "not ",
          Py_TYPE(spacing.ptr())->tp_name);
    std::fill(steps.begin(), steps.end(), step());
  }
  return gradient(input, steps, dim, edge_order);
}

}  // namespace

void bind_samples(py::module_& m) {
  overloads<&integral_over, &integral>(
      m, {"trapezoid(y, x, *, dim=-1)", "trapezoid(y, *, dx=1, dim=-1)"},
      with_complex(As::function),
      R"(The integral of samples along a dimension, by trapezoids.

Args:
    y: the samples.
    x: their coordinates, a vector or a tensor that broadcasts with y.
    dx: their distance.

Shape:
    that of y without dim.

>>> torch.trapezoid(torch.tensor([1.0, 2.0, 3.0]))
tensor(4.))");
  publish_alias(m, As::function, "trapezoid", "trapz");
  overloads<&running_integral_over, &running_integral>(
      m, {"cumulative_trapezoid(y, x, *, dim=-1)", "cumulative_trapezoid(y, *, dx=1, dim=-1)"},
      with_complex(As::function),
      R"(The running integral of samples along a dimension, by trapezoids.

Args: as of trapezoid.

Shape:
    that of y with one element less in dim.

>>> torch.cumulative_trapezoid(torch.tensor([1.0, 2.0, 3.0]))
tensor([1.5000, 4.0000]))");
  op<&gradient_op>(m, "gradient(input, *, spacing=None, dim=None, edge_order=1)",
                   with_complex(As::function),
                   R"(The derivative of samples along each dimension, by central differences.

Args:
    spacing: the distance of neighbours; or a list with that, or a vector of coordinates, for each
        dimension.
    dim: one dimension or several; None for all.
    edge_order: 1 or 2, the order of the differences at both ends.

Shape:
    a tuple of tensors of input's shape.

>>> torch.gradient(torch.tensor([1.0, 2.0, 4.0]))
(tensor([1.0000, 1.5000, 2.0000]),))");
  op<&diff>(m, "diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None)",
            with_complex(As::both),
            R"(Differences of neighbours along a dimension.

Args:
    n: how many times differences are taken.
    prepend: elements before those of input; None for no others.
    append: elements after those of input; None for no others.

Shape:
    that of input with n elements less in dim.

>>> torch.diff(torch.tensor([1, 3, 6]))
tensor([2, 3]))");
}

}  // namespace rushlight::python
