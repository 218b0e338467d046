"""How images are prepared for published weights: what `weights.transforms()` returns."""

from rushlight import Tensor, float32, nn

from . import functional as F
from .functional import InterpolationMode

_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def _fractions(img):
    """The image as a tensor of numbers from 0 to 1."""
    tensor = img if isinstance(img, Tensor) else F.pil_to_tensor(img)
    return F.convert_image_dtype(tensor, float32)


class SemanticSegmentation(nn.Module):
    """Resizes an image, scales it to [0, 1] and normalises it.

    Args:
        resize_size: of the shorter side; None keeps the size.
        mean: of each channel.
        std: of each channel.
        interpolation: how it is resized.
        antialias: whether a smaller image is smoothed first.

    Shape: an image of PIL, or a tensor (*, 3, h, w); the result is (*, 3, height, width).

    >>> SemanticSegmentation(resize_size=None)(torch.zeros(3, 4, 4)).shape
    torch.Size([3, 4, 4])
    """

    _shown: tuple[str, ...] = ("resize_size", "mean", "std", "interpolation")

    def __init__(
        self, *, resize_size, mean=_MEAN, std=_STD, interpolation=InterpolationMode.BILINEAR,
        antialias=True,
    ):  # fmt: skip
        super().__init__()
        self.resize_size = None if resize_size is None else [resize_size]
        self.mean, self.std = list(mean), list(std)
        self.interpolation, self.antialias = interpolation, antialias

    def _sized(self, img):
        if self.resize_size is None:
            return img
        return F.resize(img, self.resize_size, self.interpolation, antialias=self.antialias)

    def forward(self, img):
        return F.normalize(_fractions(self._sized(img)), self.mean, self.std)

    def __repr__(self):
        lines = "".join(f"\n    {name}={getattr(self, name)}" for name in self._shown)
        return f"{type(self).__name__}({lines}\n)"


class ImageClassification(SemanticSegmentation):
    """Resizes an image and crops its centre, scales it to [0, 1] and normalises it.

    Args: as of SemanticSegmentation.
        crop_size: of both sides.

    Shape: an image of PIL, or a tensor (*, 3, h, w); the result is (*, 3, crop_size, crop_size).

    >>> ImageClassification(crop_size=2, resize_size=3)(torch.zeros(3, 4, 4)).shape
    torch.Size([3, 2, 2])
    """

    _shown = ("crop_size", *SemanticSegmentation._shown)

    def __init__(self, *, crop_size, resize_size=256, **options):
        super().__init__(resize_size=resize_size, **options)
        self.crop_size = [crop_size]

    def _sized(self, img):
        return F.center_crop(super()._sized(img), self.crop_size)


class ObjectDetection(nn.Module):
    """An image as a tensor of numbers from 0 to 1.

    Shape: an image of PIL, or a tensor (*, 3, h, w); the result is (*, 3, h, w).

    >>> ObjectDetection()(torch.full((3, 1, 1), 255, dtype=torch.uint8)).max()
    tensor(1.)
    """

    def forward(self, img):
        return _fractions(img)

    def __repr__(self):
        return "ObjectDetection()"
