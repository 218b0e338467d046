"""torchvision.transforms.v2: transforms of samples.

A sample is an image, a video, or a list, tuple or dict that holds some beside boxes, masks, key
points and labels; tv_tensors say which is which. What moves pixels moves boxes with them, drawn
once for the whole sample; labels pass through.
"""

import rushlight

from ... import tv_tensors
from .. import random as _random
from .. import transforms as _v1
from .._image import InterpolationMode, is_array
from ..autoaugment import AutoAugmentPolicy
from ..linear import LinearTransformation as _Linear
from ..transforms import *  # noqa: F403
from ..transforms import __all__ as _names
from . import functional
from ._auto_augment import AugMix, AutoAugment, RandAugment, TrivialAugmentWide
from ._boxes_of_samples import (
    ClampBoundingBoxes,
    ClampKeyPoints,
    ConvertBoundingBoxFormat,
    SanitizeBoundingBoxes,
    SanitizeKeyPoints,
    SetClampingMode,
)
from ._color import RandomChannelPermutation, RandomPhotometricDistort
from ._container import RandomApply, RandomChoice, RandomOrder  # type: ignore[assignment]
from ._crops import FiveCrop, TenCrop  # type: ignore[assignment]
from ._geometry import *  # type: ignore[assignment] # noqa: F403
from ._geometry import __all__ as _geometry_names
from ._mixing import CutMix, MixUp
from ._queries import *  # noqa: F403
from ._queries import __all__ as _query_names
from ._transform import ImageTransform, Transform, is_image
from ._warps import ElasticTransform, GaussianBlur, RandomAffine, RandomPerspective

__all__ = sorted({
    *_names, *_geometry_names, *_query_names, "AugMix", "AutoAugment", "AutoAugmentPolicy",
    "ClampBoundingBoxes", "ClampKeyPoints", "Compose", "ConvertBoundingBoxFormat", "CutMix",
    "ElasticTransform", "GaussianNoise", "Identity", "InterpolationMode", "JPEG",
    "LinearTransformation", "MixUp", "RGB", "RandAugment", "RandomChannelPermutation",
    "RandomPhotometricDistort", "SanitizeBoundingBoxes", "SanitizeKeyPoints", "SetClampingMode",
    "TenCrop", "ToDtype", "ToImage", "ToPureTensor", "Transform", "TrivialAugmentWide",
    "UniformTemporalSubsample", "functional",
})  # fmt: skip


class Compose(Transform):  # type: ignore[no-redef]
    """Transforms one after another, of whole samples.

    Args:
        transforms: what is called, first to last.

    >>> from rushlight.vision.transforms import v2
    >>> v2.Compose([v2.CenterCrop(2)])(torch.zeros(1, 4, 4), 7)
    (tensor([[[0., 0.],
             [0., 0.]]]), 7)
    """

    def __init__(self, transforms):
        super().__init__()
        self.transforms = transforms

    def forward(self, *inputs):
        """The sample, transformed."""
        for transform in self.transforms:
            outputs = transform(*inputs)
            inputs = outputs if len(inputs) > 1 else (outputs,)
        return outputs if self.transforms else inputs[0] if len(inputs) == 1 else inputs

    def __repr__(self):
        lines = "".join(f"\n    {transform}" for transform in self.transforms)
        return f"{type(self).__name__}({lines}\n)"


def _of_images(base):
    # v1's transform of an image, for the images of a sample.
    made = type(base.__name__, (ImageTransform, base), {"__doc__": base.__doc__})
    made.__module__ = __name__
    made._of_image = base.forward if hasattr(base, "forward") else base.__call__
    return made


ColorJitter, RandomGrayscale = _of_images(_random.ColorJitter), _of_images(_random.RandomGrayscale)  # type: ignore[misc]
RandomErasing, Grayscale = _of_images(_random.RandomErasing), _of_images(_v1.Grayscale)  # type: ignore[misc]
Normalize, ConvertImageDtype = _of_images(_v1.Normalize), _of_images(_v1.ConvertImageDtype)  # type: ignore[misc]


class LinearTransformation(_of_images(_Linear)):  # type: ignore[misc]
    __doc__ = _Linear.__doc__
    __repr__ = Transform.__repr__

    def transform(self, inpt, params):
        """Whitened."""
        if not isinstance(inpt, rushlight.Tensor):
            raise TypeError(f"{type(self).__name__}() does not support PIL images.")
        return super().transform(inpt, params)


