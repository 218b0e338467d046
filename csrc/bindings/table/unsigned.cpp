// What moves such elements is called with their bits; what orders them, with bits of which the
// first is turned over, so that a greater number stays the greater one; what torch computes as
// int64 or as floats, with those.
#include "unsigned.h"

#include <algorithm>

#include "bindings/data.h"
#include "ops/ops.h"
#include "ops/pointwise/checks.h"
#include "ops/pointwise/pointwise.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

enum class Way : std::uint8_t {
  bits,
  order,
  longs,         // but for floats of numbers beyond int64
  floats,
  doubles,
  beside_floats,  // floats where another argument is one
  in_dtype,       // floats where dtype= asks for them
};
struct Known {
  std::string_view name;
  Way way;
  bool results[2] = {true, true};  // of bits and order: which of them are such numbers again
};
constexpr Known kKnown[] = {
    {"sort", Way::order, {true, false}},
    {"argsort", Way::order, {false, false}},
    {"msort", Way::order},
    {"unique", Way::order, {true, false}},
    {"unique_consecutive", Way::order, {true, false}},
    {"isin", Way::bits, {false, false}},
    {"constant_pad_nd", Way::bits},
    {"_pad_circular", Way::bits},
    {"diag", Way::bits},
    {"diagflat", Way::bits},
    {"diag_embed", Way::bits},
    {"repeat_interleave", Way::bits},
    {"embedding", Way::bits},
    {"index_select", Way::bits},
    {"select_scatter", Way::bits},
    {"slice_scatter", Way::bits},
    {"diagonal_scatter", Way::bits},
    {"as_strided_scatter", Way::bits},
    {"positive", Way::bits},
    {"round", Way::bits},
    {"round_", Way::bits},
    {"nan_to_num", Way::bits},
    {"nan_to_num_", Way::bits},
    {"cartesian_prod", Way::bits},
    {"meshgrid", Way::bits},
    {"block_diag", Way::bits},
    {"atleast_1d", Way::bits},
    {"atleast_2d", Way::bits},
    {"atleast_3d", Way::bits},
    {"outer", Way::bits},
    {"kron", Way::bits},
    {"prod", Way::longs},
    {"cumsum", Way::longs},
    {"cumprod", Way::longs},
    {"nansum", Way::longs},
    {"any", Way::longs},
    {"all", Way::longs},
    {"count_nonzero", Way::longs},
    {"logit", Way::floats},
    {"polygamma", Way::floats},
    {"mvlgamma", Way::floats},
    {"logsumexp", Way::floats},
    {"cov", Way::floats},
    {"corrcoef", Way::floats},
    {"float_power", Way::doubles},
    {"pow", Way::beside_floats},
    {"clamp", Way::beside_floats},
    {"softmax", Way::in_dtype},
    {"log_softmax", Way::in_dtype},
};

const Known* known(const Signature& s) {
  const auto* const found = std::ranges::find(kKnown, std::string_view(s.name), &Known::name);
  return found == std::end(kKnown) ? nullptr : found;
}

py::object owned(PyObject* o) {
  if (!o) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(o);
}
bool is_unsigned(DType d) { return is_integral(d) && is_only_stored(d); }

// The one such dtype among the arguments; none where others stand beside it that have no place.
struct Found {
  std::optional<DType> dtype;
  bool floats = false;  // there is one
  void add(PyObject* o) {
    if (const Tensor* t = as_tensor(o)) {
      floats |= is_floating(t->dtype());
      if (is_unsigned(t->dtype())) {
        failed |= dtype && *dtype != t->dtype();
        dtype = t->dtype();
      }
      failed |= is_only_stored(t->dtype()) && !is_unsigned(t->dtype());
    } else if (is_list(o)) {
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); ++k)
        add(PySequence_Fast_GET_ITEM(o, k));
    } else {
      floats |= PyFloat_Check(o);
    }
  }
  bool failed = false;
};

struct Unsigned {
  const Known& row;
  DType dtype;

  DType with_sign() const {
    return dtype == DType::uint16   ? DType::int16
           : dtype == DType::uint32 ? DType::int32
                                    : DType::int64;
  }
  Tensor turned(const Tensor& t) const {
    return row.way == Way::order ? with_first_bit_turned(t) : t;
  }
  Tensor changed(const Tensor& t) const {
    switch (row.way) {
      case Way::bits:
      case Way::order: return turned(view_dtype(t, with_sign()));
      case Way::longs: return to(t, DType::int64);
      case Way::doubles: return to(t, DType::float64);
      default: return to(t, default_dtype());
    }
  }
  bool is_of_bits() const { return row.way == Way::bits || row.way == Way::order; }

