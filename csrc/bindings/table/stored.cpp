// Which rows take dtypes that are only stored (kernels/dtype.h): those that make, copy, cast, view
// and look at tensors. The parser refuses such a dtype, and a tensor of one, for all other rows;
// what reaches a kernel nevertheless is refused by view_of().
#include <unordered_set>

#include "signature.h"

namespace rushlight::python {

constexpr std::string_view kRows =
    // made of sizes, numbers or data
    "as_tensor asarray empty empty_like empty_strided eye from_numpy frombuffer full "
    "full_like new_empty new_full new_ones new_tensor new_zeros ones ones_like scalar_tensor "
    "tensor zeros zeros_like "
    // copies and casts
    "bfloat16 bool byte char clone contiguous copy_ cpu cuda double fill fill_ float half int "
    "long pin_memory resize_ short to type_as zero_ "
    // joined and repeated
    "cat column_stack dstack flip fliplr flipud hstack repeat roll rot90 stack tile vstack "
    // views
    "as_strided as_strided_ broadcast_tensors broadcast_to chunk complex detach detach_ "
    "diagonal dsplit expand expand_as flatten hsplit movedim narrow permute ravel reshape "
    "reshape_as select split split_with_sizes squeeze squeeze_ swapaxes swapaxes_ t t_ "
    "tensor_split transpose transpose_ unbind unflatten unfold unsafe_chunk unsafe_split "
    "unsqueeze unsqueeze_ view view_as view_as_complex view_as_real vsplit "
    // their numbers and what there is to know
    "__array__ data_ptr dim element_size equal get_device imag is_complex is_contiguous "
    "is_floating_point is_nonzero is_pinned is_same_size is_set_to is_signed item numel numpy "
    "real resolve_conj resolve_neg result_type size storage_offset stride tolist "
    // storages
    "_is_resizable _resize_storage _storage_bytes _storage_id _storage_part _view_storage ";

bool takes_stored(std::string_view name) {
  static const auto rows = [] {
    std::unordered_set<std::string_view> all;
    for (std::string_view rest = kRows; !rest.empty();) {
      const std::size_t end = rest.find(' ');
      all.insert(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    return all;
  }();
  return rows.contains(name);
}

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
