"""RandomAffine, RandomPerspective, ElasticTransform and GaussianBlur of samples."""

from .. import elastic as _v1_elastic
from .. import random_warps as _v1
from . import functional
from ._transform import RandomApplyTransform, Transform, fill_of, size_of, takes_fills

__all__ = ["ElasticTransform", "GaussianBlur", "RandomAffine", "RandomPerspective"]


@takes_fills
class RandomAffine(Transform, _v1.RandomAffine):
    """Rotated, moved, scaled and sheared at random; the arguments are v1's."""

    def make_params(self, flat_inputs):
        """The change."""
        size = size_of(flat_inputs)[::-1]
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, size)
        return {"drawn": drawn}

    def transform(self, inpt, params):
        """Changed."""
        fill = fill_of(inpt, self.fill)
        return functional.affine(inpt, *params["drawn"], self.interpolation, fill, self.center)


@takes_fills
class RandomPerspective(RandomApplyTransform, _v1.RandomPerspective):
    """As it is seen from a random place, with probability p; the arguments are v1's."""

    def __init__(
        self, distortion_scale=0.5, p=0.5,
        interpolation=functional.InterpolationMode.BILINEAR, fill=0,
    ):  # fmt: skip
        _v1.RandomPerspective.__init__(self, distortion_scale, p, interpolation, fill)

    def make_params(self, flat_inputs):
        """The corners."""
        height, width = size_of(flat_inputs)
        return {"corners": self.get_params(width, height, self.distortion_scale)}

    def transform(self, inpt, params):
        """Changed."""
        fill = fill_of(inpt, self.fill)
        return functional.perspective(inpt, *params["corners"], self.interpolation, fill)


class GaussianBlur(Transform, _v1.GaussianBlur):
    """Images blurred, by a deviation that is drawn; the arguments are v1's."""

    def make_params(self, flat_inputs):
        """The deviation."""
        return {"sigma": [self.get_params(*self.sigma)] * 2}

    def transform(self, inpt, params):
        """Blurred."""
        return functional.gaussian_blur(inpt, list(self.kernel_size), params["sigma"])


@takes_fills
class ElasticTransform(Transform, _v1_elastic.ElasticTransform):
    """Each pixel moved by its own, smoothed, random displacement; the arguments are v1's."""

    def make_params(self, flat_inputs):
        """The displacements."""
        size = list(size_of(flat_inputs))
        return {"displacement": self.get_params(self.alpha, self.sigma, size)}

    def transform(self, inpt, params):
        """Changed."""
        fill = self.fill[0] if len(self.fill) == 1 and isinstance(self.fill, list) else self.fill
        fill = fill_of(inpt, fill)
        return functional.elastic(inpt, params["displacement"], self.interpolation, fill)
