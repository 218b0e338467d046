// Resampling and sampling as torch.nn.functional has them; interpolate() itself reads its sizes in
// Python.
#include "ops/resample.h"

#include "bindings/floats.h"
#include "bindings/table/signature.h"
#include "functional.h"
#include "ops/grid_sample.h"
#include "ops/pointwise/pointwise.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

Tensor resample_of(const Tensor& input, Shape size, std::vector<double> factors,
                   std::string_view mode, bool align_corners, bool antialias) {
  return resample(input, size, factors, mode, align_corners, antialias);
}

Tensor grid_sample_of(const Tensor& input, const Tensor& grid, std::string_view mode,
                      std::string_view padding_mode, std::optional<bool> align_corners) {
  if (!align_corners)
    warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
        "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
        "documentation of grid_sample for details.");
  return grid_sample(input, grid, mode, padding_mode, align_corners.value_or(false));
}

}  // namespace

void bind_resample(py::module_& m) {
  op<&resample_of>(m, "_resample(input, size, factors, mode, align_corners, antialias)",
                   {.as = As::functional, .autocast = kFullOnCuda});
  op<&grid_sample_of>(
      m, "grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=None)",
      {.as = As::functional, .autocast = kFullOnCpu},
      R"(The input's values at the positions of `grid`, which has them as (x, y) or
(x, y, z), from -1 to 1 over the input.

Args:
    mode: "bilinear" (trilinear in three dimensions), "nearest" or "bicubic".
    padding_mode: outside are "zeros", the "border" value or a "reflection".
    align_corners: -1 and 1 are the centres of the corner elements, not their outer edges.

Shape: input (n, c, h, w) and grid (n, h', w', 2) to (n, c, h', w'); or with a depth.

>>> x = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
>>> torch.nn.functional.grid_sample(x, torch.zeros(1, 1, 1, 2), align_corners=False)
tensor([[[[2.5000]]]]))");
}

}  // namespace rushlight::python
