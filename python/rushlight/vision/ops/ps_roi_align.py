"""Regions whose bins each read channels of their own, by bilinear samples (Li et al., Light-Head
R-CNN, 2017).
"""

import rushlight
from rushlight import nn
from rushlight.nn import functional as F
from rushlight.vision.ops._regions import as_images, as_rows, check_size, of_bins, pair
from rushlight.vision.ops.roi_align import _samples


def ps_roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1):
    """Each region at output_size: each bin is the mean of bilinear samples of its own channels.

    Args:
        input: images (n, c * height * width, h, w).
        boxes: rows (image, x1, y1, x2, y2), or a list with a tensor (l, 4) for each image.
        output_size: height and width, or one number for both.
        spatial_scale: boxes are multiplied with it.
        sampling_ratio: samples in each direction of a bin; by default as many as it has pixels.

    Shape: (k, c, height, width).

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import ps_roi_align
    >>> image = torch.arange(4.0).reshape(1, 4, 1, 1).expand(1, 4, 3, 3)
    >>> ps_roi_align(image, [torch.tensor([[0.0, 0.0, 2.0, 2.0]])], 2)
    tensor([[[[0., 1.],
              [2., 3.]]]])
    """
    rows, (height, width) = as_rows(boxes, input), pair(output_size)
    table, first = of_bins(input, rows, height, width)
    dtype = rushlight.float64 if rows.dtype == rushlight.float64 else rushlight.float32
    x1, y1, x2, y2 = (rows[:, 1:].to(dtype) * spatial_scale - 0.5).unbind(1)
    rows_at, row_weights, down = _samples(y1, y2 - y1, height, sampling_ratio, input.shape[2])
    columns_at, column_weights, across = _samples(
        x1, x2 - x1, width, sampling_ratio, input.shape[3]
    )
    check_size(len(rows), height, width, rows_at.shape[2], columns_at.shape[2], 4)
    rows_at, row_weights = (x[:, :, None, :, None, :, None] for x in (rows_at, row_weights))
    columns_at, column_weights = (
        x[:, None, :, None, :, None, :] for x in (columns_at, column_weights)
    )
    index = first[:, :, :, None, None, None, None] + rows_at * input.shape[3] + columns_at
    count = (down * across).reshape(-1, *[1] * 6)
    weight = (row_weights * column_weights / count.clamp(min=1)).to(input.dtype)
    bags = len(rows) * height * width
    samples = index.numel() // bags if bags else 0
    if not samples:
        return table.sum() * 0 + input.new_zeros((len(rows), table.shape[1], height, width))
    found = F.embedding_bag(
        index.reshape(bags, samples), table, mode="sum",
        per_sample_weights=weight.reshape(bags, samples),
    )  # fmt: skip
    # The mean of no samples is not a number.
    nothing = count.reshape(-1, 1, 1, 1) == 0
    return as_images(found, len(rows), height, width).masked_fill(nothing, float("nan"))


class PSRoIAlign(nn.Module):
    """ps_roi_align() as a layer.

    Args:
        output_size: height and width, or one number for both.
        spatial_scale: boxes are multiplied with it.
        sampling_ratio: samples in each direction of a bin.

    >>> from rushlight.vision.ops import PSRoIAlign
    >>> PSRoIAlign(3, 0.25, 2)
    PSRoIAlign(output_size=3, spatial_scale=0.25, sampling_ratio=2)
    """

    def __init__(self, output_size, spatial_scale, sampling_ratio):
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale
        self.sampling_ratio = sampling_ratio

    def forward(self, input, rois):
        """Each region at output_size."""
        options = (self.output_size, self.spatial_scale, self.sampling_ratio)
        return ps_roi_align(input, rois, *options)

    def __repr__(self):
        return (
            f"{type(self).__name__}(output_size={self.output_size}, "
            f"spatial_scale={self.spatial_scale}, sampling_ratio={self.sampling_ratio})"
        )
