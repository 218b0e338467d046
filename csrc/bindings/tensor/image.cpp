// The pixels that an image library lends through Arrow's C interface, and the rows of ops/pixels.h.
#include <pybind11/pybind11.h>
#include <string_view>

#include "bindings/gil.h"
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/pixels.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// The two structs of the interface, which never change: https://arrow.apache.org/docs/format
struct Schema {
  const char* format;
  const char *name, *metadata;
  std::int64_t flags, n_children;
  Schema** children;
  Schema* dictionary;
  void (*release)(Schema*);
  void* own;
};
struct Array {
  std::int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  Array** children;
  Array* dictionary;
  void (*release)(Array*);
  void* own;
};

template <class T>
T* opened(py::handle capsule, const char* name) {
  auto* const found = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!found) throw py::error_already_set();
  if (!found->release) fail<ValueError>("the ", name, " has been given away already");
  return found;
}

void drop(Storage& s) noexcept {
  if (!Py_IsInitialized()) return;
  const GilHeld gil;
  Py_DECREF(static_cast<PyObject*>(s.owner));
}

// The bytes of an array of uint8, or of lists of four of them; null for any other.
const void* bytes_of(const Schema& schema, const Array& array, std::int64_t& stored) {
  const bool in_fours = std::string_view(schema.format) == "+w:4";
  if (in_fours && (schema.n_children != 1 || array.n_children != 1)) return nullptr;
  const std::string_view format = in_fours ? schema.children[0]->format : schema.format;
  const Array& values = in_fours ? *array.children[0] : array;
  stored = in_fours ? 4 : 1;
  if (format != "C" || array.offset || values.offset || values.n_buffers != 2 ||
      values.length / stored < array.length)
    return nullptr;
  return values.buffers[1];
}

// None where the array is no such image. The tensor is on the library's memory and holds it.
py::object lent_pixels(py::handle schema, py::handle array, std::int64_t height,
                       std::int64_t width) {
  std::int64_t stored = 1;
  const Array& lent = *opened<Array>(array, "arrow_array");
  const void* const data = bytes_of(*opened<Schema>(schema, "arrow_schema"), lent, stored);
  if (!data || height < 1 || width < 1 || lent.length / width != height || lent.length % width)
    return py::none();
  PyObject* const owner = array.inc_ref().ptr();
  const std::size_t bytes = std::size_t(lent.length) * std::size_t(stored);
  auto storage = Storage::borrow(const_cast<void*>(data), bytes, owner, drop);
  const std::int64_t strides[] = {width * stored, stored, 1};
  return py::reinterpret_steal<py::object>(wrap(
      from_storage(std::move(storage), DType::uint8, Shape{height, width, stored}, strides, 0)));
}

}  // namespace

void bind_image(py::module_& m) {
  op<&lent_pixels>(m, "_lent_pixels(schema, array, height, width)", {.as = As::function},
                   "An image's bytes (height, width, 1 or 4), in the memory behind its Arrow "
                   "capsules; None for another layout.");
  op<&scaled_pixels>(
      m, "_scaled_pixels(pixels, channels)", {.as = As::function, .differentiable = false},
      "Bytes (height, width, stored) as floats (channels, height, width) in [0, 1].");
  op<&normalized_channels>(m, "_normalized_channels(input, mean, std)", {.as = As::function},
                           "(input - mean) / std: torchvision's normalize.");
}

}  // namespace rushlight::python
