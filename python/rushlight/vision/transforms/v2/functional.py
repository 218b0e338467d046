"""torchvision.transforms.v2.functional: functions of images, videos, masks, boxes and key points.

An image is a PIL image, a tensor (..., channels, height, width) or one of tv_tensors.
"""

import functools

import rushlight

from ... import tv_tensors
from ..._pillow import is_pil_image
from .. import functional as _v1
from .._image import InterpolationMode, max_value
from ..functional import *  # noqa: F403
from ..functional import __all__ as _names
from ..functional import get_dimensions, pil_to_tensor
from ..geometry import resize_to
from . import _boxes, _by_kind
from ._boxes import (
    clamp_bounding_boxes,
    clamp_keypoints,
    convert_bounding_box_format,
    sanitize_bounding_boxes,
    sanitize_keypoints,
)
from ._by_kind import is_pure_tensor
from ._kernels import dispatched, plain, register_kernel

__all__ = [
    *_names, "clamp_bounding_boxes", "clamp_keypoints", "convert_bounding_box_format", "elastic",
    "gaussian_noise", "get_num_channels", "get_num_frames", "get_num_frames_video", "get_size",
    "get_size_bounding_boxes", "get_size_keypoints", "grayscale_to_rgb", "horizontal_flip",
    "is_pure_tensor", "jpeg", "permute_channels", "register_kernel", "sanitize_bounding_boxes",
    "sanitize_keypoints", "to_dtype", "to_image", "uniform_temporal_subsample",
    "uniform_temporal_subsample_video", "vertical_flip",
]  # fmt: skip

_PIXELS = ("Image", "Video", "Mask")
_COLOURS = ("Image", "Video")


def _placed(move):
    # Kernels of boxes and key points.
    return {"BoundingBoxes": move, "KeyPoints": move}


def _nearest(function, position):
    # The kernel of masks, whose values are never mixed; position of `interpolation`.
    def kernel(inpt, *args, **kwargs):
        if len(args) > position:
            args = (*args[:position], InterpolationMode.NEAREST, *args[position + 1 :])
        else:
            kwargs["interpolation"] = InterpolationMode.NEAREST
        result = function(plain(inpt), *args, **kwargs)
        return tv_tensors.wrap(result, like=inpt)

    return kernel


@dispatched(*_PIXELS, **_placed(_boxes.hflip))
def horizontal_flip(inpt):
    """Left and right exchanged.

    Args:
        inpt: PIL image or tensor of any kind.
    """
    return _v1.hflip(inpt)


@dispatched(*_PIXELS, **_placed(_boxes.vflip))
def vertical_flip(inpt):
    """Top and bottom exchanged.

    Args:
        inpt: PIL image or tensor of any kind.
    """
    return _v1.vflip(inpt)


