"""Deterministic transforms: containers, conversions, sizes; the random ones are in random*.py."""

from collections.abc import Sequence
from numbers import Number

from rushlight import nn

from . import functional
from ._image import InterpolationMode, interpolation_mode
from .geometry import check_padding
from .random import (
    ColorJitter,
    RandomCrop,
    RandomErasing,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
)
from .random_lists import RandomApply, RandomChoice, RandomOrder
from .random_tones import (
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from .random_warps import GaussianBlur, RandomAffine, RandomPerspective

__all__ = [
    "CenterCrop", "ColorJitter", "Compose", "ConvertImageDtype", "FiveCrop", "GaussianBlur",
    "Grayscale", "Lambda", "Normalize", "PILToTensor", "Pad", "RandomAdjustSharpness",
    "RandomAffine", "RandomApply", "RandomAutocontrast", "RandomChoice", "RandomCrop",
    "RandomEqualize", "RandomErasing", "RandomGrayscale", "RandomHorizontalFlip", "RandomInvert",
    "RandomOrder", "RandomPerspective", "RandomPosterize", "RandomResizedCrop", "RandomRotation",
    "RandomSolarize", "RandomVerticalFlip", "Resize", "ToPILImage", "ToTensor",
]  # fmt: skip


class Compose:
    """Transforms one after another.

    Args:
        transforms: list of callables.

    Example:
        Shape: whatever the transforms take and give.

        >>> from rushlight.vision import transforms
        >>> transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])
        Compose(
            ToTensor()
            Normalize(mean=(0.5,), std=(0.5,))
        )
    """

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        lines = "".join(f"\n    {transform}" for transform in self.transforms)
        return f"{type(self).__name__}({lines}\n)"


class ToTensor:
    """PIL image or array (height, width, channels) to tensor (channels, height, width).

    Bytes become floats in [0, 1].

    Example:
        Shape: an image or array (h, w, c) gives (c, h, w).

        >>> import numpy
        >>> from rushlight.vision import transforms
        >>> transforms.ToTensor()(numpy.zeros((4, 5, 3), dtype=numpy.uint8)).shape
        torch.Size([3, 4, 5])
    """

    def __call__(self, pic):
        return functional.to_tensor(pic)

    def __repr__(self):
        return f"{type(self).__name__}()"


class PILToTensor:
    """PIL image to tensor of the same type, unscaled.

    Shape: an image gives (c, h, w).

    >>> from PIL import Image
    >>> from rushlight.vision import transforms
    >>> transforms.PILToTensor()(Image.new("RGB", (5, 4))).shape
    torch.Size([3, 4, 5])
    """

    def __call__(self, pic):
        return functional.pil_to_tensor(pic)

    def __repr__(self):
        return f"{type(self).__name__}()"


class ToPILImage:
    """Tensor (channels, height, width) or array (height, width, channels) to PIL image.

    Args:
        mode: Pillow's mode; found by channels and type if None.

    Shape: (c, h, w), (h, w), or an array (h, w, c).

    >>> from rushlight.vision import transforms
    >>> transforms.ToPILImage()(torch.zeros(3, 4, 5)).size
    (5, 4)
    """

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return functional.to_pil_image(pic, self.mode)

    def __repr__(self):
        mode = "" if self.mode is None else f"mode={self.mode}"
        return f"{type(self).__name__}({mode})"


class ConvertImageDtype(nn.Module):
    """A tensor image in another dtype, its values scaled to that dtype's range.

    Args:
        dtype: the dtype.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision import transforms
    >>> transforms.ConvertImageDtype(torch.uint8)(torch.ones(1, 1, 2))
    tensor([[[255, 255]]], dtype=torch.uint8)
    """

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        return functional.convert_image_dtype(image, self.dtype)


class Normalize(nn.Module):
    """(tensor - mean) / std, channel by channel.

    Args:
        mean: one value for each channel.
        std: one value for each channel, not zero.
        inplace: write into the tensor.

    Shape:
        (..., channels, height, width), floats

    Raises:
        TypeError: no float tensor.
        ValueError: less than three dimensions, or a std of zero.

    Example:
        >>> from rushlight.vision import transforms
        >>> transforms.Normalize((0.5,), (0.25,))(torch.ones(1, 1, 2))
        tensor([[[2., 2.]]])
    """

    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def forward(self, tensor):
        return functional.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self):
        return f"{type(self).__name__}(mean={self.mean}, std={self.std})"


