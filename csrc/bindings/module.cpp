// The module rushlight._C: the types, then every family.
#include "bindings/module.h"

#include "bindings/python_tensor.h"

namespace py = pybind11;
using namespace rushlight::python;

PYBIND11_MODULE(_C, m) {
  m.attr("__stubs__") = py::list();
  bind_types(m);
  bind_errors(m);
  make_tensor_type(m);
  bind_creation(m);
  bind_copy(m);
  bind_view(m);
  bind_indexing(m);
  bind_arrange(m);
  bind_join(m);
  bind_pointwise(m);
  bind_random(m);
  bind_reduce(m);
  bind_sort(m);
  bind_matmul(m);
  bind_conv(m);
  bind_pool(m);
  bind_norm(m);
  bind_softmax(m);
  bind_autograd(m);
  bind_function(m);
  bind_numpy(m);
  bind_storage(m);
  bind_optim(m);
  bind_pad(m);
  bind_cuda(m);
  bind_parallel(m);
  bind_info(m);
}
