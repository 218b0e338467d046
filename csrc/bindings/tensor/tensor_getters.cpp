// The attributes of Tensor.
#include <pybind11/pybind11.h>

#include "bindings/autograd/hooks.h"
#include "bindings/profile.h"
#include "bindings/table/signature.h"
#include "bindings/warnings.h"
#include "ops/ops.h"
#include "python_tensor.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

const Tensor& self_of(PyObject* o) { return reinterpret_cast<Object*>(o)->value; }

// A getter from a function of the tensor.
template <auto F>
PyObject* get(PyObject* self, void*) {
  try {
    PyObject* value = to_python(F(self_of(self)));
    if constexpr (std::is_same_v<decltype(F(self_of(self))), Tensor>)
      return kept_class(value, self);
    else
      return value;
  } catch (...) {
    return raise_current();
  }
}

// The torch.Size of an earlier call, if the sizes are still those: programs read it often.
PyObject* get_shape(PyObject* self, void*) {
  PyObject*& kept = reinterpret_cast<Object*>(self)->shape;
  const Shape& shape = self_of(self).shape();
  bool holds = kept && PyTuple_GET_SIZE(kept) == shape.rank;
  for (int d = 0; holds && d < shape.rank; ++d)
    holds = PyLong_AsLongLong(PyTuple_GET_ITEM(kept, d)) == shape[d];
  if (!holds) {
    PyObject* made = to_python(shape);
    if (!made) return nullptr;
    Py_XSETREF(kept, made);
  }
  return Py_NewRef(kept);
}
DType dtype(const Tensor& t) { return t.dtype(); }
Device device(const Tensor& t) { return t.device(); }
std::int64_t ndim(const Tensor& t) { return t.dim(); }
std::int64_t item_bytes(const Tensor& t) { return std::int64_t(item_size(t.dtype())); }
std::int64_t bytes(const Tensor& t) { return bytes_of(t.sizes(), t.dtype()); }
std::int64_t version(const Tensor& t) {
  if (t->inference) fail<RuntimeError>("Inference tensors do not track version counter.");
  return t->version();
}
std::int64_t output_nr(const Tensor& t) { return t->output; }
bool is_leaf_tensor(const Tensor& t) { return !grad_fn(*t.body()); }
bool records(const Tensor& t) { return wants_grad(t); }
bool retains(const Tensor& t) { return t->retains_grad; }
bool on_cuda(const Tensor& t) { return t.device().is_cuda(); }
bool on_cpu(const Tensor& t) { return t.device().is_cpu(); }
bool on_meta(const Tensor& t) { return t.device().is_meta(); }
bool never(const Tensor&) { return false; }
PyObject* get_none(PyObject*, void*) { Py_RETURN_NONE; }
Tensor base(const Tensor& t) { return t->base ? Tensor(t->base) : Tensor(); }
PyObject* get_grad(PyObject* self, void*) {
  const Tensor& t = self_of(self);
  const Tensor grad = grad_of(t);
  if (!grad && t->node && !t->retains_grad && grad_fn(*t.body())) [[unlikely]] {
    constexpr const char* words =
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
        "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. "
        "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor "
        "instead.";
    if (PyErr_WarnEx(PyExc_UserWarning, words, 1) != 0) return nullptr;
  }
  try {
    return to_python(grad);
  } catch (...) {
    return raise_current();
  }
}
Tensor reversed(const Tensor& t) {
  static bool of_number = false, of_many = false;
  if (t.dim() == 0 &&
      !warn_once(of_number,
                 "Tensor.T is deprecated on 0-D tensors. This function is the identity in these "
                 "cases."))
    throw py::error_already_set();
  if (t.dim() != 0 && t.dim() != 2 &&
      !warn_once(of_many,
                 "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
                 "deprecated and it will throw an error in a future release. Consider `x.mT` to "
                 "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` "
                 "to reverse the dimensions of a tensor."))
    throw py::error_already_set();
  Shape dims;
  for (int d = t.dim() - 1; d >= 0; --d) dims.push_back(d);
  return permute(t, dims);
}
// The properties below are the identity on 0-d tensors, and say once that this is deprecated.
const Tensor& scalar_itself(const Tensor& t, bool& said, const char* words) {
  if (!warn_once(said, words)) throw py::error_already_set();
  return t;
}
Tensor swap_last(const Tensor& t, const char* name) {
  if (t.dim() < 2)
    fail<RuntimeError>("tensor.", name, " is only supported on matrices or batches of matrices. ",
                       "Got ", t.dim(), "-D tensor.");
  return transpose(t, -2, -1);
}
Tensor matrix_transpose(const Tensor& t) {
  static bool said = false;
  if (t.dim()) return swap_last(t, "mT");
  return scalar_itself(t, said,
                       "Tensor.mT is deprecated on 0-D tensors. This function is the identity in "
                       "these cases.");
}
Tensor matrix_adjoint(const Tensor& t) {
  static bool said = false;
  if (t.dim()) return conj(swap_last(t, "mH"));
  if (is_complex(t.dtype())) return conj(t);
  return scalar_itself(t, said, "Tensor.mH is deprecated on 0-D tensors. Consider using x.conj().");
}
Tensor adjoint_2d(const Tensor& t) {
  static bool said = false;
  if (t.dim() == 2) return conj(transpose(t, 0, 1));
  if (t.dim() == 0 && is_complex(t.dtype())) return conj(t);
  if (t.dim())
    fail<RuntimeError>("tensor.H is only supported on matrices (2-D tensors). Got ", t.dim(),
                       "-D tensor.",
                       t.dim() > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  return scalar_itself(t, said, "Tensor.H is deprecated on 0-D tensors. Consider using x.conj().");
}

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  try {
    const Tensor& t = self_of(self);
    if (value != Py_True && value != Py_False) fail<RuntimeError>("requires_grad must be a bool");
    const bool wanted = value == Py_True;
    if (!is_leaf_tensor(t)) {
      if (wanted) return 0;
      fail<RuntimeError>(
          "you can only change requires_grad flags of leaf variables. If you want to "
          "use a computed variable in a subgraph that doesn't require "
          "differentiation use var_no_grad = var.detach().");
    }
    if (wanted && !is_differentiable(t.dtype()))
      fail<RuntimeError>("only Tensors of floating point dtype can require gradients");
    if (wanted && t->inference && !inference_enabled())
      fail<RuntimeError>(
          "Setting requires_grad=True on inference tensor outside InferenceMode is "
          "not allowed.");
    t->requires_grad = wanted;
    return 0;
  } catch (...) {
    raise_current();
    return -1;
  }
}

