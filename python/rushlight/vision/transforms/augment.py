"""TrivialAugmentWide: one change of a PIL image, drawn with its strength."""

import rushlight
from rushlight import nn

from .._pillow import is_pil_image, pillow
from . import functional
from ._image import InterpolationMode, interpolation_mode, pillow_number
from .geometry import colour_of

__all__ = ["TrivialAugmentWide"]


def _moved(img, matrix, mode, fill):
    (image,) = pillow("Image")
    colour = colour_of(fill, img)
    how = image.Transform.AFFINE
    return img.transform(img.size, how, matrix, pillow_number(mode), fillcolor=colour)


def _changed(img, name, strength, mode, fill):
    """`img` after the change of this name."""
    enhance, operations = pillow("ImageEnhance", "ImageOps")
    shift = float(int(strength))
    matrices = {
        "ShearX": (1.0, strength, 0.0, 0.0, 1.0, 0.0),
        "ShearY": (1.0, 0.0, 0.0, strength, 1.0, 0.0),
        "TranslateX": (1.0, 0.0, -shift, 0.0, 1.0, 0.0),
        "TranslateY": (1.0, 0.0, 0.0, 0.0, 1.0, -shift),
    }
    if name in matrices:
        return _moved(img, matrices[name], mode, fill)
    if name in ("Brightness", "Color", "Contrast", "Sharpness"):
        return getattr(enhance, name)(img).enhance(1.0 + strength)
    if name == "Rotate":
        return functional.rotate(img, strength, mode, fill=fill)
    if name == "Posterize":
        return operations.posterize(img, int(strength))
    if name == "Solarize":
        return operations.solarize(img, strength)
    if name == "AutoContrast":
        return operations.autocontrast(img)
    if name == "Equalize":
        return operations.equalize(img)
    return img


class TrivialAugmentWide(nn.Module):
    """One of fourteen changes (Müller and Hutter, 2021), each as likely as the others.

    Args:
        num_magnitude_bins: how many strengths there are.
        interpolation: an InterpolationMode for what is moved.
        fill: what comes into view at the edges; 0 if None.

    Raises:
        TypeError: for what is no PIL image.

    >>> from PIL import Image
    >>> from rushlight.vision import transforms
    >>> transforms.TrivialAugmentWide()(Image.new("RGB", (5, 4))).size
    (5, 4)
    """

    def __init__(self, num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__()
        self.num_magnitude_bins = num_magnitude_bins
        self.interpolation = interpolation_mode(interpolation)
        self.fill = fill

    def _strengths(self, count):
        """Of each change: its strengths, none if it has only one, and whether they have a sign."""
        to_one = rushlight.linspace(0.0, 0.99, count)
        pixels = rushlight.linspace(0.0, 32.0, count)
        bits = 8 - (rushlight.arange(count) / ((count - 1) / 6)).round().int()
        return {
            "Identity": (None, False),
            "ShearX": (to_one, True),
            "ShearY": (to_one, True),
            "TranslateX": (pixels, True),
            "TranslateY": (pixels, True),
            "Rotate": (rushlight.linspace(0.0, 135.0, count), True),
            "Brightness": (to_one, True),
            "Color": (to_one, True),
            "Contrast": (to_one, True),
            "Sharpness": (to_one, True),
            "Posterize": (bits, False),
            "Solarize": (rushlight.linspace(255.0, 0.0, count), False),
            "AutoContrast": (None, False),
            "Equalize": (None, False),
        }

    def forward(self, img):
        """The image after a drawn change."""
        if not is_pil_image(img):
            raise TypeError(
                "TrivialAugmentWide takes PIL images here, not "
                f"{type(img).__name__}: put it before ToTensor"
            )
        table = self._strengths(self.num_magnitude_bins)
        name = list(table)[int(rushlight.randint(len(table), (1,)))]
        strengths, signed = table[name]
        strength = 0.0
        if strengths is not None:
            strength = float(strengths[int(rushlight.randint(len(strengths), (1,)))])
        if signed and rushlight.randint(2, (1,)):
            strength = -strength
        return _changed(img, name, strength, self.interpolation, self.fill)

    def extra_repr(self):
        """The arguments."""
        return (
            f"num_magnitude_bins={self.num_magnitude_bins}, "
            f"interpolation={self.interpolation}, fill={self.fill}"
        )
