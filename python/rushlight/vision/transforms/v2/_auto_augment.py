"""AutoAugment, RandAugment, TrivialAugmentWide and AugMix of samples, with v2's draws."""

import rushlight

from .. import autoaugment as _v1
from .._image import max_value
from . import functional
from ._transform import ImageTransform

__all__ = ["AugMix", "AutoAugment", "RandAugment", "TrivialAugmentWide"]


class _Drawn(ImageTransform):
    _functional = functional
    _white = 1.0

    def _done(self, img, name, strength, negative=False):
        if name == "Solarize":
            strength *= max_value(img.dtype) if isinstance(img, rushlight.Tensor) else 255
        return super()._done(img, name, strength, negative)

    def _is_negative(self):
        return rushlight.rand(()).item() <= 0.5


class RandAugment(_Drawn, _v1.RandAugment):
    """Some drawn changes one after another; the arguments are v1's."""

    _of_image = _v1.RandAugment.forward


class TrivialAugmentWide(_Drawn, _v1.TrivialAugmentWide):
    """One drawn change; the arguments are v1's."""

    _of_image = _v1.TrivialAugmentWide.forward


class AugMix(_Drawn, _v1.AugMix):
    """Mixtures of images with chains of changes; the arguments are v1's."""

    _of_image = _v1.AugMix.forward


class AutoAugment(_Drawn, _v1.AutoAugment):
    """A drawn pair of changes; the arguments are v1's."""

    _of_image = _v1.AutoAugment.forward

    def _pair(self):
        drawn = self.policies[int(rushlight.randint(len(self.policies), ()))]
        for name, probability, at in drawn:
            if rushlight.rand(()).item() <= probability:
                yield name, at, self._is_negative
