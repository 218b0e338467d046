// What python/rushlight/_sparse needs of C++: the body of a sparse tensor, its products, and the
// sums of sparse gradients, which are computed there.
#include "ops/sparse.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/gil.h"
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/embedding.h"
#include "ops/index/index.h"
#include "ops/optim.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

py::object sparse_object(py::type type, const std::vector<std::int64_t>& sizes,
                         const Tensor& like) {
  auto* cls = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (!PyType_IsSubtype(cls, tensor_type)) fail<TypeError>("cls must be a subclass of Tensor");
  if (sizes.size() > kMaxRank)
    fail<RuntimeError>("tensors of more than ", kMaxRank, " dimensions are not in rushlight");
  const Sizes shape(sizes.data(), sizes.size());
  return py::reinterpret_steal<py::object>(
      wrap_as(cls, sparse_body(shape, like.dtype(), like.device())));
}

template <class... T>
Tensor computed(const char* function, const T&... tensors) {
  const GilHeld gil;
  const auto module = py::module_::import("rushlight._sparse.gradients");
  const py::object made =
      module.attr(function)(py::reinterpret_steal<py::object>(wrap(Tensor(tensors)))...);
  const Tensor* t = as_tensor(made.ptr());
  if (!t) fail<RuntimeError>("a sum of gradients is no tensor");
  return *t;
}
Tensor sum(const Tensor& a, const Tensor& b) { return computed("add", a, b); }
Tensor sum_in_place(const Tensor& a, const Tensor& b) { return computed("add_into", a, b); }
Tensor dense(const Tensor& g) { return computed("dense", g); }

void clear(const Tensor& g) { computed("clear", g); }

Tensor rows_of_table(const Tensor& weight, const Tensor& indices, std::int64_t padding_idx,
                     bool by_frequency) {
  const GilHeld gil;
  const auto module = py::module_::import("rushlight._sparse.gradients");
  const py::object made = module.attr("rows_of_table")(
      py::reinterpret_steal<py::object>(wrap(Tensor(weight))),
      py::reinterpret_steal<py::object>(wrap(Tensor(indices))), padding_idx, by_frequency);
  return *as_tensor(made.ptr());
}

Tensor gathered(const Tensor& input, std::int64_t dim, const Tensor& index) {
  const GilHeld gil;
  const auto module = py::module_::import("rushlight._sparse.gradients");
  const py::object made =
      module.attr("gathered")(py::reinterpret_steal<py::object>(wrap(Tensor(input))), dim,
                              py::reinterpret_steal<py::object>(wrap(Tensor(index))));
  return *as_tensor(made.ptr());
}

}  // namespace

void bind_sparse(py::module_& m) {
  sparse_gather = gathered;
  sparse_embedding = rows_of_table;
  clear_sparse = clear;
  m.def("_sparse_object", &sparse_object, py::arg("cls"), py::arg("size"), py::arg("like"));
  sparse_gradients = {sum, sum_in_place, dense};
  op<&sparse_product>(m, "_sparse_product(rows, columns, values, dense, n)", As::function,
                      "A sparse matrix, given by its entries, times a dense one.");
  op<&sparse_dots>(m, "_sparse_dots(rows, columns, a, b)", As::function,
                   "For each entry of a sparse matrix, the product of two rows.");
}

}  // namespace rushlight::python