class Resize(nn.Module):
    """The image in another size.

    Args:
        size: (height, width), or the length of the shorter edge.
        interpolation: an InterpolationMode.
        max_size: limit of the longer edge, when `size` is one number.
        antialias: for tensors, whether shrinking averages; PIL images are always averaged.

    Shape: (*, c, h, w) gives (*, c, *size), or with an int the shorter side of that length.

    >>> from rushlight.vision import transforms
    >>> transforms.Resize(4)(torch.ones(3, 8, 16)).shape
    torch.Size([3, 4, 8])
    """

    def __init__(
        self, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True
    ):
        super().__init__()
        if not isinstance(size, int | Sequence):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if isinstance(size, Sequence) and len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        self.size = size
        self.max_size = max_size
        self.interpolation = interpolation_mode(interpolation)
        self.antialias = antialias

    def forward(self, img):
        return functional.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self):
        return (
            f"{type(self).__name__}(size={self.size}, interpolation={self.interpolation.value}, "
            f"max_size={self.max_size}, antialias={self.antialias})"
        )


class CenterCrop(nn.Module):
    """The rectangle in the middle of an image.

    Args:
        size: (height, width) or one int; an image that is smaller is padded with zeros.

    Shape: (*, c, h, w) gives (*, c, *size).

    >>> from rushlight.vision import transforms
    >>> transforms.CenterCrop(4)(torch.ones(3, 8, 16)).shape
    torch.Size([3, 4, 4])
    """

    def __init__(self, size):
        super().__init__()
        if isinstance(size, Number):
            size = (int(size), int(size))
        elif len(size) == 1:
            size = (size[0], size[0])
        elif len(size) != 2:
            raise ValueError("Please provide only two dimensions (h, w) for size.")
        self.size = size

    def forward(self, img):
        return functional.center_crop(img, self.size)

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size})"


class FiveCrop(CenterCrop):
    """The four corners and the middle, as a tuple.

    Args:
        size: of each, (height, width) or one int.

    Shape: (*, c, h, w) gives five of (*, c, *size).

    >>> from rushlight.vision import transforms
    >>> len(transforms.FiveCrop(4)(torch.ones(3, 8, 16)))
    5
    """

    def forward(self, img):
        return functional.five_crop(img, self.size)


class Pad(nn.Module):
    """The image with a border.

    Args:
        padding: an int; (left and right, top and bottom); or (left, top, right, bottom).
        fill: the border's value, or one for each channel (PIL).
        padding_mode: "constant", "edge", "reflect" or "symmetric".

    Shape: (*, c, h, w) gives (*, c, top + h + bottom, left + w + right).

    >>> from rushlight.vision import transforms
    >>> transforms.Pad(2)(torch.ones(3, 8, 16)).shape
    torch.Size([3, 12, 20])
    """

    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        check_padding(padding, fill, padding_mode)
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img):
        return functional.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self):
        return (
            f"{type(self).__name__}(padding={self.padding}, fill={self.fill}, "
            f"padding_mode={self.padding_mode})"
        )


class Grayscale(nn.Module):
    """The image in grey.

    Args:
        num_output_channels: 1, or 3 equal ones.

    Shape: (*, 3, h, w) gives (*, num_output_channels, h, w).

    >>> from rushlight.vision import transforms
    >>> transforms.Grayscale()(torch.ones(3, 8, 16)).shape
    torch.Size([1, 8, 16])
    """

    def __init__(self, num_output_channels=1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return functional.rgb_to_grayscale(img, num_output_channels=self.num_output_channels)

    def __repr__(self):
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class Lambda:
    """A function as a transform.

    Args:
        lambd: the function.

    Shape: whatever the function takes and gives.

    Raises:
        TypeError: `lambd` cannot be called.

    >>> from rushlight.vision import transforms
    >>> transforms.Lambda(lambda x: 1 - x)(torch.ones(1))
    tensor([0.])
    """

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)

    def __repr__(self):
        return f"{type(self).__name__}()"
