"""torchvision.transforms.v2.functional for single images: those of v1, and newer names.

An image is a PIL image or a tensor (..., channels, height, width).
"""

import rushlight

from ..._pillow import is_pil_image
from .. import functional as _v1
from ..functional import *  # noqa: F403
from ..functional import __all__ as _names
from ..functional import get_dimensions, hflip, pil_to_tensor, vflip

__all__ = [
    *_names, "gaussian_noise", "get_num_channels", "get_size", "grayscale_to_rgb",
    "horizontal_flip", "horizontal_flip_image", "normalize_image", "pad_image", "resize_image",
    "to_dtype", "to_dtype_image", "to_image", "vertical_flip", "vertical_flip_image",
]  # fmt: skip

horizontal_flip = horizontal_flip_image = hflip
vertical_flip = vertical_flip_image = vflip
normalize_image, pad_image, resize_image = _v1.normalize, _v1.pad, _v1.resize
get_num_channels = _v1.get_image_num_channels


def to_image(inpt):
    """A PIL image or array as a tensor (channels, height, width) of the same type, unscaled.

    Args:
        inpt: PIL image, array (height, width[, channels]) or a tensor, which comes back.

    >>> import numpy
    >>> from rushlight.vision.transforms.v2.functional import to_image
    >>> to_image(numpy.full((1, 2, 1), 5, dtype=numpy.uint8))
    tensor([[[5, 5]]], dtype=torch.uint8)
    """
    if isinstance(inpt, rushlight.Tensor):
        return inpt
    if _v1.is_array(inpt):
        pixels = rushlight.from_numpy(inpt)
        return (pixels.unsqueeze(2) if pixels.dim() == 2 else pixels).permute(2, 0, 1)
    if is_pil_image(inpt):
        return pil_to_tensor(inpt)
    raise TypeError(
        "Input can either be a pure Tensor, a numpy array, or a PIL image, but got "
        f"{type(inpt)} instead."
    )


def to_dtype(inpt, dtype=rushlight.float32, scale=False):
    """A tensor image in another dtype.

    Args:
        inpt: the image.
        dtype: the wanted one.
        scale: whether its values go from the range of its dtype to that of the other.

    >>> from rushlight.vision.transforms.v2.functional import to_dtype
    >>> to_dtype(torch.tensor([255], dtype=torch.uint8), torch.float32, scale=True)
    tensor([1.])
    """
    return _v1.convert_image_dtype(inpt, dtype) if scale else inpt.to(dtype)


to_dtype_image = to_dtype


def get_size(inpt):
    """[height, width] of an image.

    >>> from rushlight.vision.transforms.v2.functional import get_size
    >>> get_size(torch.zeros(3, 4, 5))
    [4, 5]
    """
    return list(get_dimensions(inpt)[1:])


def grayscale_to_rgb(inpt):
    """An image of one channel as one of three equal channels; one of three comes back.

    >>> from rushlight.vision.transforms.v2.functional import grayscale_to_rgb
    >>> grayscale_to_rgb(torch.zeros(1, 4, 5)).shape
    torch.Size([3, 4, 5])
    """
    if is_pil_image(inpt):
        return inpt.convert("RGB")
    if inpt.shape[-3] >= 3:
        return inpt
    return inpt[..., :1, :, :].expand(*inpt.shape[:-3], 3, *inpt.shape[-2:]).clone()


def gaussian_noise(inpt, mean=0.0, sigma=0.1, clip=True):
    """A float image with normal noise added.

    Args:
        inpt: the image.
        mean: of the noise.
        sigma: its standard deviation.
        clip: whether the result is clipped to [0, 1].

    Raises:
        ValueError: an image of whole numbers, or a negative sigma.

    >>> from rushlight.vision.transforms.v2.functional import gaussian_noise
    >>> gaussian_noise(torch.zeros(2), mean=0.5, sigma=0.0)
    tensor([0.5000, 0.5000])
    """
    if not inpt.is_floating_point():
        raise ValueError(f"Input tensor is expected to be in float dtype, got dtype={inpt.dtype}")
    if sigma < 0:
        raise ValueError(f"sigma shouldn't be negative. Got {sigma}")
    noisy = inpt + mean + rushlight.randn_like(inpt) * sigma
    return noisy.clamp(0, 1) if clip else noisy
