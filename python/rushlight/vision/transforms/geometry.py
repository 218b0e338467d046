"""Crops, flips, padding, resizing and rotation of PIL images and tensors.

A tensor is resized by two matrix products with Pillow's (and torch's) filter weights, so a
gradient goes through it.
"""

import math
from collections.abc import Sequence
from numbers import Number

import rushlight
from rushlight.nn.functional import interpolate

from .._pillow import pillow
from ._filters import FILTERS, weights
from ._image import (
    InterpolationMode,
    get_dimensions,
    interpolation_mode,
    is_array,
    pillow_number,
    require_image,
)


def _is_tensor(img):
    require_image(img)
    return isinstance(img, rushlight.Tensor)


def crop(img, top, left, height, width):
    """A rectangle of an image; zeros where it is outside.

    Args:
        img: PIL image or tensor.
        top, left: row and column of the upper left corner.
        height, width: size of the rectangle.

    Shape: (*, c, h, w) gives (*, c, height, width).

    >>> from rushlight.vision.transforms.functional import crop
    >>> crop(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 1, 0, 1, 2)
    tensor([[[3., 4.]]])
    """
    if not _is_tensor(img):
        return img.crop((left, top, left + width, top + height))
    rows, columns = img.shape[-2:]
    bottom, right = top + height, left + width
    inside = img[..., max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
    if top < 0 or left < 0 or bottom > rows or right > columns:
        edges = [max(-left, 0), max(-top, 0), max(right - columns, 0), max(bottom - rows, 0)]
        return pad(inside, edges)
    return inside


def _two(size):
    if isinstance(size, Number):
        return int(size), int(size)
    return (size[0], size[0]) if len(size) == 1 else tuple(size)


def center_crop(img, output_size):
    """The rectangle in the middle of an image, padded with zeros where the image is smaller.

    Args:
        img: PIL image or tensor.
        output_size: (height, width) or one int.

    Shape: (*, c, h, w) gives (*, c, *output_size).

    >>> from rushlight.vision.transforms.functional import center_crop
    >>> center_crop(torch.ones(3, 8, 16), 4).shape
    torch.Size([3, 4, 4])
    """
    height, width = _two(output_size)
    _, rows, columns = get_dimensions(img)
    if height > rows or width > columns:
        wide, tall = max(width - columns, 0), max(height - rows, 0)
        img = pad(img, [wide // 2, tall // 2, (wide + 1) // 2, (tall + 1) // 2])
        _, rows, columns = get_dimensions(img)
        if (height, width) == (rows, columns):
            return img
    return crop(img, round((rows - height) / 2.0), round((columns - width) / 2.0), height, width)


def five_crop(img, size):
    """The four corners and the middle, as a tuple.

    Args:
        img: PIL image or tensor.
        size: of each, (height, width) or one int.

    Shape: (*, c, h, w) gives five of (*, c, *size).

    >>> from rushlight.vision.transforms.functional import five_crop
    >>> len(five_crop(torch.ones(3, 8, 16), 4))
    5
    """
    height, width = _two(size)
    _, rows, columns = get_dimensions(img)
    if width > columns or height > rows:
        raise ValueError(
            f"Requested crop size {(height, width)} is bigger than input size {(rows, columns)}"
        )
    corners = [
        crop(img, top, left, height, width)
        for top in (0, rows - height)
        for left in (0, columns - width)
    ]
    return (*corners, center_crop(img, [height, width]))


def hflip(img):
    """Left and right exchanged.

    Args:
        img: PIL image or tensor.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import hflip
    >>> hflip(torch.tensor([[[1.0, 2.0]]]))
    tensor([[[2., 1.]]])
    """
    if _is_tensor(img):
        return img.flip(-1)
    return img.transpose(pillow().Transpose.FLIP_LEFT_RIGHT)


def vflip(img):
    """Top and bottom exchanged.

    Args:
        img: PIL image or tensor.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import vflip
    >>> vflip(torch.tensor([[[1.0], [2.0]]])).flatten()
    tensor([2., 1.])
    """
    if _is_tensor(img):
        return img.flip(-2)
    return img.transpose(pillow().Transpose.FLIP_TOP_BOTTOM)


def check_padding(padding, fill, padding_mode):
    """Raise for what `pad` does not take."""
    if not isinstance(padding, Number | tuple | list):
        raise TypeError("Got inappropriate padding arg")
    if not isinstance(fill, Number | tuple | list):
        raise TypeError("Got inappropriate fill arg")
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    if isinstance(padding, Sequence) and len(padding) not in (1, 2, 4):
        raise ValueError(
            "Padding must be an int or a 1, 2, or 4 element tuple, not a "
            f"{len(padding)} element tuple"
        )


def _edges(padding):
    """(left, top, right, bottom)."""
    if isinstance(padding, Number):
        return (int(padding),) * 4
    padding = tuple(padding)
    return padding * {1: 4, 2: 2, 4: 1}[len(padding)]


def pad(img, padding, fill=0, padding_mode="constant"):
    """The image with a border.

    Args:
        img: PIL image or tensor.
        padding: one number; (left and right, top and bottom); or (left, top, right, bottom).
            Negative values crop.
        fill: what the border holds; a number, or one a channel (PIL).
        padding_mode: "constant", "edge" (repeats the last pixel), "reflect", "symmetric".

    Shape: (*, c, h, w) gives (*, c, top + h + bottom, left + w + right).

    Raises:
        TypeError, ValueError: arguments of another kind.

    >>> from rushlight.vision.transforms.functional import pad
    >>> pad(torch.ones(3, 8, 16), 2).shape
    torch.Size([3, 12, 20])
    """
    check_padding(padding, 0 if fill is None else fill, padding_mode)
    left, top, right, bottom = _edges(padding)
    if _is_tensor(img):
        return _pad_tensor(img, left, top, right, bottom, fill or 0, padding_mode)
    if padding_mode == "constant":
        return _pad_image(img, left, top, right, bottom, fill)
    import numpy

    image_module = pillow()
    crops = [max(-edge, 0) for edge in (left, top, right, bottom)]
    if any(crops):
        img = img.crop((crops[0], crops[1], img.width - crops[2], img.height - crops[3]))
    pixels = numpy.asarray(img)
    widths = [(max(top, 0), max(bottom, 0)), (max(left, 0), max(right, 0))]
    pixels = numpy.pad(pixels, widths + [(0, 0)] * (pixels.ndim - 2), padding_mode)
    result = image_module.fromarray(pixels)
    if img.mode == "P":
        result.putpalette(img.getpalette())
    return result


def _pad_image(img, left, top, right, bottom, fill):
    size = (img.width + left + right, img.height + top + bottom)
    if min(size) < 0:
        raise ValueError(f"padding {(left, top, right, bottom)} leaves nothing of {img.size}")
    result = pillow().new(img.mode, size, colour_of(fill, img))
    if img.mode == "P":
        result.putpalette(img.getpalette())
    result.paste(img, (left, top))
    return result


def colour_of(fill, img):
    """`fill` as Pillow wants a colour of the image's mode."""
    channels = len(img.getbands())
    fill = 0 if fill is None else fill
    if isinstance(fill, Number) and channels > 1:
        fill = (fill,) * channels
    if isinstance(fill, Number):
        return fill if img.mode == "F" else int(fill)
    fill = tuple(fill) * channels if len(fill) == 1 else tuple(fill)
    if len(fill) != channels:
        raise ValueError(
            "The number of elements in 'fill' does not match the number of channels of the image "
            f"({len(fill)} != {channels})"
        )
    if channels == 1:
        return fill[0] if img.mode == "F" else int(fill[0])
    return tuple(int(value) for value in fill)


def _source_indices(size, before, after, mode):
    """For each row of the result, the row of the image that it repeats."""
    if size == 0:
        raise ValueError(f"an empty image cannot be padded in mode {mode!r}")
    if mode == "reflect" and max(before, after) >= size:
        raise ValueError(
            f"Padding size should be less than the corresponding input dimension, but got padding "
            f"({before}, {after}) at an image size of {size}"
        )
    wanted = range(-before, size + after)
    if mode == "edge":
        return [min(max(i, 0), size - 1) for i in wanted]
    period = 2 * size - 2 if mode == "reflect" else 2 * size
    mirrored = [i % period if period else 0 for i in wanted]
    last = period if mode == "reflect" else period - 1
    return [i if i < size else last - i for i in mirrored]


def _pad_tensor(img, left, top, right, bottom, fill, mode):
    if isinstance(fill, tuple | list):
        if len(fill) != 1:
            raise TypeError("Got inappropriate fill arg")
        fill = fill[0]
    rows, columns = img.shape[-2:]
    if mode != "constant":
        for dim, edges in ((-2, (top, bottom)), (-1, (left, right))):
            indices = _source_indices(img.shape[dim], *edges, mode)
            indices = rushlight.tensor(indices, device=img.device)
            img = img.index_select(img.dim() + dim, indices)
        return img
    size = (*img.shape[:-2], rows + top + bottom, columns + left + right)
    result = img.new_full(size, fill)
    inside = img[
        ..., max(-top, 0) : rows - max(-bottom, 0), max(-left, 0) : columns - max(-right, 0)
    ]
    top, left = max(top, 0), max(left, 0)
    result[..., top : top + inside.shape[-2], left : left + inside.shape[-1]] = inside
    return result


def output_size(rows, columns, size, max_size):
    """(height, width) that `resize` gives an image of `rows` and `columns`."""
    if not isinstance(size, int) and len(size) == 2:
        return int(size[0]), int(size[1])
    size = size if isinstance(size, int) else size[0]
    short, long = sorted((rows, columns))
    new_short, new_long = size, int(size * long / short)
    if max_size is not None:
        if max_size <= size:
            raise ValueError(
                f"max_size = {max_size} must be strictly greater than the requested size for the "
                f"smaller edge size = [{size}]"
            )
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_long, new_short) if columns <= rows else (new_short, new_long)


def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    """The image in another size.

    Args:
        img: PIL image or tensor.
        size: (height, width), or the length of the shorter edge.
        interpolation: an InterpolationMode; a tensor takes NEAREST, BILINEAR and BICUBIC.
        max_size: limit of the longer edge, when `size` is one number.
        antialias: for tensors, whether shrinking averages over what falls together; PIL images
            are always averaged.

    Shape: (*, c, h, w) gives (*, c, *size), or with an int the shorter side of that length.

    Raises:
        TypeError, ValueError: arguments of another kind.

    >>> from rushlight.vision.transforms.functional import resize
    >>> resize(torch.ones(3, 8, 16), 4).shape
    torch.Size([3, 4, 8])
    """
    return resize_to(img, size, interpolation, max_size, antialias, fixed_point=False)


def resize_to(img, size, interpolation, max_size, antialias, fixed_point):
    # v1 resizes bytes in float; v2 by `interpolate`, whose bytes are made in fixed point.
    mode = interpolation_mode(interpolation)
    if isinstance(size, list | tuple):
        if len(size) not in (1, 2):
            raise ValueError(
                f"Size must be an int or a 1 or 2 element tuple/list, not a {len(size)} element "
                "tuple/list"
            )
        if max_size is not None and len(size) != 1:
            raise ValueError(
                "max_size should only be passed if size specifies the length of the smaller edge, "
                "i.e. size should be an int or a sequence of length 1 in torchscript mode."
            )
    if is_array(img):
        require_image(img)
    _, rows, columns = get_dimensions(img)
    height, width = output_size(rows, columns, size, max_size)
    if (rows, columns) == (height, width):
        return img
    if not _is_tensor(img):
        return img.resize((width, height), pillow_number(mode))
    if mode not in FILTERS:
        raise ValueError(
            f"a tensor cannot be resized with {mode.value!r}; use nearest, bilinear or bicubic"
        )
    kind = img.dtype
    if fixed_point and kind == rushlight.uint8 and img.is_cpu and img.numel():
        if mode in (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC):
            planes, to = img.reshape(-1, *img.shape[-3:]), (height, width)
            made = interpolate(planes, to, mode=mode.value, antialias=antialias)
            return made.reshape(*img.shape[:-2], height, width)
    values = img if img.is_floating_point() else img.to(rushlight.float32)
    by_rows = weights(rows, height, mode, antialias).to(img.device, values.dtype)
    by_columns = weights(columns, width, mode, antialias).to(img.device, values.dtype)
    result = by_rows.matmul(values).matmul(by_columns.t())
    if not kind.is_floating_point:
        if kind == rushlight.uint8:
            result = result.clamp(0, 255)
        result = result.round().to(kind)
    return result


def resized_crop(
    img, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR, antialias=True
):
    """`crop`, then `resize`.

    Args:
        img: PIL image or tensor.
        top, left: row and column of the upper left corner.
        height, width: size of the rectangle.
        size: of the result, (height, width) or the length of the shorter edge.
        interpolation: an InterpolationMode.
        antialias: see `resize`.

    Shape: (*, c, h, w) gives (*, c, *size).

    >>> from rushlight.vision.transforms.functional import resized_crop
    >>> resized_crop(torch.ones(3, 8, 16), 0, 0, 4, 4, (2, 2)).shape
    torch.Size([3, 2, 2])
    """
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def rotate(
    img, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=None
):
    """The image rotated counter-clockwise.

    Args:
        img: PIL image; or a tensor, with NEAREST or BILINEAR.
        angle: degrees.
        interpolation: an InterpolationMode.
        expand: make the result large enough to hold all of the image.
        center: (x, y) of the point that stays; the middle if None.
        fill: what the corners hold; 0 if None.

    Shape: (*, c, h, w) keeps its shape unless `expand`.

    Raises:
        TypeError: an angle, center or interpolation of another kind.

    >>> from rushlight.vision.transforms.functional import rotate
    >>> rotate(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 90)
    tensor([[[2., 4.],
             [1., 3.]]])
    """
    mode = interpolation_mode(interpolation)
    if not isinstance(angle, int | float):
        raise TypeError("Argument angle should be int or float")
    if center is not None and not isinstance(center, list | tuple):
        raise TypeError("Argument center should be a sequence")
    if not _is_tensor(img):
        colour = colour_of(fill, img)
        return img.rotate(angle, pillow_number(mode), expand, center, fillcolor=colour)
    return _rotate_tensor(img, angle, mode, expand, center, fill)


def _rotate_tensor(img, angle, mode, expand, center, fill):
    # Each pixel of the result is looked up where it was before the rotation.
    import numpy

    if mode not in (InterpolationMode.NEAREST, InterpolationMode.BILINEAR):
        raise ValueError(f"a tensor cannot be rotated with {mode.value!r}; use nearest or bilinear")
    rows, columns = img.shape[-2:]
    x0, y0 = (0.0, 0.0) if center is None else (center[0] - columns / 2, center[1] - rows / 2)
    turn = math.radians(angle)
    cos, sin = math.cos(turn), math.sin(turn)
    height, width = rows, columns
    if expand:
        corners = [(x * columns / 2, y * rows / 2) for x in (-1, 1) for y in (-1, 1)]
        xs = [cos * x + sin * y for x, y in corners]
        ys = [-sin * x + cos * y for x, y in corners]
        width = math.ceil(round(max(xs), 4)) - math.floor(round(min(xs), 4))
        height = math.ceil(round(max(ys), 4)) - math.floor(round(min(ys), 4))
    y, x = numpy.meshgrid(
        numpy.arange(height) - (height - 1) / 2 - y0,
        numpy.arange(width) - (width - 1) / 2 - x0,
        indexing="ij",
    )
    old_x = cos * x - sin * y + x0 + (columns - 1) / 2
    old_y = sin * x + cos * y + y0 + (rows - 1) / 2
    flat = img.reshape(*img.shape[:-2], rows * columns)
    values = flat if img.is_floating_point() else flat.to(rushlight.float32)
    total, weight = 0, 0
    for shift_y, shift_x in ((0, 0), (0, 1), (1, 0), (1, 1)):
        if mode is InterpolationMode.NEAREST:
            if shift_y or shift_x:
                break
            near_y, near_x = numpy.rint(old_y), numpy.rint(old_x)
            share = numpy.ones_like(old_x)
        else:
            near_y, near_x = numpy.floor(old_y) + shift_y, numpy.floor(old_x) + shift_x
            share = (1 - abs(old_y - near_y)) * (1 - abs(old_x - near_x))
        inside = (near_y >= 0) & (near_y < rows) & (near_x >= 0) & (near_x < columns)
        index = numpy.where(inside, near_y * columns + near_x, 0).astype(numpy.int64)
        index = rushlight.from_numpy(index.ravel()).to(img.device)
        share = rushlight.from_numpy((share * inside).ravel()).to(img.device, values.dtype)
        total = total + values.index_select(values.dim() - 1, index) * share
        weight = weight + share
    result = total
    if fill is not None:
        colour = rushlight.as_tensor(fill, dtype=values.dtype, device=img.device)
        # The edge's pixels are weighted twice: so does torchvision, and programs expect it.
        result = total * weight + (1 - weight) * (colour.view(-1, 1) if colour.dim() else colour)
    if not img.is_floating_point():
        result = result.round().to(img.dtype)
    return result.reshape(*img.shape[:-2], height, width)
