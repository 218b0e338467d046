"""Transforms that draw nothing: containers, conversions, sizes. random.py has the others."""

from collections.abc import Sequence
from numbers import Number

from rushlight import nn

from . import functional
from ._image import InterpolationMode, interpolation_mode
from .geometry import check_padding
from .random import (
    ColorJitter,
    RandomApply,
    RandomChoice,
    RandomCrop,
    RandomErasing,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomOrder,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
)

__all__ = [
    "CenterCrop", "ColorJitter", "Compose", "ConvertImageDtype", "FiveCrop", "Grayscale", "Lambda",
    "Normalize", "PILToTensor", "Pad", "RandomApply", "RandomChoice", "RandomCrop",
    "RandomErasing", "RandomGrayscale", "RandomHorizontalFlip", "RandomOrder",
    "RandomResizedCrop", "RandomRotation", "RandomVerticalFlip", "Resize", "ToPILImage",
    "ToTensor",
]  # fmt: skip


class Compose:
    """Transforms one after another.

    Args:
        transforms: list of callables.

    Example:
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
    """PIL image to tensor of the same type, unscaled."""

    def __call__(self, pic):
        return functional.pil_to_tensor(pic)

    def __repr__(self):
        return f"{type(self).__name__}()"


class ToPILImage:
    """Tensor (channels, height, width) or array (height, width, channels) to PIL image.

    Args:
        mode: Pillow's mode; found by channels and type if None.
    """

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return functional.to_pil_image(pic, self.mode)

    def __repr__(self):
        mode = "" if self.mode is None else f"mode={self.mode}"
        return f"{type(self).__name__}({mode})"


class ConvertImageDtype(nn.Module):
    """Tensor image to another dtype, its values scaled to that dtype's range."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        return functional.convert_image_dtype(image, self.dtype)


class Normalize(nn.Module):
    """(tensor - mean) / std, channel by channel.

    Args:
        mean: one number a channel.
        std: one number a channel, not zero.
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
    """The rectangle in the middle, `size` = (height, width) or one number."""

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
    """The four corners and the middle, each `size`, as a tuple."""

    def forward(self, img):
        return functional.five_crop(img, self.size)


class Pad(nn.Module):
    """The image with a border; arguments as `functional.pad`."""

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
    """The image in grey, in `num_output_channels` (1 or 3) equal channels."""

    def __init__(self, num_output_channels=1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return functional.rgb_to_grayscale(img, num_output_channels=self.num_output_channels)

    def __repr__(self):
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class Lambda:
    """A function as a transform.

    Raises:
        TypeError: `lambd` cannot be called.
    """

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)

    def __repr__(self):
        return f"{type(self).__name__}()"
