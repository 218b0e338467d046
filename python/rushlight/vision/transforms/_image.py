"""What all transforms need of an image: its kind, its size, its range, its dtype."""

import sys
from enum import Enum

import rushlight

from .._pillow import is_pil_image


class InterpolationMode(Enum):
    """How pixels between pixels are computed; the members print as their values.

    >>> from rushlight.vision.transforms import InterpolationMode
    >>> InterpolationMode.BILINEAR.value
    'bilinear'
    """

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_by_number = {
    0: InterpolationMode.NEAREST,
    1: InterpolationMode.LANCZOS,
    2: InterpolationMode.BILINEAR,
    3: InterpolationMode.BICUBIC,
    4: InterpolationMode.BOX,
    5: InterpolationMode.HAMMING,
}
_numbers = {mode: number for number, mode in _by_number.items()}
_numbers[InterpolationMode.NEAREST_EXACT] = 0


def interpolation_mode(mode):
    """An InterpolationMode of one, or of Pillow's number."""
    if isinstance(mode, InterpolationMode):
        return mode
    if isinstance(mode, int) and int(mode) in _by_number:
        return _by_number[int(mode)]
    raise TypeError(
        "Argument interpolation should be a InterpolationMode or a corresponding Pillow integer "
        "constant"
    )


def pillow_number(mode):
    """Pillow's number of an InterpolationMode."""
    return _numbers[interpolation_mode(mode)]


def is_array(image):
    """Whether `image` is a NumPy array; answered without importing NumPy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(image, numpy.ndarray)


def require_image(image):
    """Raise unless `image` is a PIL image or a tensor of two dimensions and more."""
    if isinstance(image, rushlight.Tensor):
        if image.dim() < 2:
            raise TypeError(
                f"Tensor is not a torch image.\nIts shape is {tuple(image.shape)}; an image has "
                "at least height and width."
            )
    elif not is_pil_image(image):
        raise TypeError(
            f"Unexpected type {type(image)}\nA PIL image or a tensor is expected; ToPILImage and "
            "ToTensor make them of arrays."
        )


def get_dimensions(img):
    """[channels, height, width] of a PIL image or tensor.

    Args:
        img: PIL image or tensor.

    Shape: (*, c, h, w) or an image.

    >>> from rushlight.vision.transforms.functional import get_dimensions
    >>> get_dimensions(torch.ones(3, 8, 16))
    [3, 8, 16]
    """
    require_image(img)
    if isinstance(img, rushlight.Tensor):
        return [1 if img.dim() == 2 else img.shape[-3], img.shape[-2], img.shape[-1]]
    width, height = img.size
    return [len(img.getbands()), height, width]


def get_image_size(img):
    """[width, height] of a PIL image or tensor.

    Args:
        img: PIL image or tensor.

    Shape: (*, c, h, w) or an image.

    >>> from rushlight.vision.transforms.functional import get_image_size
    >>> get_image_size(torch.ones(3, 8, 16))
    [16, 8]
    """
    return get_dimensions(img)[:0:-1]


def get_image_num_channels(img):
    """Number of channels of a PIL image or tensor.

    Args:
        img: PIL image or tensor.

    Shape: (*, c, h, w) or an image.

    >>> from rushlight.vision.transforms.functional import get_image_num_channels
    >>> get_image_num_channels(torch.ones(3, 8, 16))
    3
    """
    return get_dimensions(img)[0]


def convert_image_dtype(image, dtype=None):
    """A tensor image in another dtype, its values scaled to that dtype's range.

    Args:
        image: floats in [0, 1], or integers over their range.
        dtype: float32 if None.

    Shape: images (*, c, h, w) keep their shape.

    Raises:
        RuntimeError: float32 to int32 or int64, or float64 to int64, which would lose digits.

    >>> from rushlight.vision.transforms.functional import convert_image_dtype
    >>> convert_image_dtype(torch.tensor([255], dtype=torch.uint8))
    tensor([1.])
    """
    dtype = rushlight.float32 if dtype is None else dtype
    if image.dtype == dtype:
        return image
    if image.is_floating_point():
        if dtype.is_floating_point:
            return image.to(dtype)
        wide = (rushlight.int64,)
        if image.dtype == rushlight.float32:
            wide = (rushlight.int32, rushlight.int64)
        if dtype in wide:
            raise RuntimeError(
                f"The cast from {image.dtype} to {dtype} cannot be performed safely."
            )
        return image.mul(max_value(dtype) + 1.0 - 1e-3).to(dtype)
    largest = max_value(image.dtype)
    if dtype.is_floating_point:
        return image.to(dtype) / largest
    wanted = max_value(dtype)
    if largest > wanted:
        return (image // ((largest + 1) // (wanted + 1))).to(dtype)
    return image.to(dtype) * ((wanted + 1) // (largest + 1))


def max_value(dtype):
    """The value of full brightness: 1 for floats, the largest for integers."""
    if dtype.is_floating_point or dtype == rushlight.bool:
        return 1
    bits = {rushlight.uint8: 8, rushlight.int8: 7, rushlight.int16: 15, rushlight.int32: 31}
    return 2 ** bits.get(dtype, 63) - 1
