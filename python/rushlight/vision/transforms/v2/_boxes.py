"""Boxes and key points under the functions of geometry: their corners move as pixels do."""

import math

import rushlight

from ... import tv_tensors
from ...ops.boxes import box_convert
from ...tv_tensors import BoundingBoxFormat
from .. import functional as _v1
from ..geometry import _edges, _two, output_size
from ..warps import (
    affine_matrix,
    checked_affine,
    checked_displacement,
    in_perspective,
    perspective_coefficients,
)
from ._kernels import plain


def _format(value):
    return BoundingBoxFormat[value.upper()] if isinstance(value, str) else value


def converted(boxes, old, new):
    """Boxes in another format; whole numbers stay whole."""
    if old == new:
        return boxes.clone()
    found = box_convert(boxes, old.value.lower(), new.value.lower())
    return found if found.dtype == boxes.dtype else found.to(boxes.dtype)


def convert_bounding_box_format(inpt, old_format=None, new_format=None, inplace=False):
    """Boxes in another format.

    Args:
        inpt: BoundingBoxes, or a tensor (n, 4).
        old_format: of a tensor; BoundingBoxes know theirs.
        new_format: a BoundingBoxFormat or its name.
        inplace: whether the boxes themselves change.

    >>> from rushlight.vision import tv_tensors
    >>> from rushlight.vision.transforms.v2.functional import convert_bounding_box_format
    >>> boxes = tv_tensors.BoundingBoxes([[1, 1, 3, 5]], format="XYXY", canvas_size=(8, 8))
    >>> convert_bounding_box_format(boxes, new_format="XYWH").tolist()
    [[1, 1, 2, 4]]
    """
    if new_format is None:
        raise TypeError("convert_bounding_box_format() missing 1 required argument: 'new_format'")
    new = _format(new_format)
    if isinstance(inpt, tv_tensors.BoundingBoxes):
        if old_format is not None:
            raise ValueError("For bounding box tv_tensor inputs, `old_format` must not be set.")
        found = converted(plain(inpt), inpt.format, new)
        if inplace:
            plain(inpt).copy_(found)
            inpt.format = new
            return inpt
        return tv_tensors.wrap(found, like=inpt, format=new)
    if old_format is None:
        raise ValueError("For pure tensor inputs, `old_format` has to be passed.")
    found = converted(inpt, _format(old_format), new)
    return inpt.copy_(found) if inplace else found


def _clamped(corners, canvas):
    # Two corners each, within an image.
    height, width = canvas
    xs, ys = corners[..., 0::2].clamp(0, width), corners[..., 1::2].clamp(0, height)
    return rushlight.stack((xs, ys), -1).flatten(-2)


def clamp_bounding_boxes(inpt, format=None, canvas_size=None, clamping_mode="auto"):
    """Boxes cut at the edges of their image.

    Args:
        inpt: BoundingBoxes, or a tensor (n, 4).
        format: of a tensor.
        canvas_size: (height, width) of a tensor's image.
        clamping_mode: None changes nothing; "soft" and "hard" are the same for these formats, and
            "auto" is the mode of the boxes.

    >>> from rushlight.vision import tv_tensors
    >>> from rushlight.vision.transforms.v2.functional import clamp_bounding_boxes
    >>> boxes = tv_tensors.BoundingBoxes([[-1, 1, 9, 5]], format="XYXY", canvas_size=(4, 8))
    >>> clamp_bounding_boxes(boxes).tolist()
    [[0, 1, 8, 4]]
    """
    if isinstance(inpt, tv_tensors.BoundingBoxes):
        if format is not None or canvas_size is not None:
            raise ValueError(
                "For bounding box tv_tensor inputs, `format` and `canvas_size` must not be passed."
            )
        mode = inpt.clamping_mode if clamping_mode == "auto" else clamping_mode
        found = clamp_bounding_boxes(plain(inpt), inpt.format, inpt.canvas_size, mode)
        return tv_tensors.wrap(found, like=inpt)
    if format is None or canvas_size is None or clamping_mode == "auto":
        raise ValueError(
            "For pure tensor inputs, `format`, `canvas_size` and `clamping_mode` have to be passed."
        )
    if clamping_mode is None:
        return inpt.clone()
    if clamping_mode not in ("soft", "hard"):
        raise ValueError(f"clamping_mode must be soft, hard or None, got {clamping_mode}")
    kind = _format(format)
    corners = converted(inpt, kind, BoundingBoxFormat.XYXY)
    return converted(_clamped(corners, canvas_size), BoundingBoxFormat.XYXY, kind)


