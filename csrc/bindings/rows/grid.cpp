// Grids, choices and block matrices: see csrc/ops/grid.h.
#include "ops/grid.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "functional.h"

namespace py = pybind11;

namespace rushlight::python {

static std::vector<Tensor> meshgrid_op(const std::vector<Tensor>& tensors,
                                       const std::optional<std::string_view>& indexing) {
  if (!indexing)
    warn_at(
        "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
        "argument.",
        1);
  else if (indexing != "ij" && indexing != "xy")
    fail<RuntimeError>("torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ",
                       *indexing);
  return meshgrid(tensors, indexing == "xy");
}

static std::vector<Tensor> unravel_index_op(const Tensor& indices, py::handle shape) {
  const bool is_one = PyLong_Check(shape.ptr());
  if (!is_one && !is_list(shape.ptr()))
    fail<TypeError>("expected 'shape' to be int or sequence of ints, but got ",
                    std::string(py::str(py::type::of(shape))));
  const py::tuple given =
      is_one ? py::make_tuple(shape) : py::tuple(py::reinterpret_borrow<py::object>(shape));
  std::vector<std::int64_t> sizes;
  for (const py::handle item : given) {
    std::int64_t n = item.ptr() == Py_True;
    if (!PyBool_Check(item.ptr()) &&
        (!PyLong_Check(item.ptr()) || !Argument<std::int64_t>::read(item.ptr(), n)))
      fail<TypeError>("expected 'shape' sequence to only contain ints, but got ",
                      std::string(py::str(py::type::of(item))));
    if (n < 0)
      fail<ValueError>("'shape' cannot have negative values, but got ",
                       std::string(py::str(given)));
    sizes.push_back(n);
  }
  return unravel_index(indices, sizes);
}

void bind_grid(py::module_& m) {
  op<&meshgrid_op>(m, "meshgrid(*tensors, indexing=None)", with_complex(As::function),
                   R"(Coordinates of a grid: one tensor per vector, all of the grid's shape.

Args:
    tensors: vectors, or one sequence of them.
    indexing: "ij" (the default) or "xy", which swaps the first two dimensions.

Shape:
    vectors (n_i) give tensors (n_1, ..., n_k).

>>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing="ij")[0]
tensor([[1, 1],
        [2, 2]]))");
  op<&cartesian_prod>(m, "cartesian_prod(*tensors)", with_complex(As::function),
                      R"(All combinations of the elements of vectors, one per row.

Args:
    tensors: the vectors, or one sequence of them.

Shape:
    k vectors (n_i) give (product of n_i, k); a single one gives itself.

>>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
tensor([[1, 3],
        [1, 4],
        [2, 3],
        [2, 4]]))");
  op<&combinations>(m, "combinations(input, r=2, with_replacement=False)",
                    with_complex(As::function),
                    R"(All ways to choose r elements of a vector, one per row.

Args:
    r: how many are chosen.
    with_replacement: whether an element may come more than once.

Shape:
    input (n) gives (k, r) for k ways.

>>> torch.combinations(torch.tensor([1, 2, 3]))
tensor([[1, 2],
        [1, 3],
        [2, 3]]))");
  op<&block_diag>(m, "block_diag(*tensors)", with_complex(As::function),
                  R"(A block diagonal matrix.

Args:
    tensors: the blocks, or one sequence of them: matrices, vectors (rows) or scalars.

Shape:
    blocks (m_i, n_i) give (sum of m_i, sum of n_i).

>>> torch.block_diag(torch.tensor([[1, 2]]), torch.tensor([[3]]))
tensor([[1, 2, 0],
        [0, 0, 3]]))");
  op<&unravel_index_op>(m, "unravel_index(indices, shape)", As::function,
                        R"(Flat indices as one index per dimension.

Args:
    indices: indices into the flattened tensor.
    shape: of that tensor.

Shape:
    a tensor of the shape of indices for each dimension.

>>> torch.unravel_index(torch.tensor([1, 5]), (2, 3))
(tensor([0, 1]), tensor([1, 2])))");
}

}  // namespace rushlight::python
