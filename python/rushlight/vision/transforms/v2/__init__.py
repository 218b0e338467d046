"""torchvision.transforms.v2 for single images: the same transforms, and ToImage and ToDtype.

There are no image, box or mask classes here; an image is a PIL image or a tensor, and what comes
beside it (a label) passes through Compose unchanged.
"""

from rushlight import nn

from .. import transforms
from .._image import InterpolationMode
from ..transforms import *  # noqa: F403
from ..transforms import __all__ as _names
from . import functional

__all__ = [
    *_names, "GaussianNoise", "Identity", "InterpolationMode", "ToDtype", "ToImage", "ToPureTensor",
    "functional",
]  # fmt: skip


class Compose(transforms.Compose):  # type: ignore[no-redef]
    """Transforms one after another; a second argument, such as a label, passes through.

    Example:
        >>> from rushlight.vision.transforms import v2
        >>> v2.Compose([v2.CenterCrop(2)])(torch.zeros(1, 4, 4), 7)
        (tensor([[[0., 0.],
                 [0., 0.]]]), 7)
    """

    def __call__(self, img, *others):
        img = super().__call__(img)
        return (img, *others) if others else img


class ToImage(nn.Module):
    """PIL image or array to tensor (channels, height, width) of the same type, unscaled."""

    def forward(self, image):
        return functional.to_image(image)

    def __repr__(self):
        return "ToImage()"


class ToDtype(nn.Module):
    """Tensor image to a dtype; with `scale` its values go to that dtype's range."""

    def __init__(self, dtype, scale=False):
        super().__init__()
        self.dtype = dtype
        self.scale = scale

    def forward(self, image):
        return functional.to_dtype(image, self.dtype, self.scale)

    def __repr__(self):
        return f"ToDtype(scale={self.scale})"


class Identity(nn.Module):
    """The image as it is."""

    def forward(self, image):
        return image


class ToPureTensor(Identity):
    """The image as it is: there are no tensor classes to take off."""


class GaussianNoise(nn.Module):
    """A float image with normal noise added, and clipped to [0, 1] if `clip`."""

    def __init__(self, mean=0.0, sigma=0.1, clip=True):
        super().__init__()
        self.mean = mean
        self.sigma = sigma
        self.clip = clip

    def forward(self, image):
        return functional.gaussian_noise(image, self.mean, self.sigma, self.clip)
