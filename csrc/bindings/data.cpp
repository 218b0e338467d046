// Python data as tensors: numbers, nested sequences, arrays. Note: converting an
// item may run Python, which may change the sequence that is being read.
#include "bindings/data.h"

#include <cmath>
#include <limits>

#include "bindings/table/signature.h"
#include "kernels/parallel.h"
#include "kernels/stored.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// What kind of numbers a nest of lists holds: bool < int < float < complex, as torch infers.
enum class Kind { none, boolean, integer, floating, complex };

bool is_sequence(PyObject* o) {
  return PyList_Check(o) || PyTuple_Check(o) ||
         (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o) && !as_tensor(o));
}

void check_whole(Scalar value, DType dtype) {
  if (holds(dtype, value)) return;
  fail<RuntimeError>("value cannot be converted to type ", dtype_name(dtype),
                     " without overflow\nthe value is ", value.as_double());
}

// Reads nested sequences twice: once for shape and kind, once for the values. Items are held while
// they are converted, and sizes looked at again, as a conversion may run Python.
class Nest {
 public:
  explicit Nest(PyObject* root) : root_(root) { measure(); }
  const Shape& shape() const { return shape_; }
  // Python's numbers count as their kind, tensors and NumPy's scalars as their own dtype.
  DType dtype() const {
    const DType of_kind = kind_ == Kind::boolean   ? DType::boolean
                          : kind_ == Kind::integer ? DType::int64
                          : kind_ == Kind::complex ? complex_of(default_dtype())
                                                   : default_dtype();
    if (!has_own_dtype_) return of_kind;
    return kind_ == Kind::none ? own_dtype_ : promote_types(own_dtype_, of_kind);
  }

  template <class S>
  void fill(S* out, DType dtype) {
    walk(root_, 0, [&](PyObject* o) {
      Scalar s;
      if (PyLong_Check(o))
        read_long(o, is_floating(dtype), s);
      else
        read_scalar(o, s);
      if constexpr (std::is_integral_v<S>) check_whole(s, dtype);
      store(out++, s.to<Compute<S>>());
    });
  }

  // The same for a dtype that is only stored.
  void fill_stored(char* out, DType dtype) {
    walk(root_, 0, [&](PyObject* o) {
      const Element e = element_of(o, dtype);
      out = std::copy_n(reinterpret_cast<const char*>(e.bytes), item_size(dtype), out);
    });
  }

 private:
  static Element element_of(PyObject* o, DType dtype) {
    Element e;
    if (is_complex(dtype)) {
      const Py_complex v = PyComplex_AsCComplex(o);
      if (v.real == -1.0 && PyErr_Occurred()) throw py::error_already_set();
      dispatch_stored(dtype,
                      WriteStored<Complex<double>>{e.bytes, 0, Complex<double>{v.real, v.imag}});
      return e;
    }
    if (dtype == DType::uint64 && PyLong_Check(o)) {
      const std::uint64_t v = PyLong_AsUnsignedLongLong(o);
      if (PyErr_Occurred()) throw py::error_already_set();
      dispatch_stored(dtype, WriteStored<std::uint64_t>{e.bytes, 0, v});
      return e;
    }
    if (dtype == DType::uint64 && PyFloat_Check(o)) fail<TypeError>("an integer is required");
    Scalar s;
    if (PyLong_Check(o))
      read_long(o, is_floating(dtype), s);
    else
      read_scalar(o, s);
    if (is_integral(dtype)) check_whole(s, dtype);
    return Element(s, dtype);
  }

  void measure() {
    py::object o = py::reinterpret_borrow<py::object>(root_);
    while (is_sequence(o.ptr())) {
      const Py_ssize_t n = PySequence_Size(o.ptr());
      if (n < 0) {
        PyErr_Clear();
        break;
      }
      if (shape_.rank == kMaxRank)
        fail<ValueError>("too many dimensions '", Py_TYPE(o.ptr())->tp_name, "'");
      shape_.push_back(n);
      if (n == 0) break;
      PyObject* first = PySequence_GetItem(o.ptr(), 0);
      if (!first) throw py::error_already_set();
      o = py::reinterpret_steal<py::object>(first);
    }
    walk(root_, 0, [&](PyObject* item) { look_at(item); });
  }