// How torch's messages name the dtype of a gradient: by C++'s type.
const char* type_name(DType d) {
  switch (d) {
    case DType::float32: return "float";
    case DType::float64: return "double";
    case DType::float16: return "c10::Half";
    case DType::bfloat16: return "c10::BFloat16";
    case DType::complex64: return "c10::complex<float>";
    case DType::complex128: return "c10::complex<double>";
    default: return scalar_name(d);
  }
}

// The dtype that gradients of a leaf have; none: any.
std::optional<DType> grad_dtype_of(const Tensor& t) {
  if (t->node && is_leaf(*t.body())) {
    const auto& node = static_cast<const AccumulateGrad&>(*t->node);
    if (node.any_dtype) return {};
    if (node.casts) return node.grad_dtype;
  }
  return t.dtype();
}

PyObject* get_grad_dtype(PyObject* self, void*) {
  try {
    const Tensor& t = self_of(self);
    if (!is_leaf_tensor(t)) fail<RuntimeError>("grad_dtype can only be accessed on leaf tensors.");
    const std::optional<DType> dtype = grad_dtype_of(t);
    return dtype ? to_python(*dtype) : Py_NewRef(Py_None);
  } catch (...) {
    return raise_current();
  }
}

int set_grad_dtype(PyObject* self, PyObject* value, void*) {
  try {
    const Tensor& t = self_of(self);
    if (!is_leaf_tensor(t)) fail<RuntimeError>("grad_dtype can only be set on leaf tensors.");
    const bool reset = !value;  // `del`: the tensor's own again
    DType dtype = t.dtype();
    const bool any = value == Py_None;
    if (!reset && !any && !Argument<DType>::read(value, dtype))
      fail<RuntimeError>("grad_dtype must be a torch.dtype or None, but got ",
                         Py_TYPE(value)->tp_name);
    if (const Tensor grad = grad_of(t); grad && !any && grad.dtype() != dtype)
      fail<RuntimeError>("Cannot set grad_dtype to '", scalar_name(dtype),
                         "' because there is already a gradient with dtype '",
                         type_name(grad.dtype()),
                         "'. Please clear the gradient (.grad = None) before changing grad_dtype, "
                         "or ensure the new grad_dtype matches the existing gradient's dtype.");
    if (reset && !t->node) return 0;
    AccumulateGrad* node = accumulator(*t.body());
    node->any_dtype = any;
    node->casts = !any && !reset;
    node->grad_dtype = dtype;
    return 0;
  } catch (...) {
    raise_current();
    return -1;
  }
}

