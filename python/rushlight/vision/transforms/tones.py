"""Bits, inversion above a value, sharpness, contrast over the whole range and equal histograms, of
PIL images and of tensors.
"""

import rushlight
from rushlight.nn import functional as nn_functional

from .._pillow import pillow
from ._image import max_value
from .colour import _blend, _check_factor, _enhanced, _is_tensor, invert


def _require_bytes(img):
    if img.dtype != rushlight.uint8:
        raise TypeError(
            f"Only torch.uint8 image tensors are supported, but found {img.dtype}\n"
            "convert_image_dtype(img, torch.uint8) makes one"
        )


def posterize(img, bits):
    """The image with fewer bits for each channel.

    Args:
        img: PIL image, or tensor of uint8.
        bits: how many stay, from 0 to 8.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import posterize
    >>> posterize(torch.tensor([[[200, 100]]], dtype=torch.uint8), 1).tolist()
    [[[128, 0]]]
    """
    if not 0 <= bits <= 8:
        raise ValueError(f"The number if bits should be between 0 and 8. Got {bits}")
    if not _is_tensor(img):
        return pillow("ImageOps")[0].posterize(img, bits)
    _require_bytes(img)
    return img & (256 - 2 ** (8 - bits))


def solarize(img, threshold):
    """Values from a threshold on inverted.

    Args:
        img: PIL image or tensor.
        threshold: the least value that is inverted.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import solarize
    >>> solarize(torch.tensor([[[0.25, 1.0]]]), 0.5).tolist()
    [[[0.25, 0.0]]]
    """
    if not _is_tensor(img):
        return pillow("ImageOps")[0].solarize(img, threshold)
    if threshold > max_value(img.dtype):
        raise TypeError(
            f"Threshold should be less than bound of img.\nthreshold={threshold}, the bound of "
            f"{img.dtype} is {max_value(img.dtype)}"
        )
    return rushlight.where(img >= threshold, invert(img), img)


def adjust_sharpness(img, sharpness_factor):
    """The image blurred or sharpened.

    Args:
        img: PIL image or tensor.
        sharpness_factor: 0 gives a blurred image, 1 the image, 2 a sharper one.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import adjust_sharpness
    >>> adjust_sharpness(torch.ones(3, 8, 16), 0.5).shape
    torch.Size([3, 8, 16])
    """
    _check_factor("sharpness_factor", sharpness_factor)
    if not _is_tensor(img):
        return _enhanced(img, "Sharpness", sharpness_factor)
    if min(img.shape[-2:]) <= 2:
        return img
    return _blend(img, _smoothed(img), sharpness_factor)


def _smoothed(img):
    # Pillow's filter SMOOTH; the border stays.
    kind = img.dtype if img.is_floating_point() else rushlight.float32
    weight = rushlight.ones(1, 1, 3, 3, dtype=kind, device=img.device)
    weight[..., 1, 1] = 5.0
    planes = img.reshape(-1, 1, *img.shape[-2:]).to(kind)
    inner = nn_functional.conv2d(planes, weight / weight.sum())
    inner = inner if img.is_floating_point() else inner.round()
    result = img.clone()
    result[..., 1:-1, 1:-1] = inner.to(img.dtype).reshape(*img.shape[:-2], *inner.shape[-2:])
    return result


def autocontrast(img):
    """Each channel stretched, so that its darkest value is black and its brightest white.

    Args:
        img: PIL image or tensor.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import autocontrast
    >>> autocontrast(torch.tensor([[[0.25, 0.5]]])).tolist()
    [[[0.0, 1.0]]]
    """
    if not _is_tensor(img):
        return pillow("ImageOps")[0].autocontrast(img)
    bound = max_value(img.dtype)
    kind = img.dtype if img.is_floating_point() else rushlight.float32
    lowest = img.amin((-2, -1), keepdim=True).to(kind)
    highest = img.amax((-2, -1), keepdim=True).to(kind)
    scale = bound / (highest - lowest)
    is_even = ~rushlight.isfinite(scale)
    lowest, scale = lowest.masked_fill(is_even, 0), scale.masked_fill(is_even, 1)
    return ((img - lowest) * scale).clamp(0, bound).to(img.dtype)


def equalize(img):
    """Each channel with as many pixels of each value as can be had.

    Args:
        img: PIL image, or tensor of uint8.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import equalize
    >>> equalize(torch.tensor([[[1, 2], [3, 4]]], dtype=torch.uint8)).shape
    torch.Size([1, 2, 2])
    """
    if not _is_tensor(img):
        return pillow("ImageOps")[0].equalize(img)
    if img.dim() not in (3, 4):
        raise TypeError(f"Input image tensor should have 3 or 4 dimensions, but found {img.dim()}")
    _require_bytes(img)
    if not img.numel():
        return img
    planes = img.reshape(-1, img.shape[-2] * img.shape[-1])
    return rushlight.stack([_equalized(plane) for plane in planes]).reshape(img.shape)


def _equalized(plane):
    values = plane.long()
    counts = rushlight.bincount(values, minlength=256)
    step = (plane.numel() - counts[values.max()]) // 255  # without those of the brightest value
    below = counts.cumsum(0) - counts
    table = ((below + step // 2) // step.clamp(min=1)).clamp(0, 255).to(rushlight.uint8)
    return rushlight.where(step == 0, plane, table[values])
