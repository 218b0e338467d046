"""Brightness, contrast, saturation, hue and grey of PIL images and tensors."""

import rushlight

from .._pillow import pillow
from ._image import (
    convert_image_dtype,
    get_dimensions,
    is_array,
    max_value,
    require_image,
)


def _is_tensor(img):
    if is_array(img):
        require_image(img)
    channels = get_dimensions(img)[0]
    if not isinstance(img, rushlight.Tensor):
        return False
    if channels not in (1, 3):
        raise TypeError(
            f"Input image tensor permitted channel values are [1, 3], but found {channels}"
        )
    return True


def _check_factor(name, factor):
    if factor < 0:
        raise ValueError(f"{name} ({factor}) is not non-negative.")


def _enhanced(img, kind, factor):
    (enhance,) = pillow("ImageEnhance")
    return getattr(enhance, kind)(img).enhance(factor)


def _blend(img, other, ratio):
    ratio = float(ratio)
    bound = max_value(img.dtype)
    return (ratio * img + (1.0 - ratio) * other).clamp(0, bound).to(img.dtype)


def adjust_brightness(img, brightness_factor):
    """The image darker or brighter.

    Args:
        img: PIL image or tensor.
        brightness_factor: 0 gives black, 1 the image, 2 twice the brightness.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import adjust_brightness
    >>> adjust_brightness(torch.ones(3, 1, 1), 0.5).flatten()
    tensor([0.5000, 0.5000, 0.5000])
    """
    _check_factor("brightness_factor", brightness_factor)
    if not _is_tensor(img):
        return _enhanced(img, "Brightness", brightness_factor)
    return _blend(img, rushlight.zeros_like(img), brightness_factor)


def adjust_contrast(img, contrast_factor):
    """The image with less or more contrast.

    Args:
        img: PIL image or tensor.
        contrast_factor: 0 gives an even grey, 1 the image, 2 twice the contrast.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import adjust_contrast
    >>> adjust_contrast(torch.ones(3, 8, 16), 0.5).shape
    torch.Size([3, 8, 16])
    """
    _check_factor("contrast_factor", contrast_factor)
    if not _is_tensor(img):
        return _enhanced(img, "Contrast", contrast_factor)
    kind = img.dtype if img.is_floating_point() else rushlight.float32
    grey = rgb_to_grayscale(img) if img.shape[-3] == 3 else img
    mean = grey.to(kind).mean(dim=(-3, -2, -1), keepdim=True)
    return _blend(img, mean, contrast_factor)


def adjust_saturation(img, saturation_factor):
    """The image with paler or stronger colours.

    Args:
        img: PIL image or tensor.
        saturation_factor: 0 gives grey, 1 the image, 2 twice the saturation.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import adjust_saturation
    >>> adjust_saturation(torch.ones(3, 8, 16), 0.5).shape
    torch.Size([3, 8, 16])
    """
    _check_factor("saturation_factor", saturation_factor)
    if not _is_tensor(img):
        return _enhanced(img, "Color", saturation_factor)
    if img.shape[-3] == 1:
        return img
    return _blend(img, rgb_to_grayscale(img), saturation_factor)


def adjust_gamma(img, gamma, gain=1):
    """gain * img^gamma, for values in [0, 1].

    Args:
        img: PIL image or tensor.
        gamma: the exponent; above 1 dark areas get darker.
        gain: a factor.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import adjust_gamma
    >>> adjust_gamma(torch.full((3, 1, 1), 0.5), 2.0).flatten()
    tensor([0.2500, 0.2500, 0.2500])
    """
    _check_factor("gamma", gamma)
    if _is_tensor(img):
        values = img if img.is_floating_point() else convert_image_dtype(img, rushlight.float32)
        return convert_image_dtype((gain * values**gamma).clamp(0, 1), img.dtype)
    table = [int((255 + 1 - 1e-3) * gain * (value / 255.0) ** gamma) for value in range(256)]
    mode = img.mode
    img = img.convert("RGB")
    return img.point(table * 3).convert(mode)


def invert(img):
    """Dark and bright exchanged.

    Args:
        img: PIL image or tensor.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import invert
    >>> invert(torch.zeros(3, 1, 1)).flatten()
    tensor([1., 1., 1.])
    """
    if _is_tensor(img):
        return max_value(img.dtype) - img
    (operations,) = pillow("ImageOps")
    return operations.invert(img)


