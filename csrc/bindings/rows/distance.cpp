// Distances between rows, and which of many boxes stay: see csrc/ops/distance.h and boxes.h.
#include "ops/distance.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/boxes.h"

namespace py = pybind11;

namespace rushlight::python {
void bind_distance(py::module_& m) {
  op<&nms>(m, "_nms(boxes, scores, iou_threshold)",
           {.as = As::function, .differentiable = false, .waits = true},
           "The indices of the boxes that stay, highest score first: torchvision.ops.nms.");
  op<&cdist>(
      m, "cdist(x1, x2, p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary')",
      {.as = As::function, .autocast = kFull},
      R"(The p-norm distance of each row of x1 to each row of x2: (sum |x1_i - x2_j|^p)^(1/p).

Args:
    x1: rows; batches broadcast.
    x2: rows with as many columns.
    p: 0 (how many differ), 1, 2, inf or any other number that is not negative.
    compute_mode: whether p = 2 comes from a matrix product, which is faster and less exact;
        "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist", or by default for more than 25
        rows.

Shape:
    x1 (..., n, d), x2 (..., m, d); the result (..., n, m)

    >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
)");
  op<&pdist>(m, "pdist(input, p=2)", {.as = As::function | As::functional, .autocast = kFullOnCuda},
             R"(The p-norm distance of each pair of rows: of 0 and 1, 0 and 2, ..., 1 and 2, ...

Args:
    input: a matrix.
    p: as in torch.cdist().

Shape:
    input (n, d); the result (n (n - 1) / 2)

    >>> torch.pdist(torch.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]]))
    tensor([5., 3., 4.])
)");
}

}  // namespace rushlight::python