int assign_grad(PyObject* self, PyObject* value, void*) {
  try {
    const Tensor& t = self_of(self);
    if (!value || value == Py_None) {
      set_grad(t, {});
      return 0;
    }
    const Tensor* grad = as_tensor(value);
    if (!grad)
      fail<TypeError>("assigned grad expected to be a Tensor or None but got grad of type ",
                      Py_TYPE(value)->tp_name);
    if (grad->is_same(t)) fail<RuntimeError>("can't assign Variable as its own grad");
    const std::optional<DType> wanted = grad_dtype_of(t);
    if (wanted && grad->dtype() != *wanted)
      fail<RuntimeError>(
          "attempting to assign a gradient with dtype '", type_name(grad->dtype()),
          "' to a tensor with grad_dtype '", scalar_name(*wanted),
          "'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). "
          "You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow "
          "any dtype.");
    if (grad->device() != t.device())
      fail<RuntimeError>(
          "attempting to assign a gradient with device '", grad->device(),
          "' to a tensor with device '", t.device(),
          "'. Please ensure that the gradient and the tensor are on the same device");
    if (!same(grad->sizes(), t.sizes()))
      fail<RuntimeError>("attempting to assign a gradient of size '", grad->sizes(),
                         "' to a tensor of size '", t.sizes(),
                         "'. Please ensure that the gradient and the tensor are the same size");
    set_grad(t, *grad);
    return 0;
  } catch (...) {
    raise_current();
    return -1;
  }
}

PyObject* get_grad_fn(PyObject* self, void*) {
  try {
    Node* node = grad_fn(*self_of(self).body());
    if (!node) Py_RETURN_NONE;
    track(self_of(self));  // what the user puts there may refer to self
    return node_object(*node).release().ptr();
  } catch (...) {
    return raise_current();
  }
}

PyObject* get_hooks(PyObject* self, void*) {
  try {
    return hooks_of_tensor(self_of(self)).release().ptr();
  } catch (...) {
    return raise_current();
  }
}

