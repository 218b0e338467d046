// Tensors made by range: arange, range, linspace, logspace.
#include "bindings/module.h"
#include "bindings/rows/creation.h"
#include "bindings/rows/functional.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Layout = AnyLayout;
using MaybeDType = const std::optional<DType>&;
using MaybeDevice = const std::optional<Device>&;

// A range fills an `out` of as many elements whatever its shape; any other is resized.
Tensor in_shape_of(const Out& out, const Tensor& range) {
  return out && out->numel() == range.numel() ? view(range, out->shape()) : range;
}
Tensor arange_range(Scalar start, Scalar end, Scalar step, const Out& out, MaybeDType dtype, Layout,
                    MaybeDevice device, bool requires_grad, bool pin) {
  return created("arange", out, dtype, device, requires_grad, [&](MaybeDType d, MaybeDevice v) {
    return in_shape_of(out, arange(start, end, step, Options{d, v, false, pin}));
  });
}
Tensor arange_end(Scalar end, const Out& out, MaybeDType dtype, Layout layout, MaybeDevice device,
                  bool requires_grad, bool pin) {
  return arange_range(0, end, 1, out, dtype, layout, device, requires_grad, pin);
}
Tensor range_op(Scalar start, Scalar end, Scalar step, const Out& out, MaybeDType dtype, Layout,
                MaybeDevice device, bool requires_grad, bool pin) {
  warn_at(
      "torch.range is deprecated and will be removed in a future release because its behavior is "
      "inconsistent with Python's range builtin. Instead, use torch.arange, which produces values "
      "in [start, end).",
      1);
  return created("range", out, dtype, device, requires_grad, [&](MaybeDType d, MaybeDevice v) {
    return in_shape_of(out, range(start, end, step, Options{d, v, false, pin}));
  });
}
// An end of linspace(): a scalar or a 0-d tensor.
Scalar end_of_range(const char* op, const char* name, const Input& end) {
  if (!end.tensor) return end.scalar;
  if (end.tensor->dim())
    fail<RuntimeError>(op, " only supports 0-dimensional start and end tensors, but got ", name,
                       " with ", end.tensor->dim(), " dimension(s).");
  return item(*end.tensor);
}
bool is_complex_end(const Input& end) { return end.tensor && is_complex(end.tensor->dtype()); }
Tensor complex_linspace(const Input& start, const Input& end, std::int64_t steps, const Out& out,
                        MaybeDType dtype, MaybeDevice device, bool requires_grad) {
  const auto part = [&](const Input& from, bool imaginary) -> Scalar {
    if (!is_complex_end(from)) return imaginary ? Scalar(0.0) : end_of_range("linspace", "", from);
    const Tensor t = detach(*from.tensor);
    const Tensor one = imaginary ? imag(t) : real(t);
    return end_of_range("linspace", "start or end", as_input(one));
  };
  return created("linspace", out, dtype, device, requires_grad, [&](MaybeDType d, MaybeDevice v) {
    const DType kind = d.value_or(complex_of(default_dtype()));
    if (!is_complex(kind))
      fail<RuntimeError>("value cannot be converted to type ", c_name(kind), " without overflow\n",
                         "linspace(): an end is complex, and dtype is ", kind);
    const Options o{real_of(kind), v};
    return in_shape_of(out, complex_of(linspace(part(start, false), part(end, false), steps, o),
                                       linspace(part(start, true), part(end, true), steps, o)));
  });
}
Tensor linspace_op(Input start, Input end, std::int64_t steps, const Out& out, MaybeDType dtype,
                   Layout, MaybeDevice device, bool requires_grad, bool pin) {
  if (is_complex_end(start) || is_complex_end(end))
    return complex_linspace(start, end, steps, out, dtype, device, requires_grad);
  const Scalar from = end_of_range("linspace", "start", start),
               to = end_of_range("linspace", "end", end);
  return created("linspace", out, dtype, device, requires_grad, [&](MaybeDType d, MaybeDevice v) {
    return in_shape_of(out, linspace(from, to, steps, Options{d, v, false, pin}));
  });
}
Tensor logspace_op(Input start, Input end, std::int64_t steps, double base, const Out& out,
                   MaybeDType dtype, Layout, MaybeDevice device, bool requires_grad, bool pin) {
  const Scalar from = end_of_range("logspace", "start", start),
               to = end_of_range("logspace", "end", end);
  return created("logspace", out, dtype, device, requires_grad, [&](MaybeDType d, MaybeDevice v) {
    return in_shape_of(out, logspace(from, to, steps, base, Options{d, v, false, pin}));
  });
}

}  // namespace

void bind_ranges(py::module_& m) {
  constexpr auto kOnly = As::function;
  overloads<&arange_end, &arange_range>(
      m,
      {"arange(end, *, out=None, dtype=None, layout=None, device=None, "
       "requires_grad=False, pin_memory=False)",
       "arange(start, end, step=1, *, out=None, dtype=None, layout=None, "
       "device=None, requires_grad=False, pin_memory=False)"},
      kOnly,
      R"(The values start, start + step, ... up to but not including end.

Args:
    start: the first value; 0 when left out.
    end: the bound, not included.
    step: the difference between neighbours; not 0.
    dtype: the dtype of the result; None for int64 if all are integers, else the default one.

Shape:
    the result is (n) with n = ceil((end - start) / step).

>>> torch.arange(1, 10, 3)
tensor([1, 4, 7]))");
  op<&range_op>(m,
                "range(start, end, step=1, *, out=None, dtype=None, layout=None, device=None, "
                "requires_grad=False, pin_memory=False)",
                kOnly,
                R"(start, start + step, ... up to and including end. Deprecated: use torch.arange,
which stops before its end.

Args:
    start: the first value.
    end: the bound, included where a step ends there.
    step: the difference between neighbours; not 0.

Shape:
    the result is (n) with n = floor((end - start) / step) + 1.

>>> import warnings
>>> with warnings.catch_warnings():
...     warnings.simplefilter("ignore")
...     torch.range(1, 3)
tensor([1., 2., 3.]))");
  op<&linspace_op>(m,
                   "linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None, "
                   "requires_grad=False, pin_memory=False)",
                   with_complex(kOnly),
                   R"(`steps` values at equal distances from start to end, both included.

Args:
    start: the first value.
    end: the last value.
    steps: how many values.

Shape:
    the result is (steps).

>>> torch.linspace(0, 1, 5)
tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000]))");
  op<&logspace_op>(m,
                   "logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, "
                   "device=None, requires_grad=False, pin_memory=False)",
                   with_complex(kOnly),
                   R"(The powers base^x for the values x of linspace(start, end, steps).

Args:
    start: the first exponent.
    end: the last exponent.
    steps: how many values.
    base: the base.

Shape:
    the result is (steps).

>>> torch.logspace(0, 2, 3)
tensor([  1.,  10., 100.]))");
}

}  // namespace rushlight::python
