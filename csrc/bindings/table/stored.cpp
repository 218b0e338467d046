// Dtypes that are only stored (kernels/dtype.h): the parser refuses one, and a tensor of one, for
// all rows without the word `stored`; what reaches a kernel nevertheless is refused by view_of().
#include "signature.h"

namespace rushlight::python {

// What of an argument is only stored, or null.
static const DType* stored_in(PyObject* o, DType& found) {
  if (!o) return nullptr;
  if (const Tensor* t = as_tensor(o)) {
    if (!*t || !is_only_stored(t->dtype())) return nullptr;
    found = t->dtype();
    return &found;
  }
  if (Argument<DType>::read_stored(o, found)) return &found;
  if (!is_list(o)) return nullptr;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
    if (!is_list(PySequence_Fast_GET_ITEM(o, i)) &&
        stored_in(PySequence_Fast_GET_ITEM(o, i), found))
      return &found;
  return nullptr;
}

void refuse_stored_arguments(const Signature& s, const Call& call) {
  DType found;
  const auto check = [&](PyObject* o) {
    if (stored_in(o, found)) refuse_stored(s.name, found);
  };
  for (std::size_t i = 0; i < s.count(); ++i) check(call.values[i]);
  for (Py_ssize_t i = 0; call.rest.first && i < call.rest.second; ++i) check(call.rest.first[i]);
  check(call.out);
}

}  // namespace rushlight::python