  void look_at(PyObject* o) {
    is_first_ = !seen_;
    seen_ = true;
    Kind k;
    if (PyFloat_CheckExact(o))
      k = Kind::floating;
    else if (PyBool_Check(o))
      k = Kind::boolean;
    else if (PyLong_Check(o))
      k = Kind::integer;
    else
      k = kind_of_rare(o);
    kind_ = std::max(kind_, k);
  }
  Kind kind_of_rare(PyObject* o) {
    if (const Tensor* t = as_tensor(o)) {
      if (t->numel() != 1) {
        if (is_floating(t->dtype()) || kind_ == Kind::floating)
          fail<ValueError>("only one element tensors can be converted to Python scalars");
        fail<TypeError>(
            "only integer tensors of a single element can be converted to an index\njoin tensors "
            "with torch.stack(tensors)");
      }
      return own(t->dtype());
    }
    if (is_array(o)) return own(from_array(o, true).dtype());  // a NumPy scalar
    if (PyFloat_Check(o)) return Kind::floating;
    if (PyComplex_Check(o)) return Kind::complex;
    bool truth;
    if (Argument<bool>::read_slowly(o, truth)) return Kind::boolean;
    if (PyUnicode_Check(o) && shape_.rank > 0 && is_first_)
      fail<ValueError>("too many dimensions 'str'");
    if (PyUnicode_Check(o) || PyBytes_Check(o))
      fail<TypeError>("new(): invalid data type '", Py_TYPE(o)->tp_name,
                      "'\nstrings are no numbers: encode them first");
    if (o == Py_None) fail<RuntimeError>("Could not infer dtype of NoneType");
    if (PyIndex_Check(o)) return Kind::integer;
    double d;
    if (Argument<double>::read(o, d)) return Kind::floating;
    fail<RuntimeError>("Could not infer dtype of ", Py_TYPE(o)->tp_name);
  }

  [[noreturn]] void fail_depth(int d, PyObject* o) {
    const char* got = Py_TYPE(o)->tp_name;
    const std::string words = kind_ == Kind::floating
                                  ? text("must be real number, not ", got)
                                  : text("'", got, "' object cannot be interpreted as an integer");
    fail<TypeError>(words, "\nexpected a number at depth ", d, " of the nested sequences");
  }

  Kind own(DType d) {
    own_dtype_ = has_own_dtype_ ? promote_types(own_dtype_, d) : d;
    has_own_dtype_ = true;
    return Kind::none;
  }

  static void read_long(PyObject* o, bool as_float, Scalar& s) {
    int overflow;
    s = Scalar(std::int64_t(PyLong_AsLongLongAndOverflow(o, &overflow)));
    if (PyBool_Check(o)) s = Scalar(o == Py_True);
    if (!overflow) return;
    PyErr_Clear();
    if (!as_float)
      fail<ValueError>("Overflow when unpacking long long\nthe integer does not fit 64 bits");
    s = Scalar(PyLong_AsDouble(o));
    if (PyErr_Occurred()) throw py::error_already_set();
  }
  static void read_scalar(PyObject* o, Scalar& s) {
    if (const Tensor* t = as_tensor(o)) {
      s = item(*t);
      return;
    }
    if (!Argument<Scalar>::read(o, s))
      fail<TypeError>("must be real number, not ", Py_TYPE(o)->tp_name);
  }

  template <class F>
  void walk(PyObject* o, int d, const F& leaf) {
    if (d == shape_.rank) {
      if (is_sequence(o) && PySequence_Size(o) >= 0) fail_depth(d, o);
      PyErr_Clear();
      return leaf(o);
    }
    const Py_ssize_t n = is_sequence(o) ? PySequence_Size(o) : -1;
    if (n < 0) {
      PyErr_Clear();
      fail<TypeError>("not a sequence: expected a list of length ", shape_[d], " at dim ", d,
                      ", but got ", Py_TYPE(o)->tp_name);
    }
    if (n != shape_[d])
      fail<ValueError>("expected sequence of length ", shape_[d], " at dim ", d, " (got ", n, ")");
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (i % 1024 == 1023) check_interrupt();
      PyObject* item;
      if (PyList_Check(o)) {
        item = i < PyList_GET_SIZE(o) ? Py_NewRef(PyList_GET_ITEM(o, i)) : nullptr;
        if (!item) fail<RuntimeError>("the list changed while it was read");
      } else {
        item = PySequence_GetItem(o, i);
        if (!item) throw py::error_already_set();
      }
      const auto held = py::reinterpret_steal<py::object>(item);
      walk(item, d + 1, leaf);
    }
  }

  PyObject* root_;
  Shape shape_;
  Kind kind_ = Kind::none;
  DType own_dtype_ = DType::float32;
  bool has_own_dtype_ = false, seen_ = false, is_first_ = true;
};

