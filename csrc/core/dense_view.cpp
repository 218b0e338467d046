// See dense_view.h.
#include "core/dense_view.h"

#include "core/error.h"

namespace rushlight {

void fail_changed(const Tensor& t) {
  fail<RuntimeError>(
      "a tensor was given other data or another shape while an operation was using it\nit is ",
      describe("now", t), "; another thread has written its .data, or changed its shape in place");
}

View dense_view(const Tensor& t, DType dtype, std::int64_t numel) {
  const View v = view_of(t);
  if (v.dtype != dtype || v.numel != numel || !t.is_contiguous()) [[unlikely]]
    fail_changed(t);
  return v;
}
View dense_view(const Tensor& t, DType dtype, const Shape& sizes) {
  if (!same(t.sizes(), sizes.view())) [[unlikely]]
    fail_changed(t);
  return dense_view(t, dtype, numel_of(sizes));
}

}  // namespace rushlight
