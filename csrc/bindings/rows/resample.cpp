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

bool corners_of(std::optional<bool> align_corners) {
  if (!align_corners)
    warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
        "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
        "documentation of grid_sample for details.");
  return align_corners.value_or(false);
}

Tensor grid_sample_of(const Tensor& input, const Tensor& grid, std::string_view mode,
                      std::string_view padding_mode, std::optional<bool> align_corners) {
  return grid_sample(input, grid, mode, padding_mode, corners_of(align_corners));
}

Tensor affine_grid_of(const Tensor& theta, Shape size, std::optional<bool> align_corners) {
  const bool corners = corners_of(align_corners);
  Tensor grid = affine_grid(theta, size, corners);
  bool has_line = false;
  for (int d = 2; d < size.rank; ++d) has_line |= size[d] == 1;
  if (corners && has_line)
    warn(
        "affine_grid behavior has changed for unit-size grids when align_corners=True: the one "
        "pixel of a line is taken for its middle");
  return grid;
}

}  // namespace

void bind_resample(py::module_& m) {
  op<&resample_of>(m, "_resample(input, size, factors, mode, align_corners, antialias)",
                   {.as = As::functional, .autocast = kFullOnCuda});
  op<&grid_sample_of>(
      m, "grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=None)",
      {.as = As::functional, .autocast = kFullOnCpu},
      R"(The values of input at the coordinates in `grid`, interpolated.

Args:
    grid: coordinates (x, y) or (x, y, z) in its last dimension; -1 and 1 are the edges of input.
    mode: 'bilinear' (trilinear in three dimensions), 'nearest' or 'bicubic'.
    padding_mode: what lies outside: 'zeros', the 'border' value or a 'reflection'.
    align_corners: whether -1 and 1 are the centres of the corner elements, not their outer edges.

Shape:
    input (n, c, h, w) and grid (n, h', w', 2) give (n, c, h', w'); likewise with a depth.

>>> x = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
>>> torch.nn.functional.grid_sample(x, torch.zeros(1, 1, 1, 2), align_corners=False)
tensor([[[[2.5000]]]]))");
  op<&affine_grid_of>(m, "affine_grid(theta, size, align_corners=None)",
                      {.as = As::functional, .autocast = kLower},
                      R"(The sampling grid of affine maps, for grid_sample.

Args:
    theta: the maps, a 2 x 3 or 3 x 4 matrix for each image.
    size: (n, c, h, w) or (n, c, d, h, w) of the result of grid_sample.
    align_corners: whether -1 and 1 are the centres of the corner pixels, not their edges; as in
        grid_sample.

Shape: theta (n, 2, 3) or (n, 3, 4); the grid (n, h, w, 2) or (n, d, h, w, 3).

>>> theta = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
>>> torch.nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=True)[0, 0]
tensor([[-1.,  0.],
        [ 1.,  0.]]))");
}

}  // namespace rushlight::python
