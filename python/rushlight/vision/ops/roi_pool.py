"""Regions of images at a fixed size, by maxima (Girshick, Fast R-CNN, 2015)."""

import rushlight
from rushlight import nn
from rushlight.nn import functional as F
from rushlight.vision.ops._regions import (
    as_images,
    as_rows,
    bins_between,
    check_size,
    first_pixels,
    pair,
    pixels,
)


def _rounded(x):
    # To the nearest, halves away from zero.
    return rushlight.where(x < 0, (x - 0.5).ceil(), (x + 0.5).floor())


def _window(first, last, pooled, size):
    first, last = _rounded(first), _rounded(last)
    step = (last - first + 1).clamp(min=1) / pooled
    bins = rushlight.arange(pooled, dtype=step.dtype, device=step.device)
    begin = (bins * step[:, None]).floor() + first[:, None]
    end = ((bins + 1) * step[:, None]).ceil() + first[:, None]
    return bins_between(begin, end, size)


def roi_pool(input, boxes, output_size, spatial_scale=1.0):
    """Each region at output_size: the maxima of its bins, 0 for a bin without pixels.

    Args:
        input: images (n, c, h, w).
        boxes: rows (image, x1, y1, x2, y2), or a list with a tensor (l, 4) for each image.
        output_size: height and width, or one number for both.
        spatial_scale: boxes are multiplied with it, then rounded to whole pixels.

    Shape: (k, c, height, width).

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import roi_pool
    >>> image = torch.arange(16.0).reshape(1, 1, 4, 4)
    >>> roi_pool(image, [torch.tensor([[0.0, 0.0, 3.0, 3.0]])], 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
    rows, (height, width) = as_rows(boxes, input), pair(output_size)
    if height <= 0 or width <= 0:
        raise RuntimeError(f"output_size must be positive, got {output_size}")
    dtype = rushlight.float64 if rows.dtype == rushlight.float64 else rushlight.float32
    x1, y1, x2, y2 = (rows[:, 1:].to(dtype) * spatial_scale).unbind(1)
    down, in_rows = _window(y1, y2, height, input.shape[2])
    across, in_columns = _window(x1, x2, width, input.shape[3])
    check_size(len(rows), height, width, down.shape[2], across.shape[2])
    down, in_rows = (x[:, :, None, :, None] for x in (down, in_rows))
    across, in_columns = (x[:, None, :, None, :] for x in (across, in_columns))
    index = first_pixels(rows, input, 5) + down * input.shape[3] + across
    table = pixels(input)
    outside = len(table)  # a row that no maximum takes
    index = rushlight.where(in_rows & in_columns, index, outside)
    bags = len(rows) * height * width
    table = rushlight.cat([table, table.new_zeros((1, table.shape[1]))])
    index = index.reshape(bags, down.shape[3] * across.shape[4])
    found = F.embedding_bag(index, table, mode="max", padding_idx=outside)
    return as_images(found, len(rows), height, width)


class RoIPool(nn.Module):
    """roi_pool() as a layer.

    Args:
        output_size: height and width, or one number for both.
        spatial_scale: boxes are multiplied with it.

    >>> from rushlight.vision.ops import RoIPool
    >>> RoIPool(7, 0.25)
    RoIPool(output_size=7, spatial_scale=0.25)
    """

    def __init__(self, output_size, spatial_scale):
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale

    def forward(self, input, rois):
        """Each region at output_size."""
        return roi_pool(input, rois, self.output_size, self.spatial_scale)

    def __repr__(self):
        name = type(self).__name__
        return f"{name}(output_size={self.output_size}, spatial_scale={self.spatial_scale})"