PyObject* get_data(PyObject* self, void*) {
  try {
    Tensor out = alias(self_of(self));
    out->writes = Ref<WriteCount>::adopt(new WriteCount);
    return kept_class(wrap(std::move(out)), self);
  } catch (...) {
    return raise_current();
  }
}
// Written as x.real[...] = value is; what is recorded makes the whole number anew.
template <auto Part, bool is_real>
int set_part(PyObject* self, PyObject* value, void*) {
  try {
    if (!value) fail<AttributeError>("the parts of a tensor cannot be deleted");
    const Tensor& t = self_of(self);
    const Tensor* from = as_tensor(value);
    const bool records_it =
        is_complex(t.dtype()) && grad_enabled() && (wants_grad(t) || (from && wants_grad(*from)));
    const Tensor part = records_it ? clone(Part(t)) : Part(t);
    const auto shown = py::reinterpret_steal<py::object>(wrap(part));
    if (!shown || PyObject_SetItem(shown.ptr(), Py_Ellipsis, value)) return -1;
    if (records_it) copy_(t, is_real ? complex_of(part, imag(t)) : complex_of(real(t), part));
    return 0;
  } catch (...) {
    raise_current();
    return -1;
  }
}
// The tensor keeps its identity and its history, and shows other elements from now on.
int set_data(PyObject* self, PyObject* value, void*) {
  try {
    const Tensor* from = value ? as_tensor(value) : nullptr;
    if (!from)
      fail<TypeError>("Variable data has to be a tensor, but got ",
                      value ? Py_TYPE(value)->tp_name : "nothing");
    Body& b = *self_of(self).body();
    const Body& f = *from->body();
    if (b.requires_grad && !is_differentiable(f.dtype))
      fail<RuntimeError>(
          "data set to a tensor that requires gradients must be floating point or complex dtype");
    if ((b.device.type == DeviceType::meta) != (f.device.type == DeviceType::meta))
      fail<RuntimeError>(
          "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
          "incompatible tensor type.\n",
          describe("variable", self_of(self)), "; ", describe("tensor", *from),
          "\nassign a new tensor: one without values stays without");
    // A node may have saved this body: what it reads at backward must not be of another geometry
    // unnoticed, so the new storage's version is one that no one can have saved from the old.
    const bool is_alike = b.dtype == f.dtype && b.device == f.device &&
                          same(self_of(self).sizes(), from->sizes()) &&
                          same(self_of(self).strides(), from->strides());
    // Its grad_fn makes gradients for the shape it had.
    if (!is_alike && grad_fn(b) &&
        (!same(self_of(self).sizes(), from->sizes()) || b.dtype != f.dtype || b.device != f.device))
      fail<RuntimeError>("data of a result with history can only be replaced by its like\n",
                         describe("self", self_of(self)), "; ", describe("data", *from),
                         "\ncall detach_() first, or assign to a new name");
    if (!b.is_unique())
      f.storage->version = std::max(f.storage->version, b.version()) + (is_alike ? 0u : 1u);
    b.writes = nullptr;
    b.dtype = f.dtype;
    b.device = f.device;
    b.contiguous = f.contiguous;
    b.shape = f.shape;
    b.strides = f.strides;
    b.numel = f.numel;
    b.offset = f.offset;
    b.storage = f.storage;
    b.base = nullptr;
    b.unrecorded = Unrecorded::none;
    return 0;
  } catch (...) {
    raise_current();
    return -1;
  }
}

PyObject* get_layout(PyObject*, void*) {
  static PyObject* strided = PyObject_GetAttrString(PyImport_AddModule("rushlight._C"), "strided");
  return Py_XNewRef(strided);
}

}  // namespace

