// What python/rushlight/nn/parallel is built from. Called once per batch, so plain pybind11.
#include "parallel/parallel.h"

#include <pybind11/stl.h>

#include "bindings/module.h"
#include "bindings/python_tensor.h"
#include "core/cuda.h"
#include "core/work.h"
#include "parallel/together.h"

namespace py = pybind11;

namespace rushlight::python {

void bind_parallel(py::module_& m) {
  m.def("_scatter", [](const Tensor& input, const std::vector<int>& devices, std::int64_t dim) {
    for (const int index : devices) check_cuda_index(index);
    return scatter(input, devices, dim);
  });
  m.def("_gather", gather_devices);
  m.def("_broadcast_from", broadcast_from);
  m.def("_copy_together", copy_together);
  m.def("_sum_parts", sum_parts);
  m.def("_is_alive", [](const Tensor& t) {
    return !t.device().is_cuda() || cuda_is_alive(t.storage().generation);
  });
}

}  // namespace rushlight::python
