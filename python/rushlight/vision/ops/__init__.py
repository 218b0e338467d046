"""Operations and layers on boxes and images: torchvision.ops."""

import importlib

# At once, as the function has the name of its module.
from .roi_align import RoIAlign, roi_align
from .roi_pool import RoIPool, roi_pool
from .stochastic_depth import StochasticDepth, stochastic_depth

_MODULES = {
    "boxes": "batched_nms box_area box_convert box_iou clip_boxes_to_image complete_box_iou "
    "distance_box_iou generalized_box_iou masks_to_boxes nms remove_small_boxes",
    "ciou_loss": "complete_box_iou_loss",
    "diou_loss": "distance_box_iou_loss",
    "drop_block": "DropBlock2d DropBlock3d drop_block2d drop_block3d",
    "feature_pyramid_network": "FeaturePyramidNetwork",
    "focal_loss": "sigmoid_focal_loss",
    "giou_loss": "generalized_box_iou_loss",
    "misc": "Conv2dNormActivation Conv3dNormActivation FrozenBatchNorm2d MLP Permute "
    "SqueezeExcitation",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}
_ABSENT = (
    "DeformConv2d MultiScaleRoIAlign PSRoIAlign PSRoIPool deform_conv2d ps_roi_align ps_roi_pool"
).split()
__all__ = sorted(
    ["RoIAlign", "RoIPool", "StochasticDepth", "roi_align", "roi_pool", "stochastic_depth", *_HOME]
)


def _refusal(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(
            f"torchvision.ops.{name} is not in rushlight: it has no kernel yet\n"
            "crop and resize the regions with torchvision.transforms.functional.resized_crop, or "
            "run this part with torch and torchvision"
        )

    refuse.__name__ = refuse.__qualname__ = name
    return (
        type(name, (), {"__new__": refuse, "__module__": __name__}) if name[0].isupper() else refuse
    )


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    if name in _ABSENT:
        globals()[name] = _refusal(name)
        return globals()[name]
    raise AttributeError(f"module 'torchvision.ops' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_MODULES, *__all__})