std::vector<PyGetSetDef> tensor_getters() {
  const auto read = [](const char* name, getter g, const char* doc) {
    return PyGetSetDef{name, g, nullptr, doc, nullptr};
  };
  return {
      read("shape", get_shape, "The sizes, as torch.Size."),
      read("dtype", get<dtype>, "The type of the elements."),
      read("device", get<device>, "Where the elements are."),
      read("ndim", get<ndim>, "The number of dimensions."),
      read("name", get_none, "Always None: variables have no names."),
      read("itemsize", get<item_bytes>, "Bytes per element."),
      read("nbytes", get<bytes>, "Bytes of all elements."),
      read("is_leaf", get<is_leaf_tensor>, "True where no recorded operation made the tensor."),
      read("retains_grad", get<retains>, "True after retain_grad() on a tensor that is no leaf."),
      read("output_nr", get<output_nr>, "Which output of grad_fn the tensor is."),
      read("_version", get<version>, "How often the elements were written to in place."),
      read("_base", get<base>, "The tensor that this one is a view of, or None."),
      read("is_cuda", get<on_cuda>, "True on a GPU, real or virtual."),
      read("is_cpu", get<on_cpu>, "True in host memory."),
      read("is_meta", get<on_meta>, "True for a tensor without data."),
      read("is_sparse", get<never>, "Whether it is a sparse tensor in coordinate form."),
      read("is_sparse_csr", get<never>, "Whether it is a sparse tensor in compressed form."),
      read("is_quantized", get<never>, "Always False: there are no quantized tensors here."),
      read("is_mps", get<never>, "Always False."),
      read("is_xpu", get<never>, "Always False."),
      read("is_mtia", get<never>, "Always False."),
      read("is_xla", get<never>, "Always False."),
      read("is_ipu", get<never>, "Always False."),
      read("is_maia", get<never>, "Always False."),
      read("is_vulkan", get<never>, "Always False."),
      read("is_mkldnn", get<never>, "Always False."),
      read("is_nested", get<never>, "Always False."),
      read("layout", get_layout, "How the elements are kept."),
      read("T", get<reversed>, "The view with all dimensions reversed."),
      read("mT", get<matrix_transpose>, "The view with the last two dimensions swapped."),
      read("H", get<adjoint_2d>, "The transposed matrix."),
      read("mH", get<matrix_adjoint>, "The view with the last two dimensions swapped."),
      {"real", get<real>, set_part<real, true>, "The real parts; a real tensor itself.", nullptr},
      {"imag", get<imag>, set_part<imag, false>, "The imaginary parts of a complex tensor.",
       nullptr},
      read("grad_fn", get_grad_fn, "The recorded operation that made the tensor, or None."),
      read("_backward_hooks", get_hooks, "The functions of register_hook(), or None."),
      {"requires_grad", get<records>, set_requires_grad,
       "Whether operations on the tensor are recorded.", nullptr},
      {"grad", get_grad, assign_grad, "The gradient that backward() has left, or None.", nullptr},
      {"grad_dtype", get_grad_dtype, set_grad_dtype,
       "The dtype that gradients are cast to as they arrive; None: any is kept.", nullptr},
      {"_grad", get_grad, assign_grad, "The attribute grad, under an older name.", nullptr},
      {"data", get_data, set_data, "The same elements without history; can be replaced.", nullptr},
  };
}

// ---- properties of classes with __torch_function__

namespace {

struct Property {
  PyGetSetDef* definition;
  getter get;
  setter set;
  void* closure;
};

// `method` of the property's descriptor: what torch gives for it is Tensor.shape.__get__.
PyObject* hand_over_property(const Property& p, const char* method, PyObject* const* args,
                             Py_ssize_t n) {
  const auto descriptor = py::reinterpret_steal<py::object>(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), p.definition->name));
  if (!descriptor) return nullptr;
  const auto function =
      py::reinterpret_steal<py::object>(PyObject_GetAttrString(descriptor.ptr(), method));
  return function ? hand_over(function.ptr(), nullptr, args, n, nullptr) : nullptr;
}
PyObject* watched_get(PyObject* self, void* closure) {
  const Property& p = *static_cast<const Property*>(closure);
  if (overriding && is_taken_over(self, nullptr, 0))
    return hand_over_property(p, "__get__", &self, 1);
  return p.get(self, p.closure);
}
int watched_set(PyObject* self, PyObject* value, void* closure) {
  const Property& p = *static_cast<const Property*>(closure);
  PyObject* const args[] = {self, value};
  if (!overriding || !is_taken_over(self, &value, value ? 1 : 0))
    return p.set(self, value, p.closure);
  PyObject* result = hand_over_property(p, value ? "__set__" : "__delete__", args, value ? 2 : 1);
  Py_XDECREF(result);
  return result ? 0 : -1;
}
std::vector<Property>& properties() {
  static auto& all = *new std::vector<Property>;
  return all;
}

}  // namespace

void watch_getters(std::span<PyGetSetDef> definitions) {
  for (PyGetSetDef& d : definitions) properties().push_back({&d, d.get, d.set, d.closure});
  add_watched([](bool watched) {
    for (Property& p : properties()) {
      p.definition->get = watched ? watched_get : p.get;
      if (p.set) p.definition->set = watched ? watched_set : p.set;
      p.definition->closure = watched ? &p : p.closure;
    }
  });
}

}  // namespace rushlight::python
