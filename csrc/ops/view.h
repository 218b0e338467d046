// make_view(): how every view is linked to its base. The base is the tensor that owns the elements,
// so that a write through any view reaches the history of all.
#pragma once
#include "autograd/showing.h"
#include "ops/ops.h"

namespace rushlight {

// Where the library itself has switched recording off, a view is only its way to a result: it is
// not linked, and the result shares nothing that a user could write to.
inline void link_to_base(const Tensor& out, const Tensor& input) {
  if (grad_mode == Recording::off_inside || (inference_enabled() && input->inference)) return;
  out->base = input->base ? input->base : input.ref();
  out->unrecorded = inference_enabled() ? Unrecorded::inference
                    : may_record()      ? input->unrecorded
                                        : Unrecorded::no_grad;
  out->node_version = out->version();
}

struct ViewGeometry {
  Shape size;
  Strides strides;
  std::int64_t offset;
};
inline ViewGeometry view_geometry(const Body& b) { return {b.shape, b.strides, b.offset}; }
// Where a base and its view are not both real or both complex, a complex number counts as two real
// ones, for the geometry of both to be in the same unit.
inline bool in_pairs(const Body& base, const Body& view) {
  return is_complex(base.dtype) != is_complex(view.dtype);
}
ViewGeometry geometry_in_pairs(const Body& b);

template <class F>
Tensor make_view(const char* name, const Tensor& input, Tensor out, F&& backward) {
  link_to_base(out, input);
  return record(name, std::move(out), std::forward<F>(backward), input);
}

}  // namespace rushlight
