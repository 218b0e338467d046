"""Changes of tones.py, and inversion, done with a probability."""

from rushlight import nn

from . import functional
from .random import _happens

__all__ = [
    "RandomAdjustSharpness", "RandomAutocontrast", "RandomEqualize", "RandomInvert",
    "RandomPosterize", "RandomSolarize",
]  # fmt: skip


class RandomTone(nn.Module):
    """A change of an image that is done with probability p: `_change`, in subclasses.

    Args:
        p: the probability.
    """

    _functional = functional  # v2 has its own
    _shown: tuple[str, ...] = ()

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        """The image, changed or not."""
        return self._change(img) if _happens(self.p) else img

    def __repr__(self):
        shown = [f"{name}={value}" for name, value in vars(self).items() if name in self._shown]
        return f"{type(self).__name__}({','.join([*shown, f'p={self.p}'])})"


class RandomInvert(RandomTone):
    """Dark and bright exchanged, with probability p.

    Args:
        p: the probability.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomInvert(p=1.0)(torch.zeros(1, 1, 1)).item()
    1.0
    """

    def _change(self, img):
        return self._functional.invert(img)


class RandomPosterize(RandomTone):
    """Fewer bits for each channel, with probability p.

    Args:
        bits: how many stay.
        p: the probability.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomPosterize(1, p=1.0)(torch.full((1, 1, 1), 200).byte()).item()
    128
    """

    _shown = ("bits",)

    def __init__(self, bits, p=0.5):
        super().__init__(p)
        self.bits = bits

    def _change(self, img):
        return self._functional.posterize(img, self.bits)


class RandomSolarize(RandomTone):
    """Values from a threshold on inverted, with probability p.

    Args:
        threshold: the least value that is inverted.
        p: the probability.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomSolarize(0.5, p=1.0)(torch.full((1, 1, 1), 0.75)).item()
    0.25
    """

    _shown = ("threshold",)

    def __init__(self, threshold, p=0.5):
        super().__init__(p)
        self.threshold = threshold

    def _change(self, img):
        return self._functional.solarize(img, self.threshold)


class RandomAdjustSharpness(RandomTone):
    """Blurred or sharpened, with probability p.

    Args:
        sharpness_factor: 0 gives a blurred image, 1 the image, 2 a sharper one.
        p: the probability.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomAdjustSharpness(2, p=1.0)(torch.ones(3, 8, 16)).shape
    torch.Size([3, 8, 16])
    """

    _shown = ("sharpness_factor",)

    def __init__(self, sharpness_factor, p=0.5):
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    def _change(self, img):
        return self._functional.adjust_sharpness(img, self.sharpness_factor)


class RandomAutocontrast(RandomTone):
    """Each channel stretched to the whole range, with probability p.

    Args:
        p: the probability.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomAutocontrast(p=1.0)(torch.tensor([[[0.25, 0.5]]])).tolist()
    [[[0.0, 1.0]]]
    """

    def _change(self, img):
        return self._functional.autocontrast(img)


class RandomEqualize(RandomTone):
    """Equal histograms, with probability p.

    Args:
        p: the probability.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.RandomEqualize(p=1.0)(torch.zeros(3, 8, 16).byte()).shape
    torch.Size([3, 8, 16])
    """

    def _change(self, img):
        return self._functional.equalize(img)