def _of_tones(base):
    made = _of_images(base)
    made._functional = functional
    return made


RandomInvert, RandomPosterize = _of_tones(_v1.RandomInvert), _of_tones(_v1.RandomPosterize)  # type: ignore[misc]
RandomSolarize, RandomEqualize = _of_tones(_v1.RandomSolarize), _of_tones(_v1.RandomEqualize)  # type: ignore[misc]
RandomAutocontrast = _of_tones(_v1.RandomAutocontrast)  # type: ignore[misc]
RandomAdjustSharpness = _of_tones(_v1.RandomAdjustSharpness)  # type: ignore[misc]


class ToImage(Transform):
    """PIL image, array or tensor to Image (channels, height, width) of the same type, unscaled."""

    def _chosen(self, parts):
        chosen = super()._chosen(parts)
        arrays = [is_array(part) and part.ndim in (2, 3) for part in parts]
        return [
            array or (used and is_image(part))
            for part, used, array in zip(parts, chosen, arrays, strict=True)
        ]

    def transform(self, inpt, params):
        """An Image."""
        return functional.to_image(inpt)


class ToDtype(Transform):
    """The images of a sample in another dtype.

    Args:
        dtype: of images and videos; or {kind: dtype or None, which leaves it; "others": dtype}.
        scale: whether images' values go to that dtype's range.

    >>> from rushlight.vision.transforms import v2
    >>> v2.ToDtype(torch.float32, scale=True)(torch.tensor([[[255]]], dtype=torch.uint8))
    tensor([[[1.]]])
    """

    def __init__(self, dtype, scale=False):
        super().__init__()
        self.dtype, self.scale = dtype, scale

    def transform(self, inpt, params):
        """Cast."""
        if isinstance(self.dtype, dict):
            kind = type(inpt)
            dtype = self.dtype[kind] if kind in self.dtype else self.dtype.get("others")
            if dtype is None and kind not in self.dtype and "others" not in self.dtype:
                raise ValueError(f"No dtype was specified for type {kind}.")
        else:
            dtype = self.dtype if is_image(inpt) else None
        if dtype is None or not isinstance(inpt, rushlight.Tensor):
            return inpt
        return functional.to_dtype(inpt, dtype, self.scale and is_image(inpt))

    def __repr__(self):
        return f"ToDtype(scale={self.scale})"


class Identity(Transform):
    """The sample as it is."""

    def transform(self, inpt, params):
        """As it is."""
        return inpt


class ToPureTensor(Transform):
    """All parts of a sample as tensors without a kind."""

    def transform(self, inpt, params):
        """Without its kind."""
        if isinstance(inpt, tv_tensors.TVTensor):
            return inpt.as_subclass(rushlight.Tensor)
        return inpt


class GaussianNoise(Transform):
    """A float image with normal noise added, and clipped to [0, 1] if `clip`."""

    def __init__(self, mean=0.0, sigma=0.1, clip=True):
        super().__init__()
        self.mean, self.sigma, self.clip = mean, sigma, clip

    def transform(self, inpt, params):
        """With noise."""
        return functional.gaussian_noise(inpt, self.mean, self.sigma, self.clip)


class RGB(Transform):
    """Images of one channel as three equal ones."""

    def transform(self, inpt, params):
        """Of three channels."""
        return functional.grayscale_to_rgb(inpt)


class JPEG(Transform):
    """Images as they are after they were written as JPEG, of a quality that is drawn.

    Args:
        quality: from 1 to 100, one or (least, greatest).
    """

    def __init__(self, quality):
        super().__init__()
        quality = (quality, quality) if isinstance(quality, int) else tuple(quality)
        if not (len(quality) == 2 and 1 <= quality[0] <= quality[1] <= 100):
            raise ValueError(f"quality must be an integer from 1 to 100, got {quality}")
        self.quality = quality

    def make_params(self, flat_inputs):
        """The quality."""
        low, high = self.quality
        return {"quality": rushlight.randint(low, high + 1, ()).item()}

    def transform(self, inpt, params):
        """Written and read."""
        return functional.jpeg(inpt, params["quality"])


class UniformTemporalSubsample(Transform):
    """Frames of a video at equal distances.

    Args:
        num_samples: how many.
    """

    _transformed_types = (tv_tensors.Video,)

    def __init__(self, num_samples):
        super().__init__()
        self.num_samples = num_samples

    def transform(self, inpt, params):
        """Fewer frames."""
        return functional.uniform_temporal_subsample(inpt, self.num_samples)
