"""Affine and perspective changes of an image, and blurs.

Each pixel of a result is looked up where it was: `positions` say where, in pixels.
"""

import math
from collections.abc import Sequence

import rushlight
from rushlight.nn import functional as nn_functional

from .._pillow import pillow
from ._image import InterpolationMode, interpolation_mode, pillow_number, require_image
from .geometry import colour_of


def affine_matrix(center, angle, translate, scale, shear):
    """((a, b, c), (d, e, f)), which moves a point (x, y) to (ax + by + c, dx + ey + f)."""
    turn = math.radians(angle)
    across, down = (math.radians(each) for each in shear)
    a, c = math.cos(turn - down) / math.cos(down), math.sin(turn - down) / math.cos(down)
    b = -a * math.tan(across) - math.sin(turn)
    d = -c * math.tan(across) + math.cos(turn)
    a, b, c, d = (scale * each for each in (a, b, c, d))
    (x, y), (right, below) = center, translate
    return (a, b, x + right - a * x - b * y), (c, d, y + below - c * x - d * y)


def inverted(matrix):
    """The matrix that moves points back."""
    (a, b, x), (c, d, y) = matrix
    size = a * d - b * c
    a, b, c, d = d / size, -b / size, -c / size, a / size
    return (a, b, -a * x - b * y), (c, d, -c * x - d * y)


