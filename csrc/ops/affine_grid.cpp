// The grids of affine maps, for grid_sample: positions of a regular grid, mapped.
#include "ops/grid_sample.h"
#include "ops/linalg/matmul.h"

namespace rushlight {

Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners) {
  if (!is_floating(theta.dtype()))
    fail<ValueError>("Expected theta to have floating point type, but got ", theta.dtype());
  const int rank = size.rank - 2;
  if (rank != 2 && rank != 3)
    fail<NotImplementedError>(
        "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
        "respectively. Got size torch.Size(",
        size, ").");
  if (theta.dim() != 3 || theta.size(1) != rank || theta.size(2) != rank + 1)
    fail<ValueError>("Expected a batch of ", rank, "D affine matrices of shape Nx", rank, "x",
                     rank + 1, " for size torch.Size(", size, "). Got torch.Size(", theta.sizes(),
                     ").");
  for (int d = 0; d < size.rank; ++d)
    if (size[d] <= 0) fail<ValueError>("Expected non-zero, positive output size. Got ", size);
  if (size[0] != theta.size(0))
    fail<RuntimeError>("theta is for ", theta.size(0), " samples, size is ", size);
  const Options like{theta.dtype(), theta.device()};
  Shape spatial, result{size[0]};
  for (int d = 0; d < rank; ++d) spatial.push_back(size[2 + d]);
  for (int d = 0; d < rank; ++d) result.push_back(spatial[d]);
  result.push_back(rank);
  std::vector<Tensor> columns(std::size_t(rank + 1),
                              full(spatial, Scalar(1.0), theta.dtype(), theta.device()));
  for (int d = 0; d < rank; ++d) {  // the grid's order is x, y, z; the sizes' z, y, x
    const std::int64_t n = spatial[d];
    const double edge = n == 1 ? 0 : align_corners ? 1 : double(n - 1) / double(n);
    Shape line;
    for (int other = 0; other < rank; ++other) line.push_back(other == d ? n : 1);
    const Tensor positions = linspace(Scalar(n == 1 ? 0.0 : -edge), Scalar(edge), n, like);
    columns[std::size_t(rank - 1 - d)] = expand(reshape(positions, line), spatial);
  }
  const Tensor base = reshape(stack(columns, -1), {1, numel_of(spatial), rank + 1});
  return named(reshape(matmul(base, transpose(theta, 1, 2)), result),
               "AffineGridGeneratorBackward0");
}

}  // namespace rushlight
