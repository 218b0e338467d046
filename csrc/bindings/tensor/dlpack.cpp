// DLPack both ways: our memory lent in a capsule, and the memory of another library's capsule as a
// tensor. Note: a capsule may come from any library, so every number in it is checked
// before the capsule counts as taken; one that is refused still owns its memory and gives it back.
#include "dlpack.h"

#include <pybind11/pybind11.h>

#include "bindings/gil.h"
#include "bindings/module.h"
#include "ops/ops.h"
#include "python_tensor.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// ---- to others

dlpack::DataType type_of(DType d) {
  const auto bits = std::uint8_t(item_size(d) * 8);
  if (d == DType::boolean) return {dlpack::kBool, 8, 1};
  if (d == DType::bfloat16) return {dlpack::kBfloat, 16, 1};
  if (is_complex(d)) return {dlpack::kComplex, bits, 1};
  if (is_floating(d) && is_only_stored(d)) refuse_stored("__dlpack__", d);
  if (is_floating(d)) return {dlpack::kFloat, bits, 1};
  return {is_signed(d) ? dlpack::kInt : dlpack::kUInt, bits, 1};
}

// What a capsule of ours points to: the struct that others read, and what it refers to.
template <class M>
struct Lent {
  M managed{};
  Tensor tensor;  // an alias: it shares the storage and nothing else of the tensor
  Strides strides{};
};

template <class M>
py::object lend(const char* name, const Tensor& t, bool copied) {
  auto lent = std::make_unique<Lent<M>>();
  lent->tensor = alias(t);
  t->storage->resizable = false;
  for (int d = 0; d < t.dim(); ++d)  // the steps of dimensions of one element say nothing
    lent->strides[std::size_t(d)] = t->shape[d] <= 1 ? 1 : t->strides[std::size_t(d)];
  dlpack::Array& array = lent->managed.array;
  array.data = t.numel() ? stored_view_of(t).data : nullptr;
  array.device = {dlpack::kCpu, 0};
  array.rank = t.dim();
  array.dtype = type_of(t.dtype());
  array.shape = lent->tensor->shape.sizes.data();
  array.strides = lent->strides.data();
  lent->managed.owner = lent.get();
  lent->managed.deleter = [](M* m) { delete static_cast<Lent<M>*>(m->owner); };
  if constexpr (std::is_same_v<M, dlpack::ManagedVersioned>) {
    lent->managed.version = {1, 1};
    if (copied) lent->managed.flags = dlpack::kCopied;
  }
  // A consumer renames the capsule and then owns the memory; one that was not consumed frees it.
  PyObject* capsule = PyCapsule_New(&lent->managed, name, [](PyObject* c) {
    const char* now = PyCapsule_GetName(c);
    if (!now || std::string_view(now).starts_with("used_")) return;
    auto* m = static_cast<M*>(PyCapsule_GetPointer(c, now));
    if (m) m->deleter(m);
  });
  if (!capsule) throw py::error_already_set();
  (void)lent.release();
  return py::reinterpret_steal<py::object>(capsule);
}

// `t` lies on the CPU; the Python side has copied it there, or refused.
py::object to_dlpack(const Tensor& t, bool versioned, bool copied) {
  if (versioned) return lend<dlpack::ManagedVersioned>("dltensor_versioned", t, copied);
  return lend<dlpack::Managed>("dltensor", t, copied);
}

// ---- from others

DType dtype_of(const dlpack::DataType& type) {
  if (type.lanes != 1) fail<RuntimeError>("Unsupported lanes ", type.lanes, ": DLPack vectors");
  const int bits = type.bits;
  switch (type.code) {
    case dlpack::kBool:
      if (bits == 8) return DType::boolean;
      break;
    case dlpack::kUInt:
      if (bits == 8) return DType::uint8;
      if (bits == 16) return DType::uint16;
      if (bits == 32) return DType::uint32;
      if (bits == 64) return DType::uint64;
      break;
    case dlpack::kInt:
      if (bits == 8) return DType::int8;
      if (bits == 16) return DType::int16;
      if (bits == 32) return DType::int32;
      if (bits == 64) return DType::int64;
      break;
    case dlpack::kFloat:
      if (bits == 16) return DType::float16;
      if (bits == 32) return DType::float32;
      if (bits == 64) return DType::float64;
      break;
    case dlpack::kComplex:
      if (bits == 32) return DType::complex32;
      if (bits == 64) return DType::complex64;
      if (bits == 128) return DType::complex128;
      break;
    case dlpack::kBfloat:
      if (bits == 16) return DType::bfloat16;
      break;
    default: break;
  }
  const char* const names[] = {"kDLInt",    "kDLUInt",    "kDLFloat", "kDLOpaqueHandle",
                               "kDLBfloat", "kDLComplex", "kDLBool"};
  const std::string kind =
      type.code < std::size(names) ? names[type.code] : text("code ", int(type.code));
  fail<RuntimeError>(
      "Unsupported ", kind, " bits ", bits,
      "\nDLPack data become tensors of bool, uint8 to uint64, int8 to int64, float16, "
      "bfloat16, float32, float64 or complex numbers: convert them first");
}

struct Geometry {
  DType dtype = DType::float32;
  Shape shape;
  Strides strides{};
  char* data = nullptr;
  std::size_t bytes = 0;
};

