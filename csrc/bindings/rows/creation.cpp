// Tensors made by shape (zeros, full_like, ...). Ranges are in ranges.cpp.
#include "bindings/rows/creation.h"

#include "bindings/data.h"
#include "bindings/formats.h"
#include "bindings/module.h"
#include "bindings/new_memory.h"
#include "bindings/table/out_variants.h"
#include "bindings/table/signature.h"
#include "core/backend.h"
#include "ops/default_device.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {

Tensor settled(Tensor t) {
  if (!fills_new_memory) [[likely]]
    return t;
  if (t.device().is_meta() || !t.numel() || t.dtype() == DType::float4_e2m1fn_x2) return t;
  const auto bits = unsigned(8 * item_size(t.dtype()));
  Scalar value(std::numeric_limits<double>::quiet_NaN());
  switch (t.dtype()) {
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64: value = Scalar(std::int64_t((~std::uint64_t(0)) >> (65 - bits))); break;
    case DType::boolean:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64: value = Scalar(std::int64_t(-1)); break;
    default: break;
  }
  backend(t.device()).copy->fill(stored_view_of(t), value);
  return t;
}
namespace {

using Layout = AnyLayout;
using Format = const MaybeFormat&;
using Dt = const std::optional<DType>&;
using Dv = const std::optional<Device>&;

DType or_default(Dt dtype) { return dtype ? *dtype : default_dtype(); }
Device or_default(Dv device) { return device ? resolve(*device) : default_device(); }

Tensor by_shape(const Shape& size, DType dtype, Device device, bool requires_grad, bool pin,
                const AnyNumber* value = nullptr) {
  if (!value)
    return finish(settled(empty(size, dtype, device)), Options{{}, {}, requires_grad, pin});
  if (!value->complex) check_fits("full", "fill_value", value->scalar, dtype);
  Tensor t = value->complex ? empty(size, dtype, device) : full(size, value->scalar, dtype, device);
  if (value->complex) copy_(t, number_as("full", value->complex, dtype));
  return finish(std::move(t), Options{{}, {}, requires_grad, pin});
}
Tensor by_shape(const Shape& size, Dt dtype, Dv device, bool requires_grad, bool pin,
                const AnyNumber* value = nullptr) {
  return by_shape(size, or_default(dtype), or_default(device), requires_grad, pin, value);
}

Tensor empty_op(const Shape& size, const Out& out, Dt dtype, Layout, Dv device, bool requires_grad,
                bool pin, Format format) {
  if (out) {
    if (format)
      fail<RuntimeError>("'memory_format' argument is incompatible with 'out' tensor argument");
    const Chosen is_of_out(out, dtype, device);
    if (out->requires_grad()) fail<RuntimeError>("cannot resize variables that require grad");
    resize_output(*out, size);
    return finish(settled(*out), requires_grad);
  }
  if (!format) [[likely]]
    return by_shape(size, dtype, device, requires_grad, pin);
  if (format == MemoryFormat::preserve) fail<RuntimeError>("unsupported memory format Preserve");
  Tensor t = empty_in_format(size.view(), or_default(dtype), or_default(device), format);
  return finish(settled(std::move(t)), Options{{}, {}, requires_grad, pin});
}
Tensor constant(const char* op, const Shape& size, Scalar scalar, const Out& out, Dt dtype,
                Dv device, bool requires_grad, bool pin) {
  const AnyNumber value{scalar, {}};
  return created(op, out, dtype, device, requires_grad,
                 [&](Dt d, Dv v) { return by_shape(size, d, v, false, pin, &value); });
}
Tensor zeros_op(const Shape& size, const Out& out, Dt dtype, Layout, Dv device, bool requires_grad,
                bool pin) {
  return constant("zeros", size, 0, out, dtype, device, requires_grad, pin);
}
Tensor ones_op(const Shape& size, const Out& out, Dt dtype, Layout, Dv device, bool requires_grad,
               bool pin) {
  return constant("ones", size, 1, out, dtype, device, requires_grad, pin);
}
Tensor full_op(Listed size, AnyNumber fill_value, const Out& out, Dt dtype, Layout, Dv device,
               bool requires_grad, bool pin) {
  return created("full", out, dtype, device, requires_grad, [&](Dt d, Dv v) {
    const DType kind =
        fill_value.complex ? complex_of(default_dtype()) : dtype_of(fill_value.scalar);
    return by_shape(size, d.value_or(kind), or_default(v), false, pin, &fill_value);
  });
}

Tensor like(const Tensor& input, Dt dtype, Dv device, bool requires_grad, bool pin, Format format,
            std::optional<AnyNumber> value) {
  const Device at = device ? resolve(*device) : input.device();
  const DType d = dtype.value_or(input.dtype());
  if (value && !value->complex) check_fits("full_like", "fill_value", value->scalar, d);
  Tensor t = empty_like(input, d, at, format);
  if (value && value->complex) {
    copy_(t, number_as("full_like", value->complex, d));
  } else if (value && !at.is_meta() && t.numel()) {
    check_has_cast(value->scalar, d);
    backend(at).copy->fill(stored_view_of(t), value->scalar);
  } else if (!value) {
    t = settled(std::move(t));
  }
  return finish(std::move(t), Options{{}, {}, requires_grad, pin});
}
Tensor empty_like_op(const Tensor& input, Dt dtype, Layout, Dv device, bool requires_grad, bool pin,
                     Format format) {
  return like(input, dtype, device, requires_grad, pin, format, {});
}
Tensor full_like_op(const Tensor& input, AnyNumber fill_value, Dt dtype, Layout, Dv device,
                    bool requires_grad, bool pin, Format format) {
  return like(input, dtype, device, requires_grad, pin, format, fill_value);
}
template <int Value>
Tensor constant_like(const Tensor& input, Dt dtype, Layout, Dv device, bool requires_grad, bool pin,
                     Format format) {
  return like(input, dtype, device, requires_grad, pin, format, AnyNumber{Scalar(Value), {}});
}

Tensor new_by_shape(const Tensor& self, const Shape& size, Dt dtype, Dv device, bool requires_grad,
                    bool pin, const AnyNumber* value = nullptr) {
  return by_shape(size, dtype.value_or(self.dtype()), device ? resolve(*device) : self.device(),
                  requires_grad, pin, value);
}
Tensor new_empty(const Tensor& self, const Shape& size, Dt dtype, Layout, Dv device,
                 bool requires_grad, bool pin) {
  return new_by_shape(self, size, dtype, device, requires_grad, pin);
}
Tensor new_full(const Tensor& self, Listed size, AnyNumber fill_value, Dt dtype, Layout, Dv device,
                bool requires_grad, bool pin) {
  return new_by_shape(self, size, dtype, device, requires_grad, pin, &fill_value);
}
template <int Value>
Tensor new_constant(const Tensor& self, const Shape& size, Dt dtype, Layout, Dv device,
                    bool requires_grad, bool pin) {
  const AnyNumber value{Scalar(Value), {}};
  return new_by_shape(self, size, dtype, device, requires_grad, pin, &value);
}

Tensor eye_op(std::int64_t n, std::optional<std::int64_t> m, const Out& out, Dt dtype, Layout,
              Dv device, bool requires_grad, bool pin) {
  return created("eye", out, dtype, device, requires_grad,
                 [&](Dt d, Dv v) { return eye(n, m.value_or(n), Options{d, v, false, pin}); });
}
Tensor scalar_tensor_op(AnyNumber s, Dt dtype, Layout, Dv device, bool requires_grad, bool pin) {
  return by_shape({}, dtype, device, requires_grad, pin, &s);
}
Tensor empty_strided_op(Shape size, Shape stride, Dt dtype, Layout, Dv device, bool requires_grad,
                        bool pin) {
  const Options o{dtype, device, requires_grad, pin};
  if (size.rank != stride.rank)
    fail<RuntimeError>("dimensionality of sizes (", int(size.rank),
                       ") must match dimensionality of strides (", int(stride.rank), ")");
  return finish(settled(empty_strided(size, stride.sizes.data(), dtype.value_or(default_dtype()),
                                      device_of(o))),
                o);
}

}  // namespace

