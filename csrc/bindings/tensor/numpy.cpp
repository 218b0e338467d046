// NumPy both ways without copies where torch makes none. Note: arrays are read
// through the buffer protocol, so importing this library does not import NumPy.
#include <pybind11/numpy.h>

#include "bindings/data.h"
#include "bindings/gil.h"
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// Whether its class is NumPy's, or derived from one that is: a memmap, a matrix.
bool is_numpy(PyObject* o) {
  for (const PyTypeObject* type = Py_TYPE(o); type; type = type->tp_base)
    if (std::string_view(type->tp_name).starts_with("numpy.")) return true;
  return false;
}

// From a buffer format ("<f", "l", ...) to a dtype.
std::optional<DType> dtype_of(const Py_buffer& b) {
  std::string_view f = b.format ? b.format : "B";
  if (!f.empty() && (f[0] == '<' || f[0] == '=' || f[0] == '@')) f.remove_prefix(1);
  if (f == "Zf") return DType::complex64;
  if (f == "Zd") return DType::complex128;
  if (f.size() != 1) return {};
  switch (f[0]) {
    case '?': return DType::boolean;
    case 'e': return DType::float16;
    case 'f': return DType::float32;
    case 'd': return DType::float64;
    case 'B': return DType::uint8;
    case 'b': return DType::int8;
    case 'h': return DType::int16;
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return b.itemsize == 8 ? DType::uint64 : b.itemsize == 4 ? DType::uint32 : DType::uint16;
    case 'i':
    case 'l':
    case 'q': return b.itemsize == 8 ? DType::int64 : b.itemsize == 4 ? DType::int32 : DType::int16;
    default: return {};
  }
}

void release_buffer(Storage& s) noexcept {
  auto* buffer = static_cast<Py_buffer*>(s.owner);
  if (!Py_IsInitialized()) return;
  const GilHeld gil;
  PyBuffer_Release(buffer);
  delete buffer;
}

[[noreturn]] void fail_dtype(PyObject* o, std::string_view format) {
  if (format.starts_with('>'))
    fail<ValueError>(
        "given numpy array has byte order different from the native byte order. Conversion between "
        "byte orders is currently not supported.\nconvert it: "
        "array.astype(array.dtype.newbyteorder('='))");
  const auto type =
      py::getattr(py::getattr(py::handle(o), "dtype", py::none()), "type", py::none());
  std::string name = py::str(py::getattr(type, "__name__", py::str(std::string(format))));
  fail<TypeError>(
      "can't convert np.ndarray of type numpy.", name,
      ". The only supported types are: float64, float32, float16, complex64, "
      "complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.");
}

