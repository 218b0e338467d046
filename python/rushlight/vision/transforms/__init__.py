"""Transforms of images, with torchvision's names, draws and printed forms."""

from . import functional
from .autoaugment import AugMix, AutoAugment, AutoAugmentPolicy, RandAugment, TrivialAugmentWide
from .elastic import ElasticTransform
from .functional import InterpolationMode
from .linear import LinearTransformation, TenCrop
from .transforms import *  # noqa: F403
from .transforms import __all__ as _names

__all__ = [
    *_names, "AugMix", "AutoAugment", "AutoAugmentPolicy", "ElasticTransform", "InterpolationMode",
    "LinearTransformation", "RandAugment", "TenCrop", "TrivialAugmentWide",
]  # fmt: skip


def __getattr__(name):
    from rushlight._version import __version__

    if name == "v2":
        import importlib

        return importlib.import_module(f"{__name__}.v2")
    raise AttributeError(
        f"module 'torchvision.transforms' has no attribute {name!r}\n"
        f"torchvision.transforms.{name} is not in rushlight {__version__}."
    )
