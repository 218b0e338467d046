"""Elastic changes of an image: each pixel moved by its own, smoothed, random displacement.

Source: Simard et al., Best Practices for Convolutional Neural Networks, 2003.
"""

from collections.abc import Sequence
from numbers import Number

import rushlight
from rushlight import nn

from . import functional
from ._image import InterpolationMode, get_dimensions, interpolation_mode


def _two(value, name):
    if isinstance(value, Number):
        return [float(value)] * 2
    if not isinstance(value, Sequence):
        raise TypeError(f"{name} should be a number or a sequence of numbers. Got {type(value)}")
    if len(value) not in (1, 2):
        raise ValueError(f"If {name} is a sequence its length should be 1 or 2. Got {len(value)}")
    if not all(isinstance(each, Number) for each in value):
        raise TypeError(f"{name} should be a sequence of numbers. Got {value}")
    return [float(value[0]), float(value[-1])]


class ElasticTransform(nn.Module):
    """Each pixel moved by its own, smoothed, random displacement.

    Args:
        alpha: how far, in pixels before smoothing: a number or (across, down).
        sigma: the deviation of the bell that smooths the displacements.
        interpolation: an InterpolationMode.
        fill: what comes into view.

    Shape: as the input; its sides longer than 4 sigma, if sigma is above 0.

    >>> from rushlight.vision import transforms
    >>> transforms.ElasticTransform(sigma=1.0)(torch.ones(3, 8, 9)).shape
    torch.Size([3, 8, 9])
    """

    def __init__(
        self, alpha=50.0, sigma=5.0, interpolation=InterpolationMode.BILINEAR, fill=0
    ):  # fmt: skip
        super().__init__()
        self.alpha, self.sigma = _two(alpha, "alpha"), _two(sigma, "sigma")
        self.interpolation = interpolation_mode(
            InterpolationMode(interpolation) if isinstance(interpolation, str) else interpolation
        )
        self.fill = [float(fill)] if isinstance(fill, Number) else [float(each) for each in fill]

    @staticmethod
    def get_params(alpha, sigma, size):
        """Displacements (1, height, width, 2), in halves of a side, drawn.

        Args:
            alpha, sigma: two numbers each.
            size: height and width.
        """
        drawn = []
        for far, deviation, side in zip(alpha, sigma, size[::-1], strict=True):
            noise = rushlight.rand([1, 1, *size]) * 2 - 1
            if deviation > 0.0:
                width = int(8 * deviation + 1)
                width += width % 2 == 0
                noise = functional.gaussian_blur(noise, [width, width], list(sigma))
            drawn.append(noise * far / side)
        return rushlight.cat(drawn, 1).permute(0, 2, 3, 1)

    def forward(self, img):
        """The image, changed."""
        displacement = self.get_params(self.alpha, self.sigma, get_dimensions(img)[1:])
        fill = self.fill if len(self.fill) > 1 else self.fill[0]
        return functional.elastic_transform(img, displacement, self.interpolation, fill)

    def __repr__(self):
        return (
            f"{type(self).__name__}(alpha={self.alpha}, sigma={self.sigma}, "
            f"interpolation={self.interpolation}, fill={self.fill})"
        )