  py::object argument(const Signature& s, std::size_t i, PyObject* o) const {
    const std::string& name = s.parameters[i].name;
    if (const Tensor* t = as_tensor(o); t && t->dtype() == dtype) return owned(wrap(changed(*t)));
    const bool number = name == "value" || name == "element" || name == "test_element";
    Scalar value;
    if (is_of_bits() && number && !as_tensor(o) && PyNumber_Check(o)) {
      if (!Argument<Scalar>::read(o, value)) throw py::error_already_set();
      check_fits(s.name, name.c_str(), value, dtype);
      return owned(to_python(item(changed(full({}, value, dtype)))));
    }
    if (is_list(o)) {
      const py::object items = owned(PySequence_Tuple(o));
      py::list made;
      for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(items.ptr()); ++k)
        made.append(argument(s, i, PyTuple_GET_ITEM(items.ptr(), k)));
      return made;
    }
    return py::reinterpret_borrow<py::object>(o);
  }
  py::object result(PyObject* o, bool is_one) const {
    const Tensor* t = as_tensor(o);
    if (!t || !is_one || !is_of_bits()) return py::reinterpret_borrow<py::object>(o);
    return owned(wrap(view_dtype(turned(*t), dtype)));
  }
};

PyObject* argument_of(const Signature& s, const Call& call, std::string_view name) {
  for (std::size_t i = 0; i < s.count(); ++i)
    if (s.parameters[i].name == name) return call.values[i];
  return Py_None;
}

bool applies(const Known& row, const Found& found, const Signature& s, const Call& call) {
  if (!found.dtype || found.failed) return false;
  PyObject* const asked = argument_of(s, call, "dtype");
  DType wanted{};
  const bool converts = asked != Py_None && Argument<DType>::read(asked, wanted);
  if (converts && is_only_stored(wanted)) return false;
  // torch's kernels for these take elements by their bytes, and no single ones.
  if (row.name == "isin") return s.parameters[1].name == "test_element";
  if (row.name == "index_select") return as_tensor(call.values[0])->dim() > 1;
  if (row.way == Way::longs) return !converts || *found.dtype != DType::uint64;
  if (row.way == Way::in_dtype) return converts && is_floating(wanted);
  return row.way != Way::beside_floats || found.floats;
}

}  // namespace

PyObject* call_of_unsigned(const Signature& s, const Call& call) {
  const Known* const row = known(s);
  if (!row) return nullptr;
  Found found;
  for (std::size_t i = 0; i < s.count(); ++i) {
    const std::string& name = s.parameters[i].name;
    const Tensor* t = as_tensor(call.values[i]);
    const bool indexes = name == "index" || name == "indices" || name == "repeats";
    if (indexes && t && is_unsigned(t->dtype())) return nullptr;
    found.add(call.values[i]);
  }
  for (Py_ssize_t i = 0; call.rest.first && i < call.rest.second; ++i)
    found.add(call.rest.first[i]);
  if (!applies(*row, found, s, call)) return nullptr;
  const Tensor* out = as_tensor(call.out);
  if (out && is_unsigned(out->dtype()) && row->way != Way::bits && row->way != Way::order)
    return nullptr;
  const Unsigned numbers{*row, *found.dtype};
  std::vector<py::object> held;
  std::vector<PyObject*> values, rest;
  for (std::size_t i = 0; i < s.count(); ++i) {
    held.push_back(numbers.argument(s, i, call.values[i]));
    values.push_back(held.back().ptr());
  }
  for (Py_ssize_t i = 0; call.rest.first && i < call.rest.second; ++i) {
    held.push_back(numbers.argument(s, s.count() - 1, call.rest.first[i]));
    rest.push_back(held.back().ptr());
  }
  const Rest more = call.rest.first ? Rest{rest.data(), Py_ssize_t(rest.size())} : Rest{};
  const py::object made =
      owned(s.call({.values = values.data(), .rest = more, .is_method = call.is_method}));
  if (s.name.back() == '_') return Py_NewRef(call.values[0]);
  const bool is_list_of_all = row->results[1];
  if (!PyTuple_Check(made.ptr()) && !PyList_Check(made.ptr()))
    return numbers.result(made.ptr(), row->results[0]).release().ptr();
  const py::object items = owned(PySequence_Tuple(made.ptr()));
  const Py_ssize_t n = PyTuple_GET_SIZE(items.ptr());
  py::tuple all(n);
  for (Py_ssize_t i = 0; i < n; ++i)
    all[std::size_t(i)] =
        numbers.result(PyTuple_GET_ITEM(items.ptr(), i), i == 0 ? row->results[0] : is_list_of_all);
  return all.release().ptr();
}

}  // namespace rushlight::python
