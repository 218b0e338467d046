// Dtypes that are only stored (kernels/dtype.h): the parser refuses one, and a tensor of one, for
// all rows without the word `stored`, complex numbers for those without `complex` too; what reaches
// a kernel nevertheless is refused by view_of().
#include "bindings/data.h"
#include "ops/ops.h"
#include "signature.h"
#include "unsigned.h"

namespace py = pybind11;

namespace rushlight::python {

static bool is_refused(DType d, bool takes_complex) {
  return is_only_stored(d) && !(takes_complex && d > DType::complex32);
}
// What of an argument is only stored, or null.
static const DType* stored_in(PyObject* o, DType& found, bool takes_complex) {
  if (!o) return nullptr;
  if (const Tensor* t = as_tensor(o)) {
    if (!*t || !is_refused(t->dtype(), takes_complex)) return nullptr;
    found = t->dtype();
    return &found;
  }
  if (Argument<DType>::read_stored(o, found))
    return is_refused(found, takes_complex) ? &found : nullptr;
  if (!is_list(o)) return nullptr;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
    if (!is_list(PySequence_Fast_GET_ITEM(o, i)) &&
        stored_in(PySequence_Fast_GET_ITEM(o, i), found, takes_complex))
      return &found;
  return nullptr;
}

// Torch has two types for it.
[[noreturn]] static void refuse(const std::string& name, DType dtype) {
  for (const std::string_view other :
       {"argmax", "argmin", "argsort", "cdist", "frexp", "isin", "msort", "nanmean", "nansum",
        "quantile", "sort", "topk", "embedding"})
    if (is_complex(dtype) && name == other)
      fail<RuntimeError>(name, "(): not implemented for complex tensors\nit was given ", dtype,
                         ": take the real or the imaginary part, or abs()");
  refuse_stored(name, dtype);
}

PyObject* call_of_stored(const Signature& s, const Call& call) {
  if (PyObject* result = call_of_unsigned(s, call)) return result;
  DType found;
  const auto check = [&](PyObject* o) {
    if (stored_in(o, found, s.row.complex)) refuse(s.name, found);
  };
  for (std::size_t i = 0; i < s.count(); ++i) check(call.values[i]);
  for (Py_ssize_t i = 0; call.rest.first && i < call.rest.second; ++i) check(call.rest.first[i]);
  check(call.out);
  return s.row.by_parts ? call_by_parts(s, call) : nullptr;
}

}  // namespace rushlight::python
