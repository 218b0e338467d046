"""Colours of samples distorted at random."""

import rushlight

from . import functional
from ._transform import Transform, is_image

__all__ = ["RandomChannelPermutation", "RandomPhotometricDistort"]


def _channels(flat_inputs):
    for part in flat_inputs:
        if is_image(part):
            return functional.get_num_channels(part)
    raise TypeError("No image or video was found in the sample")


class RandomChannelPermutation(Transform):
    """The channels of the images of a sample in a random order."""

    def make_params(self, flat_inputs):
        """The order."""
        return {"permutation": rushlight.randperm(_channels(flat_inputs)).tolist()}

    def transform(self, inpt, params):
        """In that order."""
        return functional.permute_channels(inpt, params["permutation"])


class RandomPhotometricDistort(Transform):
    """Brightness, contrast, saturation and hue changed, and channels exchanged, each by chance.

    Args:
        brightness, contrast, saturation, hue: limits of the factors.
        p: the probability of each change.

    Source: Liu et al., SSD, 2015.

    >>> from rushlight.vision.transforms import v2
    >>> v2.RandomPhotometricDistort()(torch.ones(3, 8, 16)).shape
    torch.Size([3, 8, 16])
    """

    def __init__(
        self, brightness=(0.875, 1.125), contrast=(0.5, 1.5), saturation=(0.5, 1.5),
        hue=(-0.05, 0.05), p=0.5,
    ):  # fmt: skip
        super().__init__()
        self.brightness, self.contrast = brightness, contrast
        self.hue, self.saturation, self.p = hue, saturation, p

    def _happens(self):
        return rushlight.rand(1).item() < self.p

    def make_params(self, flat_inputs):
        """The changes, in their order."""
        drawn = {}
        for name in ("brightness", "contrast", "saturation", "hue"):
            if self._happens():
                drawn[name] = rushlight.empty(1).uniform_(*getattr(self, name)).item()
        early = rushlight.rand(()).item() < 0.5
        order = ["brightness", "saturation", "hue"]
        order.insert(1 if early else 3, "contrast")
        changes = [(getattr(functional, f"adjust_{n}"), drawn[n]) for n in order if n in drawn]
        if self._happens():
            channels = rushlight.randperm(_channels(flat_inputs)).tolist()
            changes.append((functional.permute_channels, channels))
        return {"changes": changes}

    def transform(self, inpt, params):
        """Changed."""
        for change, value in params["changes"]:
            inpt = change(inpt, value)
        return inpt