def clamp_keypoints(inpt, canvas_size=None):
    """Key points moved into their image.

    Args:
        inpt: KeyPoints, or a tensor (..., 2).
        canvas_size: (height, width) of a tensor's image.
    """
    known = isinstance(inpt, tv_tensors.KeyPoints)
    if known == (canvas_size is not None):
        raise ValueError("`canvas_size` is for pure tensors, and they need it")
    height, width = inpt.canvas_size if known else canvas_size
    x, y = plain(inpt).unbind(-1)
    found = rushlight.stack((x.clamp(0, width - 1), y.clamp(0, height - 1)), -1)
    return tv_tensors.wrap(found, like=inpt) if known else found


def sanitize_bounding_boxes(
    bounding_boxes, format=None, canvas_size=None, min_size=1.0, min_area=1.0
):  # fmt: skip
    """(the boxes that lie in their image and are large enough, which these are).

    Args:
        bounding_boxes: BoundingBoxes, or a tensor (n, 4).
        format: of a tensor.
        canvas_size: (height, width) of a tensor's image.
        min_size: the least length of a side.
        min_area: the least area.
    """
    known = isinstance(bounding_boxes, tv_tensors.BoundingBoxes)
    if known and (format is not None or canvas_size is not None):
        raise ValueError(
            "format and canvas_size must be None when bounding_boxes is a tv_tensors.BoundingBoxes"
        )
    if known:
        format, canvas_size = bounding_boxes.format, bounding_boxes.canvas_size
    elif format is None or canvas_size is None:
        raise ValueError(
            "format and canvas_size cannot be None if bounding_boxes is a pure tensor."
        )
    boxes = plain(bounding_boxes)
    x1, y1, x2, y2 = converted(boxes, _format(format), BoundingBoxFormat.XYXY).unbind(-1)
    w, h = x2 - x1, y2 - y1
    valid = (w >= min_size) & (h >= min_size) & (w * h >= min_area)
    height, width = canvas_size
    valid &= (x1 >= 0) & (y1 >= 0) & (x2 <= width) & (y2 <= height)
    valid &= (x2 >= 0) & (y2 >= 0) & (x1 <= width) & (y1 <= height)
    found = boxes[valid]
    return (tv_tensors.wrap(found, like=bounding_boxes) if known else found), valid


def sanitize_keypoints(key_points, canvas_size=None):
    """(the points, or groups of points, that lie in their image, which these are).

    Args:
        key_points: KeyPoints, or a tensor (n, ..., 2).
        canvas_size: (height, width) of a tensor's image.

    >>> from rushlight.vision.transforms.v2.functional import sanitize_keypoints
    >>> sanitize_keypoints(torch.tensor([[1, 2], [9, 2]]), canvas_size=(4, 8))
    (tensor([[1, 2]]), tensor([ True, False]))
    """
    known = isinstance(key_points, tv_tensors.KeyPoints)
    if known and canvas_size is not None:
        raise ValueError(
            "canvas_size must be None when key_points is a tv_tensors.KeyPoints instance. Got "
            f"canvas_size={canvas_size}. Leave it to None or pass key_points as a pure tensor."
        )
    if not known and canvas_size is None:
        raise ValueError(
            "canvas_size cannot be None if key_points is a pure tensor. Set it to an appropriate "
            "value or pass key_points as a tv_tensors.KeyPoints object."
        )
    height, width = key_points.canvas_size if known else canvas_size
    x, y = plain(key_points).unbind(-1)
    valid = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    if valid.dim() > 1:
        valid = valid.flatten(1).all(1)
    found = plain(key_points)[valid]
    return (tv_tensors.wrap(found, like=key_points) if known else found), valid


def moved(inpt, move, canvas=None, clamps=True):
    """Boxes or key points whose corners go where move(x, y) says, in an image of size canvas."""
    canvas = inpt.canvas_size if canvas is None else tuple(canvas)
    values = plain(inpt)
    if isinstance(inpt, tv_tensors.KeyPoints):
        x, y = move(*values.unbind(-1))
        found = rushlight.stack((x, y), -1).to(values.dtype)
        return tv_tensors.wrap(found, like=inpt, canvas_size=canvas)
    x1, y1, x2, y2 = converted(values, inpt.format, BoundingBoxFormat.XYXY).unbind(-1)
    x, y = move(rushlight.stack((x1, x2, x2, x1), -1), rushlight.stack((y1, y1, y2, y2), -1))
    corners = rushlight.stack((x.amin(-1), y.amin(-1), x.amax(-1), y.amax(-1)), -1)
    if clamps and inpt.clamping_mode is not None:
        corners = _clamped(corners, canvas)
    found = converted(corners.to(values.dtype), BoundingBoxFormat.XYXY, inpt.format)
    return tv_tensors.wrap(found, like=inpt, canvas_size=canvas)


