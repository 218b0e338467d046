// out=: a result that was computed fresh is written to the tensor the caller gave.
#pragma once
#include <optional>

#include "bindings/out_variants.h"

namespace rushlight::python {

template <>
struct Argument<std::tuple<Tensor, Tensor>> : ByValue<std::tuple<Tensor, Tensor>> {
  static constexpr const char *expected = "tuple of Tensors", *stub = "tuple[Tensor, Tensor]";
  static bool read(PyObject* o, std::tuple<Tensor, Tensor>& s) {
    if ((!PyTuple_Check(o) && !PyList_Check(o)) || PySequence_Fast_GET_SIZE(o) != 2) return false;
    return Argument<Tensor>::read(PySequence_Fast_GET_ITEM(o, 0), std::get<0>(s)) &&
           Argument<Tensor>::read(PySequence_Fast_GET_ITEM(o, 1), std::get<1>(s));
  }
};

// For the ops whose result is not cast.
inline void check_exact(const Out& out, DType dtype) {
  if (out && out->dtype() != dtype)
    fail<RuntimeError>("Expected out tensor to have dtype ", c_name(dtype), ", but got ",
                       c_name(out->dtype()), " instead");
}
inline Tensor deliver_exactly(const char* op, const Out& out, Tensor result) {
  check_exact(out, result.dtype());
  return deliver(op, out, std::move(result));
}

using OutPair = std::optional<std::tuple<Tensor, Tensor>>;
inline std::tuple<Tensor, Tensor> deliver(const char* op, const OutPair& out,
                                          std::tuple<Tensor, Tensor> pair) {
  if (!out) return pair;
  return {deliver(op, Out(std::get<0>(*out)), std::get<0>(pair)),
          deliver(op, Out(std::get<1>(*out)), std::get<1>(pair))};
}

}  // namespace rushlight::python
