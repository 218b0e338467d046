// Generator as a Python type and as an argument of ops.
#pragma once
#include "bindings/table/arguments.h"
#include "core/generator.h"

namespace rushlight::python {

template <>
struct Argument<Ref<Generator>> : ByValue<Ref<Generator>> {
  static constexpr const char *expected = "torch.Generator", *stub = "Generator | None";
  static bool read(PyObject* o, Ref<Generator>& s);  // None: the device's own
};

void bind_generator(pybind11::module_& m);

}  // namespace rushlight::python
