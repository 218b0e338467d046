"""The transforms as functions. Conversions are here; geometry.py, colour.py, tones.py and warps.py
hold the rest.

Each takes a PIL image or a tensor (..., channels, height, width).
"""

import sys
from functools import lru_cache

import rushlight
from rushlight import _C

from .._pillow import is_pil_image, pillow
from ._image import (
    InterpolationMode,
    convert_image_dtype,
    get_dimensions,
    get_image_num_channels,
    get_image_size,
    is_array,
)
from .colour import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    invert,
    rgb_to_grayscale,
    to_grayscale,
)
from .geometry import (
    center_crop,
    crop,
    five_crop,
    hflip,
    pad,
    resize,
    resized_crop,
    rotate,
    vflip,
)
from .tones import adjust_sharpness, autocontrast, equalize, posterize, solarize
from .warps import affine, elastic_transform, gaussian_blur, perspective

__all__ = [
    "InterpolationMode", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue",
    "adjust_saturation", "adjust_sharpness", "affine", "autocontrast", "center_crop",
    "convert_image_dtype", "crop", "elastic_transform", "equalize", "erase", "five_crop",
    "gaussian_blur", "get_dimensions", "get_image_num_channels", "get_image_size", "hflip",
    "invert", "normalize", "pad", "perspective", "pil_to_tensor", "posterize", "resize",
    "resized_crop", "rgb_to_grayscale", "rotate", "solarize", "ten_crop", "to_grayscale",
    "to_pil_image", "to_tensor", "vflip",
]  # fmt: skip


def scale_bytes(pixels):
    """uint8 pixels as floats in [0, 1], contiguous."""
    return pixels.contiguous().to(rushlight.get_default_dtype()).div_(255)


_lent_modes = {"L": 1, "RGB": 3, "RGBA": 4}  # their bytes are lent as they are read


@lru_cache(maxsize=1)
def _pillow_lends():
    # Those before may lend memory of images that are views of a file or a buffer.
    return int(sys.modules["PIL"].__version__.split(".")[0]) >= 13


def _lent_pixels(image):
    """A PIL image's bytes (height, width, 1 or 4) in its own memory; None if they lie elsewhere."""
    if not _pillow_lends():
        return None
    width, height = image.size
    try:
        schema, array = image.__arrow_c_array__()
    except ValueError:  # in several pieces, or upside down
        return None
    return _C._lent_pixels(schema, array, height, width)


_array_types = {"I": "int32", "I;16": "int16", "I;16B": ">i2", "F": "float32"}


def _pil_pixels(image):
    """A PIL image's pixels as a tensor (height, width, channels) of its own memory."""
    width, height = image.size
    kind = _array_types.get(image.mode)
    if kind is None and image.mode != "1":
        pixels = rushlight.frombuffer(bytearray(image.tobytes()), dtype=rushlight.uint8)
        return pixels.view(height, width, len(image.getbands()))
    import numpy

    array = numpy.array(image, kind or numpy.uint8, copy=True)
    return rushlight.from_numpy(array).view(height, width, 1)


def to_tensor(pic):
    """A PIL image or array (height, width, channels) as a tensor (channels, height, width).

    Bytes become floats in [0, 1]; arrays of other types keep their values.

    Args:
        pic: PIL image, or NumPy array of two or three dimensions.

    Shape: an image or array (h, w, c) gives (c, h, w).

    Raises:
        TypeError: another type.
        ValueError: an array of other rank.

    Example:
        >>> import numpy
        >>> from rushlight.vision.transforms.functional import to_tensor
        >>> to_tensor(numpy.full((2, 2, 1), 51, dtype=numpy.uint8))
        tensor([[[0.2000, 0.2000],
                 [0.2000, 0.2000]]])
    """
    if is_pil_image(pic):
        channels = _lent_modes.get(pic.mode)
        if channels is not None and rushlight.get_default_dtype() is rushlight.float32:
            pixels = _lent_pixels(pic)
            return _C._scaled_pixels(_pil_pixels(pic) if pixels is None else pixels, channels)
        pixels = _pil_pixels(pic)
        if pic.mode == "1":
            pixels = pixels * 255
    elif is_array(pic):
        if pic.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
        pixels = rushlight.from_numpy(pic)
        if pic.ndim == 2:
            pixels = pixels.unsqueeze(2)
    else:
        cure = "\nIt is a tensor already." if isinstance(pic, rushlight.Tensor) else ""
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}{cure}")
    pixels = pixels.permute(2, 0, 1)
    return scale_bytes(pixels) if pixels.dtype == rushlight.uint8 else pixels.contiguous()


