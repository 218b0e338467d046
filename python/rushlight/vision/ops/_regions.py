"""Regions of images as the operations on them take them: rows (image, x1, y1, x2, y2)."""

import rushlight
from rushlight import Tensor


def pair(size):
    """A number as two."""
    return (size, size) if isinstance(size, int) else tuple(size)


def as_rows(boxes, input):
    """(k, 5) of a tensor of such rows, or of a list with a tensor (l, 4) for each image."""
    if isinstance(boxes, list | tuple):
        for one in boxes:
            assert one.dim() == 2 and one.size(1) == 4, (
                "The shape of the tensor in the boxes list is not correct as List[Tensor[L, 4]]"
            )
        parts = [rushlight.cat([x.new_full((len(x), 1), i), x], 1) for i, x in enumerate(boxes)]
        boxes = rushlight.cat(parts) if parts else input.new_zeros((0, 5))
    elif isinstance(boxes, Tensor):
        assert boxes.dim() == 2 and boxes.size(1) == 5, (
            "The boxes tensor shape is not correct as Tensor[K, 5]"
        )
    else:
        raise AssertionError("boxes is expected to be a Tensor[L, 5] or a List[Tensor[K, 4]]")
    if input.dim() != 4:
        raise RuntimeError(f"input must have 4 dimensions (n, c, h, w), and has {input.dim()}")
    if boxes.dtype != input.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'input' to have the same type as tensor for argument "
            f"#2 'rois'; but type {input.dtype} does not equal {boxes.dtype}"
        )
    return boxes.detach()


def pixels(input):
    """(n * h * w, c): the channels of each pixel as a row."""
    return input.permute(0, 2, 3, 1).reshape(-1, input.shape[1])


def first_pixels(rows, input, dims):
    """The row of pixels() where each region's image begins, (k, 1, ...)."""
    image = rows[:, 0].long() * (input.shape[2] * input.shape[3])
    return image.reshape(-1, *[1] * (dims - 1))


def check_size(*sizes):
    """RuntimeError where regions are so large that their positions would fill the memory."""
    count = 1
    for size in sizes:
        count *= size
    if not count <= 2**27:  # nor infinite, nor not a number
        raise RuntimeError(
            f"the regions have {count} positions in all, more than {2**27}: give fewer or smaller "
            "ones at a time, or a sampling_ratio"
        )


def bins_between(begin, end, limit):
    """The pixels of bins from begin to end, (k, pooled), of a dimension whose pixels lie before
    `limit`, and which of them are in the bin: (k, pooled, pixels). A bin of NaN has none."""
    begin, end = (x.clamp(0, limit).nan_to_num(0.0).long() for x in (begin, end))
    most = max(int((end - begin).max()), 1) if len(begin) else 1
    check_size(*begin.shape, most)
    index = begin[..., None] + rushlight.arange(most, device=begin.device)
    return index, index < end[..., None]


def as_images(found, count, height, width):
    """(k * height * width, c) as (k, c, height, width)."""
    shape = (count, height, width, found.shape[1])
    return found.reshape(shape).permute(0, 3, 1, 2).contiguous()


def of_bins(input, rows, height, width):
    """(the channels of each pixel and bin as a row, the row where each region's bin begins).

    The channels of images are (c, height, width) bins; the second result is (k, height, width).
    """
    if height <= 0 or width <= 0:
        raise RuntimeError(f"output_size must be positive, got {(height, width)}")
    n, channels, h, w = input.shape
    if channels % (height * width):
        raise RuntimeError("input channels must be a multiple of pooling height * pooling width")
    table = input.reshape(n, -1, height, width, h, w).permute(0, 2, 3, 4, 5, 1)
    bins = rushlight.arange(height * width, device=input.device).reshape(1, height, width)
    first = (rows[:, :1, None].long() * (height * width) + bins) * (h * w)
    return table.reshape(n * height * width * h * w, -1), first
