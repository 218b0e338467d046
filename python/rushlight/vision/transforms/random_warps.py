"""RandomAffine, RandomPerspective, GaussianBlur: warps and blurs, drawn."""

from collections.abc import Sequence
from numbers import Number

from rushlight import nn

from . import functional
from ._image import InterpolationMode, get_dimensions, interpolation_mode
from .random import _below, _between, _check_pair, _happens


def limits(value, name, sizes=(2,)):
    """(lowest, highest) of a number d, which is (-d, d), or of a sequence of as many."""
    if isinstance(value, Number):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be positive.")
        return [float(-value), float(value)]
    if not isinstance(value, Sequence):
        raise TypeError(f"{name} should be a sequence of length {' or '.join(map(str, sizes))}.")
    if len(value) not in sizes:
        raise ValueError(f"{name} should be a sequence of length {' or '.join(map(str, sizes))}.")
    return [float(each) for each in value]


class RandomAffine(nn.Module):
    """The image rotated, moved, scaled and sheared at random, in its own size.

    Args:
        degrees: (lowest, highest) angle, or d for (-d, d).
        translate: the largest shares of width and height that it moves by.
        scale: (least, greatest) scale.
        shear: (lowest, highest) along x, four numbers for x and y, or d for (-d, d).
        interpolation: an InterpolationMode.
        fill: what comes into view.
        center: (x, y) of the point that stays; the middle if None.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomAffine(10, translate=(0.1, 0.1))(torch.ones(3, 8, 9)).shape
    torch.Size([3, 8, 9])
    """

    def __init__(
        self, degrees, translate=None, scale=None, shear=None,
        interpolation=InterpolationMode.NEAREST, fill=0, center=None,
    ):  # fmt: skip
        super().__init__()
        self.interpolation = interpolation_mode(
            InterpolationMode(interpolation) if isinstance(interpolation, str) else interpolation
        )
        self.degrees = limits(degrees, "degrees")
        for value, name in ((translate, "translate"), (scale, "scale"), (center, "center")):
            if value is not None:
                _check_pair(value, name)
        if translate is not None and not all(0.0 <= share <= 1.0 for share in translate):
            raise ValueError("translation values should be between 0 and 1")
        if scale is not None and any(share <= 0 for share in scale):
            raise ValueError("scale values should be positive")
        self.translate, self.scale, self.center = translate, scale, center
        self.shear = None if shear is None else limits(shear, "shear", (2, 4))
        if fill is not None and not isinstance(fill, Sequence | Number):
            raise TypeError("Fill should be either a sequence or a number.")
        self.fill = 0 if fill is None else fill

    @staticmethod
    def get_params(degrees, translate, scale_ranges, shears, img_size):
        """(angle, (right, down), scale, (shear along x, along y)), drawn.

        Args:
            degrees: limits of the angle.
            translate: shares of width and height, or None.
            scale_ranges: limits of the scale, or None.
            shears: two or four limits, or None.
            img_size: [width, height].
        """
        angle, moves, scale, across, down = _between(*degrees), (0, 0), 1.0, 0.0, 0.0
        if translate is not None:
            longest = [share * size for share, size in zip(translate, img_size, strict=True)]
            moves = tuple(round(_between(-each, each)) for each in longest)
        if scale_ranges is not None:
            scale = _between(*scale_ranges)
        if shears is not None:
            across = _between(*shears[:2])
            down = _between(*shears[2:]) if len(shears) == 4 else 0.0
        return angle, moves, scale, (across, down)

    def forward(self, img):
        """The image, changed."""
        size = get_dimensions(img)[:0:-1]
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, size)
        return functional.affine(img, *drawn, self.interpolation, self.fill, self.center)

    def extra_repr(self):
        """The arguments."""
        shown = [f"degrees={self.degrees}"]
        for name in ("translate", "scale", "shear", "center"):
            if getattr(self, name) is not None:
                shown.append(f"{name}={getattr(self, name)}")
        return ", ".join(shown)


class RandomPerspective(nn.Module):
    """The image as it is seen from a random place, with probability p.

    Args:
        distortion_scale: the share of a half side that a corner moves by at most.
        p: the probability.
        interpolation: an InterpolationMode.
        fill: what comes into view.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomPerspective(p=1.0)(torch.ones(3, 8, 9)).shape
    torch.Size([3, 8, 9])
    """

    def __init__(
        self, distortion_scale=0.5, p=0.5, interpolation=InterpolationMode.BILINEAR, fill=0
    ):
        super().__init__()
        if not 0 <= distortion_scale <= 1:
            raise ValueError("Argument distortion_scale value should be between 0 and 1")
        if fill is not None and not isinstance(fill, Sequence | Number):
            raise TypeError("Fill should be either a sequence or a number.")
        self.distortion_scale, self.p = distortion_scale, p
        self.interpolation = interpolation_mode(
            InterpolationMode(interpolation) if isinstance(interpolation, str) else interpolation
        )
        self.fill = 0 if fill is None else fill

    @staticmethod
    def get_params(width, height, distortion_scale):
        """(the corners, where they go), drawn.

        Args:
            width, height: of the image.
            distortion_scale: the share of a half side that a corner moves by at most.
        """
        reach = [int(distortion_scale * (size // 2)) + 1 for size in (width, height)]
        corners = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        ends = [
            [
                _below(r) if not at else at + 1 - r + _below(r)
                for at, r in zip(c, reach, strict=True)
            ]
            for c in corners
        ]
        return corners, ends

    def forward(self, img):
        """The image, changed or not."""
        if not _happens(self.p):
            return img
        _, height, width = get_dimensions(img)
        corners, ends = self.get_params(width, height, self.distortion_scale)
        return functional.perspective(img, corners, ends, self.interpolation, self.fill)

    def extra_repr(self):
        """The probability."""
        return f"p={self.p}"


class GaussianBlur(nn.Module):
    """The image blurred, by a deviation that is drawn.

    Args:
        kernel_size: of the neighbourhood, odd: a number or (across, down).
        sigma: limits of the deviation, or the one.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.GaussianBlur(3)(torch.ones(3, 8, 9)).shape
    torch.Size([3, 8, 9])
    """

    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        super().__init__()
        sizes = [kernel_size] if isinstance(kernel_size, Number) else list(kernel_size)
        self.kernel_size = tuple(sizes * 2 if len(sizes) == 1 else sizes)
        if len(self.kernel_size) != 2 or any(k <= 0 or k % 2 == 0 for k in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        self.sigma = (sigma, sigma) if isinstance(sigma, Number) else tuple(sigma)
        if len(self.sigma) != 2 or not 0.0 < self.sigma[0] <= self.sigma[1]:
            raise ValueError(
                f"sigma values should be positive and of the form (min, max). Got {sigma}"
            )

    @staticmethod
    def get_params(sigma_min, sigma_max):
        """The deviation, drawn.

        Args:
            sigma_min, sigma_max: its limits.
        """
        return _between(sigma_min, sigma_max)

    def forward(self, img):
        """The image, blurred."""
        sigma = self.get_params(*self.sigma)
        return functional.gaussian_blur(img, list(self.kernel_size), [sigma, sigma])

    def extra_repr(self):
        """The arguments."""
        return f"kernel_size={self.kernel_size}, sigma={self.sigma}"
