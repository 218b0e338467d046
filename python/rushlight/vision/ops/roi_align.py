"""Regions of images at a fixed size, by bilinear samples (He et al., Mask R-CNN, 2017).

Each result is a weighted sum of pixels: one embedding_bag() over the rows of pixels, whose gradient
is that of the images.
"""

import rushlight
from rushlight import nn
from rushlight.nn import functional as F
from rushlight.vision.ops._regions import as_images, as_rows, check_size, first_pixels, pair, pixels


def _samples(start, extent, pooled, ratio, size):
    # Two pixels and their weights for each sample of a dimension: (k, pooled, samples, 2).
    step = extent / pooled
    if ratio > 0:
        grid = rushlight.full_like(extent, ratio)
        most = ratio
    else:
        grid = step.ceil()
        most = float(grid.max()) if len(grid) else 0
    check_size(len(start), pooled, max(most, 0))
    most = int(most)
    at = rushlight.arange(max(most, 0), dtype=start.dtype, device=start.device)
    bins = rushlight.arange(pooled, dtype=start.dtype, device=start.device)[None, :, None]
    start, step, grid = (x[:, None, None] for x in (start, step, grid))
    y = start + bins * step + (at + 0.5) * step / grid
    used = (y >= -1) & (y <= size) & (at < grid)
    y = y.clamp(min=0)
    low = y.long().clamp(0, size - 1)
    part = rushlight.where(low < size - 1, y - low, 0.0)
    index = rushlight.stack([low, (low + 1).clamp(max=size - 1)], -1)
    weight = rushlight.stack([1 - part, part], -1)
    return index, rushlight.where(used[..., None], weight, 0.0), grid.reshape(-1)


def roi_align(
    input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False
):  # fmt: skip
    """Each region at output_size: means of bilinear samples of its bins.

    Args:
        input: images (n, c, h, w).
        boxes: rows (image, x1, y1, x2, y2), or a list with a tensor (l, 4) for each image.
        output_size: height and width, or one number for both.
        spatial_scale: boxes are multiplied with it.
        sampling_ratio: samples in each direction of a bin; by default as many as it has pixels.
        aligned: pixels are at the centres of their squares; otherwise, as in older networks, boxes
            lie half a pixel further, and are 1 pixel large at least.

    Shape: (k, c, height, width).

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import roi_align
    >>> image = torch.arange(16.0).reshape(1, 1, 4, 4)
    >>> roi_align(image, [torch.tensor([[0.0, 0.0, 4.0, 4.0]])], 2, aligned=True)
    tensor([[[[ 2.5000,  4.5000],
              [10.5000, 12.5000]]]])
    """
    rows, (height, width) = as_rows(boxes, input), pair(output_size)
    if height <= 0 or width <= 0:
        raise RuntimeError(f"output_size must be positive, got {output_size}")
    dtype = rushlight.float64 if rows.dtype == rushlight.float64 else rushlight.float32
    x1, y1, x2, y2 = (rows[:, 1:].to(dtype) * spatial_scale - (0.5 if aligned else 0.0)).unbind(1)
    w, h = x2 - x1, y2 - y1
    if not aligned:
        w, h = w.clamp(min=1.0), h.clamp(min=1.0)
    rows_at, row_weights, down = _samples(y1, h, height, sampling_ratio, input.shape[2])
    columns_at, column_weights, across = _samples(x1, w, width, sampling_ratio, input.shape[3])
    check_size(len(rows), height, width, rows_at.shape[2], columns_at.shape[2], 4)
    rows_at, row_weights = (x[:, :, None, :, None, :, None] for x in (rows_at, row_weights))
    columns_at, column_weights = (
        x[:, None, :, None, :, None, :] for x in (columns_at, column_weights)
    )
    index = first_pixels(rows, input, 7) + rows_at * input.shape[3] + columns_at
    count = (down * across).clamp(min=1).reshape(-1, *[1] * 6)
    weight = (row_weights * column_weights / count).to(input.dtype)
    bags = len(rows) * height * width
    samples = index.numel() // bags if bags else 0
    if not samples:
        return pixels(input).sum() * 0 + input.new_zeros((len(rows), input.shape[1], height, width))
    found = F.embedding_bag(
        index.reshape(bags, samples), pixels(input), mode="sum",
        per_sample_weights=weight.reshape(bags, samples),
    )  # fmt: skip
    return as_images(found, len(rows), height, width)


class RoIAlign(nn.Module):
    """roi_align() as a layer.

    Args:
        output_size: height and width, or one number for both.
        spatial_scale: boxes are multiplied with it.
        sampling_ratio: samples in each direction of a bin.
        aligned: pixels are at the centres of their squares.

    >>> from rushlight.vision.ops import RoIAlign
    >>> RoIAlign(7, 0.25, 2)
    RoIAlign(output_size=7, spatial_scale=0.25, sampling_ratio=2, aligned=False)
    """

    def __init__(self, output_size, spatial_scale, sampling_ratio, aligned=False):
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale
        self.sampling_ratio, self.aligned = sampling_ratio, aligned

    def forward(self, input, rois):
        """Each region at output_size."""
        options = (self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)
        return roi_align(input, rois, *options)

    def __repr__(self):
        return (
            f"{type(self).__name__}(output_size={self.output_size}, "
            f"spatial_scale={self.spatial_scale}, sampling_ratio={self.sampling_ratio}, "
            f"aligned={self.aligned})"
        )