def pil_to_tensor(pic):
    """A PIL image as a tensor (channels, height, width) of the same type.

    Args:
        pic: PIL image.

    Shape: an image gives (c, h, w).

    Raises:
        TypeError: no PIL image.

    >>> from PIL import Image
    >>> from rushlight.vision.transforms.functional import pil_to_tensor
    >>> pil_to_tensor(Image.new("RGB", (5, 4))).shape
    torch.Size([3, 4, 5])
    """
    if not is_pil_image(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    return _pil_pixels(pic).permute(2, 0, 1)


_modes_by_channels = {2: ["LA"], 3: ["RGB", "YCbCr", "HSV"], 4: ["RGBA", "CMYK", "RGBX"]}


def to_pil_image(pic, mode=None):
    """A tensor (channels, height, width) or array (height, width, channels) as a PIL image.

    Args:
        pic: tensor or NumPy array; floats are scaled from [0, 1] to bytes.
        mode: Pillow's mode; found by channels and type if None.

    Shape: (c, h, w), (h, w), or an array (h, w, c).

    Raises:
        TypeError: another type, or a dtype that no mode has.
        ValueError: another rank, more than four channels, a mode that does not fit.

    >>> from rushlight.vision.transforms.functional import to_pil_image
    >>> to_pil_image(torch.zeros(3, 4, 5)).size
    (5, 4)
    """
    import numpy

    if isinstance(pic, rushlight.Tensor):
        if pic.dim() == 3:
            pic = pic.permute(1, 2, 0)
        pic = pic.detach().cpu().numpy()
    elif not is_array(pic):
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    if pic.ndim == 2:
        pic = pic[:, :, None]
    if pic.ndim != 3:
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    channels = pic.shape[2]
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    if pic.dtype.kind == "f" and mode != "F":
        pic = (pic * 255).astype(numpy.uint8)
    if channels == 1:
        pic = pic[:, :, 0]
        little = sys.byteorder == "little"
        expected = {
            "uint8": "L", "int16": "I;16" if little else "I;16B", "int32": "I", "float32": "F",
        }.get(pic.dtype.name)  # fmt: skip
        if mode is not None and mode != expected:
            raise ValueError(
                f"Incorrect mode ({mode}) supplied for input type {pic.dtype}. Should be {expected}"
            )
        mode = expected
    else:
        known = _modes_by_channels[channels]
        if mode is not None and mode not in known:
            raise ValueError(f"Only modes {known} are supported for {channels}D inputs")
        if mode is None and pic.dtype == numpy.uint8:
            mode = known[0]
    if mode is None:
        raise TypeError(f"Input type {pic.dtype} is not supported")
    return _from_bytes(numpy.ascontiguousarray(pic), mode)


def _from_bytes(array, mode):
    # Pillow's fromarray(mode=) is deprecated; bytes with a mode are not.
    height, width = array.shape[:2]
    if mode == "I;16":
        array = array.astype("<u2")
    return pillow().frombytes(mode, (width, height), array.tobytes())


def normalize(tensor, mean, std, inplace=False):
    """(tensor - mean) / std, channel by channel.

    Args:
        tensor: floats (..., channels, height, width).
        mean: one value for each channel.
        std: one value for each channel, not zero.
        inplace: write into `tensor`.

    Shape: images (*, c, h, w) keep their shape.

    Raises:
        TypeError: no tensor, or no floats.
        ValueError: less than three dimensions, or a std of zero.

    >>> from rushlight.vision.transforms.functional import normalize
    >>> normalize(torch.ones(1, 1, 2), (0.5,), (0.25,))
    tensor([[[2., 2.]]])
    """
    if not isinstance(tensor, rushlight.Tensor):
        raise TypeError(
            f"img should be Tensor Image. Got {type(tensor)}\nPut ToTensor() before Normalize()."
        )
    if not tensor.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.dim() < 3:
        raise ValueError(
            "Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = "
            f"{tensor.size()}"
        )
    mean, std, has_zero = _channel_values(mean, std, tensor)
    if has_zero:
        raise ValueError(
            f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by "
            "zero."
        )
    if inplace:
        return tensor.sub_(mean).div_(std)
    return _C._normalized_channels(tensor, mean, std)


def _channel_values(mean, std, tensor):
    """Both as tensors (channels, 1, 1) of `tensor`'s dtype and device; whether a std is 0."""
    if (
        type(mean) in _sequences
        and type(std) in _sequences
        and {*map(type, mean), *map(type, std)} == _floats
        and tensor.is_cpu
    ):
        return _constant_channels(tuple(mean), tuple(std), tensor.dtype)
    return _channels(mean, std, tensor.dtype, tensor.device)


_sequences, _floats = (tuple, list), {float}


def _channels(mean, std, dtype, device):
    mean, std = (rushlight.as_tensor(v, dtype=dtype, device=device) for v in (mean, std))
    mean, std = (v.view(-1, 1, 1) if v.dim() == 1 else v for v in (mean, std))
    return mean, std, bool((std == 0).any())


@lru_cache(maxsize=64)
def _constant_channels(mean, std, dtype):
    # The same values come with every image of a data set.
    return _channels(mean, std, dtype, "cpu")


def erase(img, i, j, h, w, v, inplace=False):
    """A tensor image with a value in a rectangle.

    Args:
        img: tensor (..., channels, height, width).
        i, j: row and column of the upper left corner.
        h, w: height and width.
        v: the value, broadcast to the rectangle.
        inplace: write into `img`.

    Shape: images (*, c, h, w) keep their shape.

    >>> from rushlight.vision.transforms.functional import erase
    >>> erase(torch.ones(1, 2, 2), 0, 0, 1, 2, torch.tensor(0.0))
    tensor([[[0., 0.],
             [1., 1.]]])
    """
    if not isinstance(img, rushlight.Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(img)}")
    result = img if inplace else img.clone()
    result[..., i : i + h, j : j + w] = v
    return result


def ten_crop(img, size, vertical_flip=False):
    """The four corners and the middle, and the same of the flipped image, as a tuple.

    Args:
        img: PIL image or tensor.
        size: of each, (height, width) or one int.
        vertical_flip: whether top and bottom are exchanged, instead of left and right.

    Shape: (*, c, h, w) gives ten of (*, c, *size).

    >>> from rushlight.vision.transforms.functional import ten_crop
    >>> len(ten_crop(torch.ones(3, 8, 16), 4))
    10
    """
    flipped = vflip(img) if vertical_flip else hflip(img)
    return five_crop(img, size) + five_crop(flipped, size)
