// torch.return_types: named results of ops with two tensors. Printed as torch prints them.
#pragma once
#include "bindings/arguments.h"

namespace rushlight::python {

enum class Returns {
  max,
  min,
  median,
  nanmedian,
  mode,
  sort,
  topk,
  kthvalue,
  cummax,
  cummin,  // values, indices
  aminmax,                                                                  // min, max
};
inline constexpr int kReturns = int(Returns::aminmax) + 1;

struct Named {
  Returns type;
  Tensor first, second;
  Named(Returns t, std::tuple<Tensor, Tensor> pair)
      : type(t), first(std::move(std::get<0>(pair))), second(std::move(std::get<1>(pair))) {}
};
PyObject* to_python(Named named);
template <>
constexpr const char* stub_of<Named> = "tuple[Tensor, Tensor]";

void bind_return_types(pybind11::module_& m);

}  // namespace rushlight::python