def perspective_coefficients(startpoints, endpoints):
    """(a, ..., h), which move a point (x, y) of the result to ((ax + by + c) / (gx + hy + 1),
    (dx + ey + f) / (gx + hy + 1)) in the image."""
    rows, values = [], []
    for (x, y), (u, v) in zip(endpoints, startpoints, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    if len(rows) != 8:
        raise ValueError(
            f"perspective() needs four points of each, got {len(startpoints)} startpoints"
        )
    matrix = rushlight.tensor(rows, dtype=rushlight.float64)
    found = rushlight.linalg.solve(matrix, matrix.new_tensor(values))
    return found.to(rushlight.float32).tolist()  # as torchvision rounds them


def looked_up(img, x, y, mode, fill):
    """A tensor image of the values at the positions x, y (height, width), in pixels from its upper
    left corner; outside is `fill`."""
    require_image(img)
    if mode not in (InterpolationMode.NEAREST, InterpolationMode.BILINEAR):
        raise ValueError(f"a tensor cannot be moved with {mode.value!r}; use nearest or bilinear")
    rows, columns = img.shape[-2:]
    grid = rushlight.stack((x * (2 / columns) - 1, y * (2 / rows) - 1), -1)
    values = img if img.is_floating_point() else img.to(rushlight.float32)
    flat = values.reshape(1, -1, rows, columns)
    grid = grid.to(flat.device, flat.dtype).unsqueeze(0)
    found = nn_functional.grid_sample(flat, grid, mode.value, align_corners=False)
    found = found.reshape(*img.shape[:-2], *x.shape)
    if fill is not None:
        ones = flat.new_ones(1, 1, rows, columns)
        share = nn_functional.grid_sample(ones, grid, mode.value, align_corners=False)[0, 0]
        colour = rushlight.as_tensor(fill, dtype=found.dtype, device=img.device)
        colour = colour.reshape(-1, 1, 1) if colour.dim() else colour
        if mode is InterpolationMode.NEAREST:
            found = rushlight.where(share < 0.5, colour, found)
        else:
            found = found * share + (1 - share) * colour  # the edge is weighted twice, as there
    return found if img.is_floating_point() else found.round().to(img.dtype)


def _pixels(img):
    # The centres of the pixels of a tensor image, in pixels from its upper left corner.
    rows, columns = img.shape[-2:]
    axes = (rushlight.arange(n, dtype=rushlight.float32) + 0.5 for n in (rows, columns))
    y, x = rushlight.meshgrid(*axes, indexing="ij")
    return x, y


def _as_tensor(img, change):
    # A PIL image after a change of its pixels.
    import numpy

    pixels = rushlight.from_numpy(numpy.array(img))
    changed = change(pixels.movedim(-1, 0) if pixels.dim() > 2 else pixels)
    changed = changed.movedim(0, -1).contiguous() if pixels.dim() > 2 else changed
    return pillow().fromarray(changed.numpy())


def checked_affine(angle, translate, scale, shear, center):
    """The shear as two numbers, of arguments that affine() can take."""
    if not isinstance(angle, int | float):
        raise TypeError("Argument angle should be int or float")
    if not isinstance(translate, list | tuple):
        raise TypeError("Argument translate should be a sequence")
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if not isinstance(shear, int | float | list | tuple):
        raise TypeError("Shear should be either a single value or a sequence of two values")
    shear = [shear, 0.0] if isinstance(shear, int | float) else list(shear)
    shear = [shear[0], shear[0]] if len(shear) == 1 else shear
    if len(shear) != 2:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    if center is not None and not isinstance(center, list | tuple):
        raise TypeError("Argument center should be a sequence")
    return shear


def affine(
    img, angle, translate, scale, shear, interpolation=InterpolationMode.NEAREST, fill=None,
    center=None,
):  # fmt: skip
    """The image rotated, sheared, scaled and moved, in its own size.

    Args:
        img: PIL image; or a tensor, with NEAREST or BILINEAR.
        angle: degrees, clockwise.
        translate: pixels to the right and down.
        scale: how many times larger.
        shear: degrees along x, or along x and y.
        interpolation: an InterpolationMode.
        fill: what comes into view; 0 if None.
        center: (x, y) of the point that stays; the middle if None.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import affine
    >>> affine(torch.tensor([[[1.0, 2.0, 3.0]]]), 0, [1, 0], 1.0, 0)
    tensor([[[0., 1., 2.]]])
    """
    mode = interpolation_mode(interpolation)
    shear = checked_affine(angle, translate, scale, shear, center)
    columns, rows = img.shape[:-3:-1] if isinstance(img, rushlight.Tensor) else img.size
    middle = (columns / 2, rows / 2) if center is None else center
    (a, b, c), (d, e, f) = inverted(affine_matrix(middle, angle, translate, scale, shear))
    if isinstance(img, rushlight.Tensor):
        x, y = _pixels(img)
        return looked_up(img, a * x + b * y + c, d * x + e * y + f, mode, fill)
    return img.transform(
        img.size, 0, (a, b, c, d, e, f), pillow_number(mode), fillcolor=colour_of(fill, img)
    )


def perspective(img, startpoints, endpoints, interpolation=InterpolationMode.BILINEAR, fill=None):
    """The image as it is seen from elsewhere, in its own size.

    Args:
        img: PIL image; or a tensor, with NEAREST or BILINEAR.
        startpoints: four points (x, y) of the image.
        endpoints: where they are in the result.
        interpolation: an InterpolationMode.
        fill: what comes into view; 0 if None.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import perspective
    >>> corners = [[0, 0], [2, 0], [2, 1], [0, 1]]
    >>> moved = [[x + 1, y] for x, y in corners]
    >>> perspective(torch.tensor([[[1.0, 2.0, 3.0]]]), corners, moved).round(decimals=3)
    tensor([[[0., 1., 2.]]])
    """
    mode = interpolation_mode(interpolation)
    numbers = perspective_coefficients(startpoints, endpoints)
    if not isinstance(img, rushlight.Tensor):
        colour = colour_of(fill, img)
        return img.transform(img.size, 2, numbers, pillow_number(mode), fillcolor=colour)
    x, y = _pixels(img)
    return looked_up(img, *in_perspective(numbers, x, y), mode, fill)


def in_perspective(numbers, x, y):
    """Where perspective_coefficients() move points."""
    a, b, c, d, e, f, g, h = numbers
    depth = g * x + h * y + 1
    return (a * x + b * y + c) / depth, (d * x + e * y + f) / depth


def elastic_transform(img, displacement, interpolation=InterpolationMode.BILINEAR, fill=None):
    """The image, of whose pixels each comes from its own distance.

    Args:
        img: PIL image; or a tensor, with NEAREST or BILINEAR.
        displacement: (1, height, width, 2), across and down, in halves of a side.
        interpolation: an InterpolationMode.
        fill: what comes into view; 0 if None.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import elastic_transform
    >>> elastic_transform(torch.ones(3, 4, 5), torch.zeros(1, 4, 5, 2)).shape
    torch.Size([3, 4, 5])
    """
    require_image(img)
    if not isinstance(img, rushlight.Tensor):
        return _as_tensor(
            img, lambda pixels: elastic_transform(pixels, displacement, interpolation, fill)
        )
    right, below = checked_displacement(displacement, *img.shape[-2:])
    x, y = _pixels(img)
    return looked_up(img, x + right, y + below, interpolation_mode(interpolation), fill)


def checked_displacement(displacement, rows, columns):
    """Displacements across and down in pixels, each (rows, columns), of what is (1, rows, columns,
    2); ValueError for another shape."""
    if not isinstance(displacement, rushlight.Tensor):
        raise TypeError("Argument displacement should be a Tensor")
    if displacement.shape != (1, rows, columns, 2):
        raise ValueError(
            f"Argument displacement shape should be {(1, rows, columns, 2)}, but given "
            f"{displacement.shape}"
        )
    across, down = displacement[0].to(device="cpu", dtype=rushlight.float32).unbind(-1)
    return across * (columns / 2), down * (rows / 2)


def gaussian_blur(img, kernel_size, sigma=None):
    """The image averaged with its neighbours by weights of a normal distribution.

    Args:
        img: PIL image or a tensor (..., height, width).
        kernel_size: of the neighbourhood, odd: a number or [across, down].
        sigma: its standard deviation, a number or [across, down]; from the size if None.

    Shape: images (*, c, h, w) keep their shape.

    Raises:
        ValueError: an even size, or a deviation that is not positive.

    >>> from rushlight.vision.transforms.functional import gaussian_blur
    >>> gaussian_blur(9 * torch.eye(3)[None], 3, 100.0).round()
    tensor([[[5., 3., 4.],
             [3., 3., 3.],
             [4., 3., 5.]]])
    """
    sizes = _two(kernel_size, int, "kernel_size")
    if any(size <= 0 or size % 2 == 0 for size in sizes):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {sizes}")
    if sigma is None:
        sigma = [size * 0.15 + 0.35 for size in sizes]
    deviations = _two(sigma, (int, float), "sigma")
    if any(deviation <= 0 for deviation in deviations):
        raise ValueError(f"sigma should have positive values. Got {deviations}")
    if not isinstance(img, rushlight.Tensor):
        return _as_tensor(img, lambda pixels: gaussian_blur(pixels, sizes, sigma))
    require_image(img)
    values = img if img.is_floating_point() else img.to(rushlight.float32)
    across, down = (
        _bell(size, deviation, values) for size, deviation in zip(sizes, deviations, strict=True)
    )
    flat = values.reshape(-1, 1, *img.shape[-2:])
    sides = [sizes[0] // 2, sizes[0] // 2, sizes[1] // 2, sizes[1] // 2]
    flat = nn_functional.pad(flat, sides, mode="reflect")
    found = nn_functional.conv2d(flat, (down[:, None] * across)[None, None]).reshape(img.shape)
    return found if img.is_floating_point() else found.round().to(img.dtype)


def _bell(size, deviation, like):
    at = rushlight.arange(size, dtype=like.dtype, device=like.device) - (size - 1) / 2
    weights = (-0.5 * (at / deviation) ** 2).exp()
    return weights / weights.sum()


def _two(value, kind, name):
    values = list(value) if isinstance(value, Sequence) else [value]
    values = values * 2 if len(values) == 1 else values
    if not all(isinstance(each, kind) for each in values):
        raise TypeError(f"{name} should be a number or a sequence of numbers. Got {value}")
    if len(values) != 2:
        raise ValueError(f"If {name} is a sequence its length should be 2. Got {len(values)}")
    return values
