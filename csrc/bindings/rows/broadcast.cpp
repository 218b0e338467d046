// Tensors of a common shape or rank: see csrc/ops/broadcast.h.
#include "ops/broadcast.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

template <int Rank>
Tensor at_least_one(const Tensor& input) {
  return at_least(Rank, input);
}
template <int Rank>
std::vector<Tensor> at_least_all(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> all;
  for (const Tensor& t : tensors) all.push_back(at_least(Rank, t));
  return all;
}

}  // namespace

void bind_broadcast(py::module_& m) {
  op<&broadcast_tensors>(m, "broadcast_tensors(*tensors)", stored(As::function),
                         R"(All tensors expanded to their common shape.

Args:
    tensors: any number of tensors, or one sequence of them.

Shape:
    all results have the common shape of the tensors.

>>> [t.shape for t in torch.broadcast_tensors(torch.ones(2, 1), torch.ones(3))]
[torch.Size([2, 3]), torch.Size([2, 3])])");
  overloads<&at_least_one<1>, &at_least_all<1>>(
      m, {"atleast_1d(input)", "atleast_1d(*tensors)"}, with_complex(As::function),
      R"(Tensors with at least one dimension: a scalar x becomes [x].

Args:
    tensors: any number of tensors, or one sequence of them, which give a tuple.

Shape:
    () gives (1); others keep their shape.

>>> torch.atleast_1d(torch.tensor(5))
tensor([5]))");
  overloads<&at_least_one<2>, &at_least_all<2>>(
      m, {"atleast_2d(input)", "atleast_2d(*tensors)"}, with_complex(As::function),
      R"(Tensors with at least two dimensions: a vector becomes a row.

Args:
    tensors: any number of tensors, or one sequence of them, which give a tuple.

Shape:
    () gives (1, 1), (n) gives (1, n); others keep their shape.

>>> torch.atleast_2d(torch.tensor([1, 2]))
tensor([[1, 2]]))");
  overloads<&at_least_one<3>, &at_least_all<3>>(m, {"atleast_3d(input)", "atleast_3d(*tensors)"},
                                                with_complex(As::function),
                                                R"(Tensors with at least three dimensions.

Args:
    tensors: any number of tensors, or one sequence of them, which give a tuple.

Shape:
    a vector (n) becomes (1, n, 1), a matrix (m, n) becomes (m, n, 1).

>>> torch.atleast_3d(torch.ones(2)).shape
torch.Size([1, 2, 1]))");
}

}  // namespace rushlight::python