void bind_creation(py::module_& m) {
  constexpr auto kOnly = As::function;
  op<&empty_op>(m,
                "empty(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, "
                "pin_memory=False, memory_format=None)",
                stored(kOnly),
                R"(A tensor of shape `size` whose elements have no defined values.

Shape:
    the result has shape size.

>>> torch.empty(2, 3).shape
torch.Size([2, 3]))");
  op<&zeros_op>(m,
                "zeros(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, "
                "pin_memory=False)",
                stored(kOnly),
                R"(A tensor of shape `size` filled with 0.

Shape:
    the result has shape size.

>>> torch.zeros(2, 2)
tensor([[0., 0.],
        [0., 0.]]))");
  op<&ones_op>(m,
               "ones(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, "
               "pin_memory=False)",
               stored(kOnly),
               R"(A tensor of shape `size` filled with 1.

Shape:
    the result has shape size.

>>> torch.ones(3)
tensor([1., 1., 1.]))");
  op<&full_op>(m,
               "full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, "
               "requires_grad=False, pin_memory=False)",
               stored(kOnly),
               R"(A tensor of shape `size` filled with `fill_value`.

Args:
    fill_value: the number; a bool, an int or a float also gives the dtype.
    dtype: the dtype of the result; None for bool, int64 or the default one, as fill_value says.

Shape:
    the result has shape size.

>>> torch.full((2,), 7)
tensor([7, 7]))");
  op<&empty_like_op>(
      m,
      "empty_like(input, *, dtype=None, layout=None, device=None, "
      "requires_grad=False, pin_memory=False, memory_format=None)",
      stored(kOnly),
      R"(A tensor of input's shape, dtype and device whose elements have no defined values.

Shape:
    the result has the shape of input.

>>> torch.empty_like(torch.zeros(2)).shape
torch.Size([2]))");
  op<&constant_like<0>>(
      m,
      "zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, "
      "pin_memory=False, memory_format=None)",
      stored(kOnly),
      R"(A tensor of input's shape, dtype and device filled with 0.

Shape:
    the result has the shape of input.

>>> torch.zeros_like(torch.ones(2))
tensor([0., 0.]))");
  op<&constant_like<1>>(
      m,
      "ones_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, "
      "pin_memory=False, memory_format=None)",
      stored(kOnly),
      R"(A tensor of input's shape, dtype and device filled with 1.

Shape:
    the result has the shape of input.

>>> torch.ones_like(torch.zeros(2))
tensor([1., 1.]))");
  op<&full_like_op>(m,
                    "full_like(input, fill_value, *, dtype=None, layout=None, device=None, "
                    "requires_grad=False, pin_memory=False, memory_format=None)",
                    stored(kOnly),
                    R"(A tensor of input's shape, dtype and device filled with `fill_value`.

Args:
    fill_value: the number.

Shape:
    the result has the shape of input.

>>> torch.full_like(torch.zeros(2), 3)
tensor([3., 3.]))");
  op<&new_empty>(
      m,
      "new_empty(self, *size, dtype=None, layout=None, device=None, requires_grad=False, "
      "pin_memory=False)",
      stored(As::method),
      R"(A tensor of shape `size` with self's dtype and device; its elements have no defined values.

Shape:
    the result has shape size.

>>> torch.ones(1).new_empty(2, 3).shape
torch.Size([2, 3]))");
  op<&new_constant<0>>(m,
                       "new_zeros(self, *size, dtype=None, layout=None, device=None, "
                       "requires_grad=False, pin_memory=False)",
                       stored(As::method),
                       R"(A tensor of shape `size` filled with 0, with self's dtype and device.

Shape:
    the result has shape size.

>>> torch.ones(1).new_zeros(2)
tensor([0., 0.]))");
  op<&new_constant<1>>(m,
                       "new_ones(self, *size, dtype=None, layout=None, device=None, "
                       "requires_grad=False, pin_memory=False)",
                       stored(As::method),
                       R"(A tensor of shape `size` filled with 1, with self's dtype and device.

Shape:
    the result has shape size.

>>> torch.zeros(1).new_ones(2)
tensor([1., 1.]))");
  op<&new_full>(m,
                "new_full(self, size, fill_value, *, dtype=None, layout=None, device=None, "
                "requires_grad=False, pin_memory=False)",
                stored(As::method),
                R"(A tensor of shape `size` filled with `fill_value`, with self's dtype and device.

Args:
    fill_value: the number.

Shape:
    the result has shape size.

>>> torch.zeros(1).new_full((2,), 5)
tensor([5., 5.]))");
  op<&eye_op>(
      m,
      "eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, "
      "pin_memory=False)",
      stored(kOnly),
      R"(The identity matrix: 1 on the main diagonal, 0 elsewhere.

Args:
    n: the number of rows.
    m: the number of columns; None for n.

Shape:
    the result is (n, m).

>>> torch.eye(2)
tensor([[1., 0.],
        [0., 1.]]))");
  op<&empty_strided_op>(
      m,
      "empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, "
      "pin_memory=False)",
      stored(kOnly),
      R"(A tensor of the given size and strides; its elements have no defined values.

Args:
    stride: the stride of each dimension, in elements.

Shape:
    the result has shape size.

>>> torch.empty_strided((2, 3), (1, 2)).stride()
(1, 2))");
  op<&scalar_tensor_op>(
      m,
      "scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False, "
      "pin_memory=False)",
      stored(kOnly),
      R"(A 0-d tensor of one number.

Args:
    s: the number.

Shape:
    the result is ().

>>> torch.scalar_tensor(3)
tensor(3.))");
}

}  // namespace rushlight::python