def adjust_hue(img, hue_factor):
    """The image with its hues rotated on the colour circle.

    Args:
        img: PIL image or tensor.
        hue_factor: part of the circle, from -0.5 to 0.5.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import adjust_hue
    >>> adjust_hue(torch.ones(3, 8, 16), 0.25).shape
    torch.Size([3, 8, 16])
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    if not _is_tensor(img):
        return _adjust_hue_image(img, hue_factor)
    if img.shape[-3] == 1:
        return img
    hue, saturation, value = _to_hsv(convert_image_dtype(img, rushlight.float32))
    return convert_image_dtype(_to_rgb((hue + hue_factor) % 1.0, saturation, value), img.dtype)


def _adjust_hue_image(img, hue_factor):
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    shift = int(hue_factor * 255)
    hue = hue.point([(i + shift) % 256 for i in range(256)])
    return pillow().merge("HSV", (hue, saturation, value)).convert(img.mode)


def _to_hsv(img):
    red, green, blue = img.unbind(dim=-3)
    largest, smallest = img.amax(dim=-3), img.amin(dim=-3)
    span = largest - smallest
    is_grey = span == 0
    ones = rushlight.ones_like(largest)
    saturation = span / rushlight.where(is_grey, ones, largest)
    divisor = rushlight.where(is_grey, ones, span)
    far_red, far_green, far_blue = ((largest - c) / divisor for c in (red, green, blue))
    is_red = largest == red
    is_green = (largest == green) & ~is_red
    hue = rushlight.where(
        is_red,
        far_blue - far_green,
        rushlight.where(is_green, 2.0 + far_red - far_blue, 4.0 + far_green - far_red),
    )
    return (hue / 6.0 + 1.0) % 1.0, saturation, largest


def _to_rgb(hue, saturation, value):
    sector = (hue * 6.0).floor()
    part = hue * 6.0 - sector
    p = (value * (1.0 - saturation)).clamp(0.0, 1.0)
    q = (value * (1.0 - saturation * part)).clamp(0.0, 1.0)
    t = (value * (1.0 - saturation * (1.0 - part))).clamp(0.0, 1.0)
    sector = sector % 6.0
    channels = []
    for choices in (
        (value, q, p, p, t, value),
        (t, value, value, q, p, p),
        (p, p, t, value, value, q),
    ):
        channel = choices[5]
        for i in range(5):
            channel = rushlight.where(sector == i, choices[i], channel)
        channels.append(channel)
    return rushlight.stack(channels, dim=-3)


def rgb_to_grayscale(img, num_output_channels=1):
    """The image in grey: 0.2989 R + 0.587 G + 0.114 B.

    Args:
        img: PIL image or tensor.
        num_output_channels: 1, or 3 equal ones.

    Shape: (*, 3, h, w) gives (*, num_output_channels, h, w).

    >>> from rushlight.vision.transforms.functional import rgb_to_grayscale
    >>> rgb_to_grayscale(torch.ones(3, 8, 16)).shape
    torch.Size([1, 8, 16])
    """
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    if not isinstance(img, rushlight.Tensor):
        require_image(img)
        grey = img.convert("L")
        return grey if num_output_channels == 1 else pillow().merge("RGB", (grey,) * 3)
    if img.dim() < 3:
        raise TypeError(
            f"Input image tensor should have at least 3 dimensions, but found {img.dim()}"
        )
    _is_tensor(img)
    grey = img.clone()
    if img.shape[-3] == 3:
        red, green, blue = img.unbind(dim=-3)
        grey = (0.2989 * red + 0.587 * green + 0.114 * blue).to(img.dtype).unsqueeze(-3)
    return grey.expand(img.shape) if num_output_channels == 3 else grey


def to_grayscale(img, num_output_channels=1):
    """A PIL image in grey.

    Args:
        img: PIL image.
        num_output_channels: 1, or 3 equal ones.

    >>> from PIL import Image
    >>> from rushlight.vision.transforms.functional import to_grayscale
    >>> to_grayscale(Image.new("RGB", (5, 4))).mode
    'L'
    """
    if isinstance(img, rushlight.Tensor):
        raise TypeError("Input should be PIL Image\nrgb_to_grayscale takes tensors.")
    return rgb_to_grayscale(img, num_output_channels)