Geometry checked(const dlpack::Array& a) {
  Geometry g;
  if (a.device.kind != dlpack::kCpu && a.device.kind != dlpack::kCudaHost)
    fail<RuntimeError>("Unsupported device_type: ", a.device.kind,
                       "\nthe DLPack data lie on device (", a.device.kind, ", ", a.device.index,
                       "); only memory of the CPU can be read: copy them there first");
  if (a.rank < 0) fail<RuntimeError>("a DLPack array with ", a.rank, " dimensions");
  if (a.rank > kMaxRank)
    fail<RuntimeError>("tensors here have at most ", kMaxRank, " dimensions, the DLPack array has ",
                       a.rank);
  if (a.rank && !a.shape)
    fail<RuntimeError>("a DLPack array of ", a.rank, " dimensions without sizes");
  g.dtype = dtype_of(a.dtype);
  g.shape = Shape(Sizes(a.shape, std::size_t(a.rank)));
  const std::int64_t numel = numel_of(g.shape);
  contiguous_strides(g.shape, g.strides);
  for (int d = 0; a.strides && d < a.rank; ++d) {
    if (g.shape[d] <= 1 || numel == 0) continue;
    if (a.strides[d] < 0)
      fail<ValueError>(
          "At least one stride in the given DLPack array is negative, and tensors with negative "
          "strides are not currently supported. (You can probably work around this by making a "
          "copy of your array.)\nstrides: ",
          Sizes(a.strides, std::size_t(a.rank)));
    g.strides[std::size_t(d)] = a.strides[d];
  }
  const auto item = std::int64_t(item_size(g.dtype));
  if (numel == 0) return g;
  const Extent extent = extent_of(g.shape, g.strides.data());
  g.bytes = std::size_t(checked_mul(checked_add(extent.high, 1), item));
  if (!a.data) fail<RuntimeError>("a DLPack array of ", numel, " elements without memory");
  const auto start = reinterpret_cast<std::uintptr_t>(a.data) + a.byte_offset;
  constexpr std::uintptr_t kEnd = std::uintptr_t(1) << 57;  // no address of a process is higher
  if (start < a.byte_offset || start > kEnd || g.bytes > kEnd - start)
    fail<RuntimeError>("a DLPack array beyond the end of memory: byte_offset ", a.byte_offset,
                       ", sizes ", g.shape, ", strides ",
                       Sizes(g.strides.data(), std::size_t(a.rank)));
  if (start % std::uintptr_t(item))
    fail<RuntimeError>("the DLPack data are not aligned to their element size, ", item,
                       " bytes: make a copy of the array");
  g.data = static_cast<char*>(a.data) + a.byte_offset;
  return g;
}

template <class M>
void release(Storage& s) noexcept {
  auto* managed = static_cast<M*>(s.owner);
  if (!managed->deleter || !Py_IsInitialized()) return;
  const GilHeld gil;
  managed->deleter(managed);
}

// The tensor owns what the capsule held, and the capsule's new name says so.
template <class M>
Tensor take(PyObject* capsule, const M& m, M* owned, const char* used) {
  const Geometry g = checked(m.array);
  if (PyCapsule_SetName(capsule, used) != 0) throw py::error_already_set();
  PyCapsule_SetDestructor(capsule, nullptr);
  auto storage = Storage::borrow(g.data, g.bytes, owned, release<M>);
  return from_storage(std::move(storage), g.dtype, g.shape, g.strides.data(), 0);
}

Tensor from_dlpack(const py::object& capsule, bool may_copy) {
  PyObject* c = capsule.ptr();
  if (PyCapsule_IsValid(c, "dltensor")) {
    auto* m = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(c, "dltensor"));
    return take(c, *m, m, "used_dltensor");
  }
  if (!PyCapsule_IsValid(c, "dltensor_versioned"))
    fail<RuntimeError>(
        "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only "
        "once, so you might have already constructed a tensor from it once.\nexpected an object "
        "with __dlpack__ or a capsule named \"dltensor\" or \"dltensor_versioned\", got ",
        Py_TYPE(c)->tp_name);
  auto* m = static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(c, "dltensor_versioned"));
  if (m->version.major != 1)  // what follows the version has an unknown layout
    fail<RuntimeError>("Unsupported DLPack version ", m->version.major, ".", m->version.minor,
                       ": this library reads version 1");
  if (m->flags & dlpack::kPaddedSubBytes)
    fail<RuntimeError>("DLPack data of less than a byte an element are not supported");
  if (!(m->flags & dlpack::kReadOnly)) return take(c, *m, m, "used_dltensor_versioned");
  checked(m->array);  // an error comes before the warning
  if (!may_copy)
    fail<ValueError>(
        "the DLPack array is read-only, and tensors can be written to: it can only become a tensor "
        "by a copy, which copy=False forbids");
  if (PyErr_WarnEx(PyExc_UserWarning,
                   "The given DLPack array is read-only, and tensors can be written to. Here the "
                   "data are copied.",
                   2))
    throw py::error_already_set();
  // A shared write could hit memory that is mapped read-only.
  return clone(take(c, *m, m, "used_dltensor_versioned"));
}

}  // namespace

void bind_dlpack(py::module_& m) {
  m.def("_to_dlpack", &to_dlpack);
  m.def("_from_dlpack", &from_dlpack);
}

}  // namespace rushlight::python