def hflip(inpt):
    """Left and right exchanged."""
    last = inpt.canvas_size[1] - isinstance(inpt, tv_tensors.KeyPoints)
    return moved(inpt, lambda x, y: (last - x, y), clamps=False)


def vflip(inpt):
    """Top and bottom exchanged."""
    last = inpt.canvas_size[0] - isinstance(inpt, tv_tensors.KeyPoints)
    return moved(inpt, lambda x, y: (x, last - y), clamps=False)


def crop(inpt, top, left, height, width):
    """In the rectangle of an image."""
    return moved(inpt, lambda x, y: (x - left, y - top), (height, width))


def center_crop(inpt, output_size):
    """In the rectangle in the middle of an image."""
    (rows, columns), (height, width) = inpt.canvas_size, _two(output_size)
    top, left = round((rows - height) / 2.0), round((columns - width) / 2.0)
    return crop(inpt, top, left, height, width)


def pad(inpt, padding, fill=0, padding_mode="constant"):
    """In an image with borders."""
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError(f"Padding mode '{padding_mode}' is not supported with bounding boxes")
    left, top, right, bottom = _edges(padding)
    rows, columns = inpt.canvas_size
    canvas = (rows + top + bottom, columns + left + right)
    return moved(inpt, lambda x, y: (x + left, y + top), canvas)


def resize(inpt, size, interpolation=None, max_size=None, antialias=True):
    """In an image of another size."""
    rows, columns = inpt.canvas_size
    height, width = output_size(rows, columns, size, max_size)
    across, down = width / columns, height / rows
    return moved(inpt, lambda x, y: (x * across, y * down), (height, width), clamps=False)


def resized_crop(
    inpt, top, left, height, width, size, interpolation=None, antialias=True
):  # fmt: skip
    """In a rectangle of an image, resized."""
    return resize(crop(inpt, top, left, height, width), size)


def rotate(inpt, angle, interpolation=None, expand=False, center=None, fill=None):
    """In an image rotated counter-clockwise, of the size that rotate() gives an image.

    torchvision's size for boxes may be a pixel away from that of its image.
    """
    rows, columns = inpt.canvas_size
    cx, cy = (columns * 0.5, rows * 0.5) if center is None or expand else center
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))

    def rotated(x, y):
        return cos * (x - cx) + sin * (y - cy) + cx, cos * (y - cy) - sin * (x - cx) + cy

    if not expand:
        return moved(inpt, rotated)
    ends = [rotated(x, y) for x in (0, columns) for y in (0, rows)]
    left, top = min(x for x, _ in ends), min(y for _, y in ends)
    size = _v1.rotate(rushlight.zeros(1, rows, columns), angle, expand=True).shape[-2:]

    def within(x, y):
        x, y = rotated(x, y)
        return x - left, y - top

    return moved(inpt, within, size)


def affine(inpt, angle, translate, scale, shear, interpolation=None, fill=None, center=None):
    """In an image rotated, sheared, scaled and moved."""
    rows, columns = inpt.canvas_size
    shear = checked_affine(angle, translate, scale, shear, center)
    middle = (columns / 2, rows / 2) if center is None else center
    (a, b, c), (d, e, f) = affine_matrix(middle, angle, translate, scale, shear)
    return moved(inpt, lambda x, y: (a * x + b * y + c, d * x + e * y + f))


def elastic(inpt, displacement, interpolation=None, fill=None):
    """In an image whose pixels come from their own distances, taken as the way back too."""
    rows, columns = inpt.canvas_size
    right, below = checked_displacement(displacement, rows, columns)

    def back(x, y):
        column = x.ceil().long().clamp(0, columns - 1)
        row = y.ceil().long().clamp(0, rows - 1)
        at = (row.cpu(), column.cpu())
        return column - right[at].to(x.device), row - below[at].to(y.device)

    return moved(inpt, back)


def perspective(inpt, startpoints, endpoints, interpolation=None, fill=None):
    """In an image as it is seen from elsewhere."""
    numbers = perspective_coefficients(endpoints, startpoints)
    return moved(inpt, lambda x, y: in_perspective(numbers, x, y))