// `readonly`: whether it may be mapped so, and a write would end the process.
Tensor share_array(PyObject* o, bool& readonly) {
  auto* b = new Py_buffer;
  if (PyObject_GetBuffer(o, b, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    delete b;
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw py::error_already_set();
    PyErr_Clear();  // dates, for example, have no buffer
    fail_dtype(o, "");
  }
  struct Guard {
    Py_buffer* b;
    ~Guard() {
      if (!b) return;
      PyBuffer_Release(b);
      delete b;
    }
  } guard{b};
  const auto dtype = dtype_of(*b);
  if (!dtype) fail_dtype(o, b->format ? b->format : "");
  readonly = b->readonly;
  if (b->ndim > kMaxRank)
    fail<RuntimeError>("tensors here have at most ", kMaxRank, " dimensions, the array has ",
                       b->ndim);
  Shape shape;
  Strides strides{};
  for (int d = 0; d < b->ndim; ++d) {
    shape.push_back(b->shape[d]);
    if (b->strides[d] < 0 && b->shape[d] > 1)
      fail<ValueError>(
          "At least one stride in the given numpy array is negative, and tensors with "
          "negative strides are not currently supported. (You can probably work around "
          "this by making a copy of your array  with array.copy().) ");
    if (b->strides[d] % b->itemsize && b->shape[d] > 1)
      fail<ValueError>(
          "given numpy array strides not a multiple of the element byte size. Copy the "
          "numpy array to reallocate the memory.");
    strides[std::size_t(d)] = std::max<std::int64_t>(b->strides[d] / b->itemsize, 0);
  }
  const Extent e = extent_of(shape, strides.data());
  auto storage =
      Storage::borrow(b->buf, std::size_t((e.high + 1) * b->itemsize), b, release_buffer);
  guard.b = nullptr;  // from here on the storage owns it
  return from_storage(std::move(storage), *dtype, shape, strides.data(), 0);
}

Tensor from_numpy(py::handle array) {
  PyObject* o = array.ptr();
  if (!is_numpy(o) || !PyObject_CheckBuffer(o) || !PyObject_HasAttrString(o, "setflags"))
    fail<TypeError>("expected np.ndarray (got ", Py_TYPE(o)->tp_name, ")");
  bool readonly = false;
  const Tensor shared = share_array(o, readonly);
  if (!readonly) return shared;
  if (PyErr_WarnEx(PyExc_UserWarning,
                   "The given NumPy array is not writable, and PyTorch does not support "
                   "non-writable tensors. This means writing to this tensor will result in "
                   "undefined behavior. You may want to copy the array to protect its data or make "
                   "it writable before converting it to a tensor. Here the data are copied.",
                   1))
    throw py::error_already_set();
  return clone(shared);
}

// Elements of any object with the buffer protocol; writable memory is shared.
Tensor from_buffer(py::handle buffer, DType dtype, std::int64_t count, std::int64_t offset,
                   bool requires_grad) {
  if (!PyObject_CheckBuffer(buffer.ptr()))
    fail<ValueError>("object does not implement Python buffer protocol.\nIt is of type ",
                     Py_TYPE(buffer.ptr())->tp_name, ".");
  auto held = std::make_unique<Py_buffer>();
  bool writable = PyObject_GetBuffer(buffer.ptr(), held.get(), PyBUF_WRITABLE) == 0;
  if (!writable) {
    PyErr_Clear();
    if (PyObject_GetBuffer(buffer.ptr(), held.get(), PyBUF_SIMPLE) != 0)
      throw py::error_already_set();
  }
  const std::int64_t bytes = held->len, item = std::int64_t(item_size(dtype));
  auto* data = static_cast<char*>(held->buf);
  // From here on the storage owns the buffer.
  auto storage = Storage::borrow(data, std::size_t(bytes), held.release(), release_buffer);
  if (bytes == 0 || count == 0)
    fail<ValueError>("both buffer length (", bytes, ") and count (", count, ") must not be 0");
  if (offset < 0 || offset >= bytes)
    fail<ValueError>("offset (", offset,
                     " bytes) must be non-negative and no greater than buffer length (", bytes,
                     " bytes) minus 1");
  const std::int64_t left = bytes - offset;
  if (count < 0 && left % item)
    fail<ValueError>("buffer length (", left, " bytes) after offset (", offset,
                     " bytes) must be a multiple of element size (", item, ")");
  if (count > left / item)
    fail<ValueError>("requested buffer length (", count, " * ", item, " bytes) after offset (",
                     offset, " bytes) must not be greater than actual buffer length (", bytes,
                     " bytes)");
  const Shape shape{count < 0 ? left / item : count};
  const std::int64_t stride = 1;
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % std::uintptr_t(item) == 0;
  Tensor out;
  if (writable && aligned && offset % item == 0) {
    out = from_storage(std::move(storage), dtype, shape, &stride, offset / item);
  } else {
    // Read-only memory must not be written through a tensor, nor odd addresses read as numbers.
    if (!writable &&
        PyErr_WarnEx(PyExc_UserWarning,
                     "The given buffer is not writable, and PyTorch does not support non-writable "
                     "tensors. This means you can write to the underlying (supposedly "
                     "non-writable) buffer using the tensor. Here the data are copied.",
                     1))
      throw py::error_already_set();
    const Shape part{count < 0 ? left : count * item};  // within `left`, as checked
    const Tensor copy =
        clone(from_storage(std::move(storage), DType::uint8, part, &stride, offset));
    out = from_storage(copy->storage, dtype, shape, &stride, 0);
  }
  if (requires_grad)
    py::setattr(py::reinterpret_steal<py::object>(wrap(out)), "requires_grad", py::bool_(true));
  return out;
}

const char* numpy_name(DType d) {  // null: NumPy has no such type
  if (d == DType::bfloat16 || d == DType::complex32) return nullptr;
  return is_floating(d) && is_only_stored(d) ? nullptr : dtype_name(d);
}

// The array shares the tensor's memory and keeps its storage alive.
py::object to_numpy(const Tensor& self, bool force) {
  Tensor t = self;
  if (force) t = detach(to(t, kCpu));
  if (!t.device().is_cpu())
    fail<TypeError>("can't convert ", t.device(),
                    " device type tensor to numpy. Use Tensor.cpu() to copy "
                    "the tensor to host memory first.");
  if (grad_enabled() && wants_grad(t))
    fail<RuntimeError>(
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
  if (!numpy_name(t.dtype()))
    fail<TypeError>(
        "Got unsupported ScalarType ", scalar_name(t.dtype()), "\nNumPy has no ",
        dtype_name(t.dtype()),
        is_complex(t.dtype()) ? ": use x.to(torch.complex64).numpy()" : ": use x.float().numpy()");
  std::vector<py::ssize_t> shape, strides;
  for (int d = 0; d < t.dim(); ++d) {
    shape.push_back(t->shape[d]);
    strides.push_back(t->strides[std::size_t(d)] * std::int64_t(item_size(t.dtype())));
  }
  const View v = stored_view_of(t);
  t->storage->resizable = false;
  // A lone alias lives in the capsule: it shares the storage and nothing else of the tensor.
  const py::capsule owner(alias(t).detach_body(), [](void* body) {
    const Tensor last(Ref<Body>::adopt(static_cast<Body*>(body)));
  });
  return py::array(py::dtype(numpy_name(t.dtype())), shape, strides, v.data, owner);
}

py::object array_protocol(const Tensor& self, py::handle dtype, py::handle copy) {
  py::object a = to_numpy(self, false);
  if (!dtype.is_none()) return a.attr("astype")(dtype, py::arg("copy") = false);
  if (copy.ptr() == Py_True) return a.attr("copy")();
  return a;
}

}  // namespace

bool is_array(PyObject* o) {
  if (PyBytes_Check(o) || PyByteArray_Check(o) || PyList_Check(o) || PyTuple_Check(o)) return false;
  return is_numpy(o) && PyObject_CheckBuffer(o) && PyObject_HasAttrString(o, "dtype");
}

// Then a copy keeps the order of dimensions.
static bool has_positive_strides(const py::object& array) {
  const py::tuple shape = array.attr("shape"), strides = array.attr("strides");
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (py::cast<std::int64_t>(strides[d]) <= 0 && py::cast<std::int64_t>(shape[d]) != 1)
      return false;
  return true;
}

Tensor from_array(PyObject* o, bool copy) {
  py::object array = py::reinterpret_borrow<py::object>(o);
  const bool scalar = !PyObject_HasAttrString(o, "setflags") || !PySequence_Check(o);
  if (scalar || copy || !py::cast<bool>(array.attr("flags").attr("writeable"))) {
    // Negative strides and foreign byte order are NumPy's to undo.
    const py::object numpy = py::module_::import("numpy");
    const char* order = has_positive_strides(array) ? "K" : "C";
    array = numpy.attr("array")(array, py::arg("order") = order, py::arg("copy") = true);
    const py::object native = array.attr("dtype").attr("newbyteorder")("=");
    array = array.attr("astype")(native, py::arg("copy") = false);
  }
  bool readonly = false;
  const Tensor shared = share_array(array.ptr(), readonly);
  return readonly ? clone(shared) : shared;
}

void bind_numpy(py::module_& m) {
  op<&from_numpy>(m, "from_numpy(ndarray)", stored(As::function),
                  R"(A tensor on the memory of a NumPy array: changes of one are seen in the other.

Args:
    ndarray: the array.

Shape:
    that of ndarray.

Raises:
    TypeError: for anything but an array, and for dtypes that tensors lack.

>>> import numpy
>>> torch.from_numpy(numpy.arange(3))
tensor([0, 1, 2]))");
  op<&from_buffer>(m, "frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False)",
                   stored(As::function),
                   R"(A tensor on the memory of an object with the buffer protocol.

Args:
    buffer: bytes, a bytearray, an array, ...
    dtype: the dtype that the bytes are read as.
    count: how many elements; all that follow if negative.
    offset: how many bytes are skipped first.

Shape:
    the result is (count).

Raises:
    ValueError: an empty buffer, or a count or offset beyond it.

>>> torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16)
tensor([1, 2], dtype=torch.int16))");
  op<&to_numpy>(m, "numpy(self, *, force=False)", stored(As::method),
                R"(A NumPy array on the tensor's memory.

Args:
    force: whether to detach and to copy to the CPU first, where that is needed.

Shape:
    that of self.

Raises:
    TypeError: for a tensor on a GPU.
    RuntimeError: for a tensor that requires a gradient.

>>> torch.tensor([1, 2]).numpy()
array([1, 2]))");
  op<&array_protocol>(m, "__array__(self, dtype=None, copy=None)", stored(As::method));
}

}  // namespace rushlight::python
