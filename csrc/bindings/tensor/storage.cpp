// What the Python layer needs to copy, save and load tensors: their storages and their class.
// Note: `view_storage` gets what untrusted files say, so each of its arguments is checked.
#include <pybind11/pybind11.h>

#include "bindings/gil.h"
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "core/backend.h"
#include "core/computing.h"
#include "core/crc32.h"
#include "core/mapped_file.h"
#include "ops/view.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// The whole storage as uint8, whatever part of it the tensor shows.
Tensor storage_bytes(const Tensor& tensor) {
  const Shape size{std::int64_t(tensor.storage().bytes)};
  const std::int64_t stride = 1;
  return from_storage(tensor->storage, DType::uint8, size, &stride, 0);
}

// A storage of its own over some bytes of another one, which it keeps alive; on the CPU.
Tensor storage_part(const Tensor& tensor, std::int64_t begin, std::int64_t end) {
  check_alive(tensor);
  Storage& whole = tensor.storage();
  if (!tensor.device().is_cpu() || begin < 0 || begin % std::int64_t(kMaxItemSize) || end < begin ||
      std::size_t(end) > whole.bytes)
    fail<RuntimeError>("bytes ", begin, " to ", end, " are not an aligned part of a storage of ",
                       whole.bytes, " bytes on the CPU");
  whole.resizable = false;
  auto part = Storage::borrow(static_cast<char*>(whole.data) + begin, std::size_t(end - begin),
                              new Ref<Storage>(tensor->storage), [](Storage& s) noexcept {
                                delete static_cast<Ref<Storage>*>(s.owner);
                              });
  const std::int64_t stride = 1;
  return from_storage(std::move(part), DType::uint8, Shape{end - begin}, &stride, 0);
}

// The first bytes of a file, mapped; at least one.
Tensor mapped_file(const std::string& path, bool shared, std::int64_t bytes) {
  const std::int64_t stride = 1;
  return from_storage(map_file(path, shared, bytes), DType::uint8, Shape{bytes}, &stride, 0);
}

std::int64_t storage_id(const Tensor& tensor) {
  return std::int64_t(reinterpret_cast<std::intptr_t>(tensor->storage.get()));
}

// Elements of any dtype in the storage of another tensor, checked against its end.
Tensor view_storage(const Tensor& bytes, DType dtype, std::int64_t offset, Shape size,
                    Shape stride) {
  if (size.rank != stride.rank)
    fail<RuntimeError>("mismatch in length of strides and shape: size ", size, ", stride ", stride);
  for (const std::int64_t step : stride)
    if (step < 0)
      fail<RuntimeError>(
          "as_strided: Negative strides are not supported at the moment, got strides: ", stride);
  return from_storage(bytes->storage, dtype, size, stride.sizes.data(), offset);
}

// 0: no mapped file; 1: one that is only read; 2: one that is written to as well.
std::int64_t mapping(const Tensor& tensor) { return std::int64_t(mapping_of(tensor.storage())); }

bool is_resizable(const Tensor& tensor) { return tensor->storage->resizable; }

// Exports the bytes of a CPU storage through the buffer protocol.
py::object storage_memory(const Tensor& tensor) {
  check_alive(tensor);
  if (!tensor.device().is_cpu())
    fail<TypeError>("the bytes of a tensor on ", tensor.device(),
                    " cannot be seen; copy it with .cpu()");
  const py::object exporter = py::cast(StorageInUse(tensor->storage));
  return py::reinterpret_steal<py::object>(PyMemoryView_FromObject(exporter.ptr()));
}

// The CRC-32 of a bytes-like object, continued from `crc`.
std::uint32_t checksum(const py::object& data, std::uint32_t crc) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(data.ptr(), &buffer, PyBUF_SIMPLE) != 0) throw py::error_already_set();
  {
    const GilReleased unlocked;
    crc = crc32(crc, buffer.buf, std::size_t(buffer.len));
  }
  PyBuffer_Release(&buffer);
  return crc;
}

// Two Python objects exchange what they show; their classes and attributes are Python's affair.
void swap_bodies(const py::object& first, const py::object& second) {
  if (!as_tensor(first.ptr()) || !as_tensor(second.ptr()))
    fail<TypeError>("swap_tensors(): both arguments must be Tensor");
  auto* a = reinterpret_cast<Object*>(first.ptr());
  auto* b = reinterpret_cast<Object*>(second.ptr());
  if (a == b) return;
  if (!a->value || !b->value) fail<RuntimeError>("swap_tensors(): a tensor is not made yet");
  // What another thread computes with is kept until a later swap finds none computing: its
  // operation has these bodies by address, as their Python objects are held by its caller.
  static auto& kept = *new std::vector<Tensor>;
  std::vector<Tensor> done;
  if (computing_threads())
    kept.insert(kept.end(), {a->value, b->value});
  else
    std::swap(done, kept);
  std::swap(a->value, b->value);
  a->value->python = first.ptr();
  b->value->python = second.ptr();
  Py_CLEAR(a->shape);
  Py_CLEAR(b->shape);
}

// The same tensor as an object of a subclass; gradients flow through.
py::object as_subclass(const Tensor& tensor, const py::type& type) {
  auto* kind = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (!PyType_IsSubtype(kind, tensor_type)) fail<TypeError>("cls must be a subclass of Tensor");
  if (tensor->sparse)
    fail<NotImplementedError>("as_subclass(): sparse tensors have no subclasses in rushlight");
  Tensor view = make_view("AliasBackward0", tensor, alias(tensor),
                          [](Tensor g) { return Gradients(std::move(g)); });
  return py::reinterpret_steal<py::object>(wrap_as(kind, std::move(view)));
}

}  // namespace

void bind_storage(py::module_& m) {
  py::class_<StorageInUse>(m, "_StorageMemory", py::buffer_protocol())
      .def_buffer([](StorageInUse& memory) {
        Storage& s = *memory;
        return py::buffer_info(static_cast<std::uint8_t*>(s.data), py::ssize_t(s.bytes));
      });
  op<&storage_bytes>(m, "_storage_bytes(tensor)", stored(As::function));
  op<&storage_part>(m, "_storage_part(tensor, begin, end)", stored(As::function));
  op<&storage_id>(m, "_storage_id(tensor)", stored(As::function));
  op<&view_storage>(m, "_view_storage(bytes, dtype, offset, size, stride)", stored(As::function));
  op<&resize_storage>(m, "_resize_storage(tensor, nbytes)", stored(As::function));
  op<&mapping>(m, "_mapping(tensor)", stored(As::function));
  op<&is_resizable>(m, "_is_resizable(tensor)", stored(As::function));
  m.def("_storage_memory", &storage_memory);
  m.def("_map_file", [](const std::string& path, bool shared, std::int64_t bytes) {
    return py::reinterpret_steal<py::object>(wrap(mapped_file(path, shared, bytes)));
  });
  m.def("_as_subclass", &as_subclass);
  m.def("_swap_bodies", &swap_bodies);
  m.def("_crc32", &checksum, py::arg("data"), py::arg("crc") = 0);
}

}  // namespace rushlight::python
