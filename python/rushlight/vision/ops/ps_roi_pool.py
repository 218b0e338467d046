"""Regions whose bins each read channels of their own, by means (Dai et al., R-FCN, 2016)."""

import rushlight
from rushlight import nn
from rushlight.nn import functional as F
from rushlight.vision.ops._regions import (
    as_images,
    as_rows,
    bins_between,
    check_size,
    of_bins,
    pair,
)
from rushlight.vision.ops.roi_pool import _rounded


def _window(first, last, pooled, size):
    first, last = _rounded(first), _rounded(last)
    step = (last - first).clamp(min=1) / pooled
    bins = rushlight.arange(pooled, dtype=step.dtype, device=step.device)
    first = first[:, None]
    begin = (bins * step[:, None] + first).floor()
    end = ((bins + 1) * step[:, None] + first).ceil()
    return bins_between(begin, end, size - 1)


def ps_roi_pool(input, boxes, output_size, spatial_scale=1.0):
    """Each region at output_size: each bin is the mean of its own channels' pixels, or 0.

    No bin reaches the last row or column of an image; torchvision, whose means are the same,
    spreads the gradient there over one pixel more, ours is that of the means.

    Args:
        input: images (n, c * height * width, h, w).
        boxes: rows (image, x1, y1, x2, y2), or a list with a tensor (l, 4) for each image.
        output_size: height and width, or one number for both.
        spatial_scale: boxes are multiplied with it, then rounded to whole pixels.

    Shape: (k, c, height, width).

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import ps_roi_pool
    >>> image = torch.arange(4.0).reshape(1, 4, 1, 1).expand(1, 4, 3, 3)
    >>> ps_roi_pool(image, [torch.tensor([[0.0, 0.0, 2.0, 2.0]])], 2)
    tensor([[[[0., 1.],
              [2., 3.]]]])
    """
    rows, (height, width) = as_rows(boxes, input), pair(output_size)
    table, first = of_bins(input, rows, height, width)
    dtype = rushlight.float64 if rows.dtype == rushlight.float64 else rushlight.float32
    x1, y1, x2, y2 = (rows[:, 1:].to(dtype) * spatial_scale).unbind(1)
    down, in_rows = _window(y1, y2, height, input.shape[2])
    across, in_columns = _window(x1, x2, width, input.shape[3])
    check_size(len(rows), height, width, down.shape[2], across.shape[2])
    down, in_rows = (x[:, :, None, :, None] for x in (down, in_rows))
    across, in_columns = (x[:, None, :, None, :] for x in (across, in_columns))
    used = in_rows & in_columns
    index = first[..., None, None] + down * input.shape[3] + across
    index = rushlight.where(used, index, 0)
    bags = len(rows) * height * width
    if not bags:
        return table.sum() * 0 + input.new_zeros((len(rows), table.shape[1], height, width))
    weight = used.to(input.dtype)
    weight = weight / weight.sum((-2, -1), keepdim=True).clamp(min=1)
    samples = index.numel() // bags
    found = F.embedding_bag(
        index.reshape(bags, samples), table, mode="sum",
        per_sample_weights=weight.reshape(bags, samples),
    )  # fmt: skip
    return as_images(found, len(rows), height, width)


class PSRoIPool(nn.Module):
    """ps_roi_pool() as a layer.

    Args:
        output_size: height and width, or one number for both.
        spatial_scale: boxes are multiplied with it.

    >>> from rushlight.vision.ops import PSRoIPool
    >>> PSRoIPool(3, 0.25)
    PSRoIPool(output_size=3, spatial_scale=0.25)
    """

    def __init__(self, output_size, spatial_scale):
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale

    def forward(self, input, rois):
        """Each region at output_size."""
        return ps_roi_pool(input, rois, self.output_size, self.spatial_scale)

    def __repr__(self):
        name = type(self).__name__
        return f"{name}(output_size={self.output_size}, spatial_scale={self.spatial_scale})"