// Once in a process, as torch says it.
void warn_of_arrays(PyObject* data) {
  static bool done = false;
  if (done || (!PyList_Check(data) && !PyTuple_Check(data))) return;
  if (PySequence_Fast_GET_SIZE(data) == 0 || !is_array(PySequence_Fast_GET_ITEM(data, 0))) return;
  if (!PySequence_Check(PySequence_Fast_GET_ITEM(data, 0))) return;
  done = true;
  if (PyErr_WarnEx(PyExc_UserWarning,
                   "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please "
                   "consider converting the list to a single numpy.ndarray with numpy.array() "
                   "before converting to a tensor.",
                   1) != 0)
    throw py::error_already_set();
}

Tensor from_sequence(PyObject* data, std::optional<DType> dtype) {
  warn_of_arrays(data);
  Nest nest(data);
  const DType d = dtype ? *dtype : nest.dtype();
  Tensor out = empty(nest.shape(), d);
  if (out.numel() == 0) return out;
  if (d == DType::float4_e2m1fn_x2)
    fail<RuntimeError>("store_scalar: invalid type\n", d,
                       " holds two numbers in a byte: make a tensor of uint8 and .view() it");
  if (is_only_stored(d))
    nest.fill_stored(stored_view_of(out).as<char>(), d);
  else
    dispatch_all(d, [&]<class S>(Type<S>) { nest.fill(view_of(out).as<S>(), d); });
  return out;
}

}  // namespace

py::object python_number(const Tensor& t, std::int64_t offset) {
  if (is_complex(t.dtype())) {
    const auto v = element_of(t, offset).as<Complex<double>>(t.dtype());
    return py::reinterpret_steal<py::object>(PyComplex_FromDoubles(v.real, v.imag));
  }
  if (t.dtype() == DType::uint64)
    return py::int_(element_of(t, offset).as<std::uint64_t>(t.dtype()));
  return py::reinterpret_steal<py::object>(to_python(element(t, offset)));
}
bool is_complex_number(PyObject* o) {
  return PyComplex_Check(o) || std::string_view(Py_TYPE(o)->tp_name) == "numpy.complex64";
}
PyObject* complex_as_tensor(PyObject* o) {
  const Py_complex v = PyComplex_AsCComplex(o);
  if (v.real == -1.0 && PyErr_Occurred()) return nullptr;
  const Tensor t = empty({}, DType::complex128);
  store(stored_view_of(t).as<Complex<double>>(), Complex<double>{v.real, v.imag});
  t->number = true;
  return wrap(t);
}
bool is_true(const Tensor& t) {
  if (is_only_stored(t.dtype())) return element_of(t, t.offset()).as<bool>(t.dtype());
  return item(t).to<bool>();
}

// Whether it is another library's array, by DLPack; asked of the type, as for storages.
static bool lends_memory(PyObject* o) {
  const bool usual = PyList_CheckExact(o) || PyTuple_CheckExact(o) || PyFloat_CheckExact(o) ||
                     PyLong_CheckExact(o);
  return !usual && PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__dlpack__");
}

Tensor data_of(PyObject* data, std::optional<DType> dtype, bool copy) {
  if (is_array(data)) {
    Tensor out = from_array(data, copy);
    return dtype ? to(out, *dtype) : out;
  }
  if (is_storage(data)) {
    const Tensor out = elements_of_storage(data, dtype);
    return copy ? clone(out) : out;
  }
  if (lends_memory(data)) {
    const auto dlpack =
        py::reinterpret_steal<py::object>(PyImport_ImportModule("rushlight.utils.dlpack"));
    if (!dlpack) throw py::error_already_set();
    const py::object made = dlpack.attr("from_dlpack")(py::handle(data));
    const auto seen = made.cast<Tensor>();
    const Tensor out = dtype ? to(seen, *dtype) : seen;
    return copy && &out.storage() == &seen.storage() ? clone(out) : out;
  }
  return from_sequence(data, dtype);
}

bool is_storage(PyObject* o) {
  const bool usual = PyList_CheckExact(o) || PyTuple_CheckExact(o) || PyFloat_CheckExact(o) ||
                     PyLong_CheckExact(o);
  // Of the type: a mock has attributes of every name.
  return !usual && PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), "_elements_as");
}

Tensor elements_of_storage(PyObject* o, std::optional<DType> dtype) {
  const auto wanted =
      dtype ? py::reinterpret_steal<py::object>(to_python(*dtype)) : py::object(py::none());
  return py::reinterpret_borrow<py::object>(o).attr("_elements_as")(wanted).cast<Tensor>();
}

}  // namespace rushlight::python