def _resized(inpt, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    if inpt.dtype == rushlight.bool or not inpt.shape[0]:
        whole = inpt.to(rushlight.uint8)
        if not inpt.numel():
            height, width = get_size(_v1.resize(whole.new_zeros((1, *inpt.shape[-2:])), size,
                                                max_size=max_size))  # fmt: skip
            return inpt.new_zeros((*inpt.shape[:-2], height, width))
        return _v1.resize(whole, size, interpolation, max_size, antialias).to(inpt.dtype)
    return _v1.resize(inpt, size, interpolation, max_size, antialias)


@dispatched(*_COLOURS, Mask=_nearest(_resized, 1), **_placed(_boxes.resize))  # type: ignore[no-redef]
def resize(inpt, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    """The image in another size; masks take the nearest pixel.

    Args:
        inpt: PIL image or tensor of any kind.
        size: (height, width), or the length of the shorter edge; None: of the longer, max_size.
        interpolation: an InterpolationMode, or its name.
        max_size: limit of the longer edge.
        antialias: whether shrinking averages over what falls together.
    """
    if isinstance(interpolation, str):
        interpolation = InterpolationMode(interpolation)
    return resize_to(inpt, size, interpolation, max_size, antialias, fixed_point=True)


@dispatched(*_PIXELS, **_placed(_boxes.crop))  # type: ignore[no-redef]
def crop(inpt, top, left, height, width):
    """A rectangle; zeros where it is outside.

    Args:
        inpt: PIL image or tensor of any kind.
        top, left: row and column of the upper left corner.
        height, width: size of the rectangle.
    """
    return _v1.crop(inpt, top, left, height, width)


@dispatched(*_PIXELS, **_placed(_boxes.center_crop))  # type: ignore[no-redef]
def center_crop(inpt, output_size):
    """The rectangle in the middle.

    Args:
        inpt: PIL image or tensor of any kind.
        output_size: (height, width) or one int.
    """
    return _v1.center_crop(inpt, output_size)


@dispatched(*_COLOURS, Mask=_nearest(_v1.resized_crop, 5), **_placed(_boxes.resized_crop))  # type: ignore[no-redef]
def resized_crop(inpt, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR,
                 antialias=True):  # fmt: skip
    """A rectangle, resized.

    Args:
        inpt: PIL image or tensor of any kind.
        top, left: row and column of the upper left corner.
        height, width: size of the rectangle.
        size: of the result, (height, width) or the length of the shorter edge.
        interpolation: an InterpolationMode.
        antialias: whether shrinking averages over what falls together.
    """
    part = _v1.crop(inpt, top, left, height, width)
    return resize_to(part, size, interpolation, None, antialias, fixed_point=True)


@dispatched(*_PIXELS, **_placed(_boxes.pad))  # type: ignore[no-redef]
def pad(inpt, padding, fill=0, padding_mode="constant"):
    """With a border.

    Args:
        inpt: PIL image or tensor of any kind.
        padding: for all sides, for left and right and for top and bottom, or for each.
        fill: the border's value, or one for each channel.
        padding_mode: "constant", "edge", "reflect" or "symmetric".
    """
    if isinstance(fill, tuple | list) and len(fill) > 1 and not is_pil_image(inpt):
        if padding_mode != "constant" or len(fill) != inpt.shape[-3]:
            raise ValueError(
                f"Padding mode '{padding_mode}' of {inpt.shape[-3]} channels is not supported with "
                f"a fill of {len(fill)} values\ngive one value, or one for each channel"
            )
        channels = zip(inpt.split(1, -3), fill, strict=True)
        return rushlight.cat([_v1.pad(c, padding, value) for c, value in channels], -3)
    return _v1.pad(inpt, padding, 0 if fill is None else fill, padding_mode)


@dispatched(*_COLOURS, Mask=_nearest(_v1.rotate, 1), **_placed(_boxes.rotate))  # type: ignore[no-redef]
def rotate(inpt, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None,
           fill=None):  # fmt: skip
    """Rotated counter-clockwise.

    Args:
        inpt: PIL image or tensor of any kind.
        angle: degrees.
        interpolation: an InterpolationMode.
        expand: make the result large enough to hold all of the image.
        center: (x, y) of the point that stays; the middle if None.
        fill: what the corners hold; 0 if None.
    """
    return _v1.rotate(inpt, angle, interpolation, expand, center, fill)


@dispatched(*_COLOURS, Mask=_nearest(_v1.affine, 4), **_placed(_boxes.affine))  # type: ignore[no-redef]
def affine(inpt, angle, translate, scale, shear, interpolation=InterpolationMode.NEAREST,
           fill=None, center=None):  # fmt: skip
    """Rotated, sheared, scaled and moved.

    Args:
        inpt: PIL image or tensor of any kind.
        angle: degrees, clockwise.
        translate: pixels to the right and down.
        scale: how many times larger.
        shear: degrees along x, or along x and y.
        interpolation: an InterpolationMode.
        fill: what comes into view; 0 if None.
        center: (x, y) of the point that stays; the middle if None.
    """
    return _v1.affine(inpt, angle, translate, scale, shear, interpolation, fill, center)


@dispatched(*_COLOURS, Mask=_nearest(_v1.perspective, 2), **_placed(_boxes.perspective))  # type: ignore[no-redef]
def perspective(inpt, startpoints, endpoints, interpolation=InterpolationMode.BILINEAR,
                fill=None):  # fmt: skip
    """As it is seen from elsewhere.

    Args:
        inpt: PIL image or tensor of any kind.
        startpoints: four points (x, y) of the image.
        endpoints: where they are in the result.
        interpolation: an InterpolationMode.
        fill: what comes into view; 0 if None.
    """
    return _v1.perspective(inpt, startpoints, endpoints, interpolation, fill)


@dispatched(*_COLOURS, Mask=_nearest(_v1.elastic_transform, 1), **_placed(_boxes.elastic))
def elastic(inpt, displacement, interpolation=InterpolationMode.BILINEAR, fill=None):
    """Of whose pixels each comes from its own distance.

    Args:
        inpt: PIL image or tensor of any kind.
        displacement: (1, height, width, 2), across and down, in halves of a side.
        interpolation: an InterpolationMode.
        fill: what comes into view; 0 if None.
    """
    return _v1.elastic_transform(inpt, displacement, interpolation, fill)


elastic_transform = elastic


def _colour(name):
    function = getattr(_v1, name)
    return dispatched(*_COLOURS)(function)


adjust_brightness, adjust_contrast = _colour("adjust_brightness"), _colour("adjust_contrast")
adjust_saturation, adjust_hue = _colour("adjust_saturation"), _colour("adjust_hue")
adjust_gamma, invert = _colour("adjust_gamma"), _colour("invert")
adjust_sharpness, solarize = _colour("adjust_sharpness"), _colour("solarize")
rgb_to_grayscale, normalize = _colour("rgb_to_grayscale"), _colour("normalize")
erase, gaussian_blur = _colour("erase"), _colour("gaussian_blur")
hflip, vflip = horizontal_flip, vertical_flip


def _several(function):
    # Of crops, each of the kind of the image.
    def crops(inpt, *args, **kwargs):
        if not isinstance(inpt, tv_tensors.TVTensor):
            return function(inpt, *args, **kwargs)
        made = function(plain(inpt), *args, **kwargs)
        return tuple(tv_tensors.wrap(each, like=inpt) for each in made)

    return functools.wraps(function)(crops)


five_crop, ten_crop = _several(_v1.five_crop), _several(_v1.ten_crop)


def _has_floats(inpt):
    return isinstance(inpt, rushlight.Tensor) and inpt.is_floating_point()


@dispatched(*_COLOURS)  # type: ignore[no-redef]
def posterize(inpt, bits):
    """The image with fewer bits for each channel.

    Args:
        inpt: PIL image, or tensor of uint8 or of floats in [0, 1].
        bits: how many stay.

    >>> from rushlight.vision.transforms.v2.functional import posterize
    >>> posterize(torch.tensor([[[0.9, 0.3]]]), 1).tolist()
    [[[0.5, 0.0]]]
    """
    if not _has_floats(inpt):
        return _v1.posterize(inpt, bits)
    levels = 2**bits
    return (inpt * levels).floor().clamp(0, levels - 1) / levels


@dispatched(*_COLOURS)  # type: ignore[no-redef]
def autocontrast(inpt):
    """Each channel stretched, so that its darkest value is black and its brightest white.

    Args:
        inpt: PIL image or tensor.

    Note: the roundings differ from those of v1, which multiplies where this divides.
    """
    if not isinstance(inpt, rushlight.Tensor):
        return _v1.autocontrast(inpt)
    bound = max_value(inpt.dtype)
    kind = inpt.dtype if inpt.is_floating_point() else rushlight.float32
    lowest, highest = (f((-2, -1), keepdim=True).to(kind) for f in (inpt.amin, inpt.amax))
    span = (highest - lowest) * (1.0 / bound)
    lowest = lowest.masked_fill(span == 0, 0)
    return ((inpt - lowest) / span.masked_fill(span == 0, 1)).clamp(0, bound).to(inpt.dtype)


@dispatched(*_COLOURS)  # type: ignore[no-redef]
def equalize(inpt):
    """Each channel with as many pixels of each value as can be had.

    Args:
        inpt: PIL image, or tensor of uint8 or of floats in [0, 1], of which 256 values are told
            apart.
    """
    if not _has_floats(inpt):
        return _v1.equalize(inpt)
    whole = _v1.convert_image_dtype(inpt, rushlight.uint8)
    return _v1.convert_image_dtype(_v1.equalize(whole), inpt.dtype)


def get_num_channels(inpt):
    """How many channels an image or a video has.

    Args:
        inpt: PIL image or tensor.
    """
    return _v1.get_image_num_channels(plain(inpt) if isinstance(inpt, rushlight.Tensor) else inpt)


@dispatched(*_COLOURS)
def permute_channels(inpt, permutation):
    """The channels in another order.

    Args:
        inpt: PIL image, or a tensor (..., channels, height, width).
        permutation: the order.
    """
    if is_pil_image(inpt):
        return _v1.to_pil_image(permute_channels(pil_to_tensor(inpt), permutation))
    if len(permutation) != inpt.shape[-3]:
        raise ValueError(
            f"Length of permutation does not match number of channels: {len(permutation)} != "
            f"{inpt.shape[-3]}"
        )
    return inpt[..., list(permutation), :, :]


@dispatched("Video")
def uniform_temporal_subsample(inpt, num_samples):
    """Frames of a video at equal distances.

    Args:
        inpt: (..., time, channels, height, width).
        num_samples: how many.
    """
    at = rushlight.linspace(0, inpt.shape[-4] - 1, num_samples).long()
    return inpt.index_select(-4, at.to(inpt.device))


@dispatched(*_COLOURS)
def jpeg(inpt, quality):
    """An image as it is after it was written as JPEG, which Pillow does.

    Args:
        inpt: PIL image, or a tensor (..., 1 or 3, height, width) of uint8.
        quality: from 1 to 100.
    """
    import io

    from ..._pillow import pillow

    if is_pil_image(inpt):
        file = io.BytesIO()
        inpt.save(file, "JPEG", quality=quality)
        return pillow().open(file).copy()
    if inpt.dtype != rushlight.uint8:
        raise ValueError(f"Input tensor is expected to be in uint8 dtype, got {inpt.dtype}")
    frames = [
        pil_to_tensor(jpeg(_v1.to_pil_image(frame), quality))
        for frame in inpt.reshape(-1, *inpt.shape[-3:])
    ]
    return rushlight.stack(frames).reshape(inpt.shape) if frames else inpt


def to_image(inpt):
    """A PIL image, array or tensor as an Image (channels, height, width), unscaled.

    Args:
        inpt: PIL image, array (height, width[, channels]) or a tensor, which comes back.

    >>> import numpy
    >>> from rushlight.vision.transforms.v2.functional import to_image
    >>> to_image(numpy.full((1, 2, 1), 5, dtype=numpy.uint8))
    Image([[[5, 5]]], dtype=torch.uint8)
    """
    if isinstance(inpt, tv_tensors.Image):
        return inpt
    if isinstance(inpt, rushlight.Tensor):
        return tv_tensors.Image(inpt)
    if _v1.is_array(inpt):
        pixels = rushlight.from_numpy(inpt)
        pixels = pixels.unsqueeze(2) if pixels.dim() == 2 else pixels
        return tv_tensors.Image(pixels.permute(2, 0, 1))
    if is_pil_image(inpt):
        return tv_tensors.Image(pil_to_tensor(inpt))
    raise TypeError(
        "Input can either be a pure Tensor, a numpy array, or a PIL image, but got "
        f"{type(inpt)} instead."
    )


def _cast(inpt, dtype=rushlight.float32, scale=False):
    return tv_tensors.wrap(plain(inpt).to(dtype), like=inpt)


@dispatched("Image", "Video", Mask=_cast, BoundingBoxes=_cast, KeyPoints=_cast)
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


def get_size(inpt):
    """[height, width] of an image.

    >>> from rushlight.vision.transforms.v2.functional import get_size
    >>> get_size(torch.zeros(3, 4, 5))
    [4, 5]
    """
    if isinstance(inpt, tv_tensors.BoundingBoxes | tv_tensors.KeyPoints):
        return list(inpt.canvas_size)
    return list(get_dimensions(plain(inpt) if isinstance(inpt, rushlight.Tensor) else inpt)[1:])


@dispatched(*_COLOURS)
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


@dispatched(*_COLOURS)
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


def get_num_frames(inpt):
    """How many frames a video has.

    Args:
        inpt: a tensor (..., time, channels, height, width).
    """
    if not (isinstance(inpt, tv_tensors.Video) or is_pure_tensor(inpt)):
        raise TypeError(f"get_num_frames() supports a Video or a tensor, but got {type(inpt)}")
    return inpt.shape[-4]


get_num_frames_video, uniform_temporal_subsample_video = get_num_frames, uniform_temporal_subsample
get_size_bounding_boxes = get_size_keypoints = get_size
_named = _by_kind.kernels(globals())
globals().update(_named)
__all__ += list(_named)
