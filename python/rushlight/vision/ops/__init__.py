"""Operations and layers on boxes and images: torchvision.ops."""

import importlib

# At once, as the function has the name of its module.
from .ps_roi_align import PSRoIAlign, ps_roi_align
from .ps_roi_pool import PSRoIPool, ps_roi_pool
from .roi_align import RoIAlign, roi_align
from .roi_pool import RoIPool, roi_pool
from .stochastic_depth import StochasticDepth, stochastic_depth

_MODULES = {
    "boxes": "batched_nms box_area box_convert box_iou clip_boxes_to_image complete_box_iou "
    "distance_box_iou generalized_box_iou masks_to_boxes nms remove_small_boxes",
    "ciou_loss": "complete_box_iou_loss",
    "deform_conv": "DeformConv2d deform_conv2d",
    "diou_loss": "distance_box_iou_loss",
    "drop_block": "DropBlock2d DropBlock3d drop_block2d drop_block3d",
    "feature_pyramid_network": "FeaturePyramidNetwork",
    "focal_loss": "sigmoid_focal_loss",
    "giou_loss": "generalized_box_iou_loss",
    "misc": "Conv2dNormActivation Conv3dNormActivation FrozenBatchNorm2d MLP Permute "
    "SqueezeExcitation",
    "poolers": "MultiScaleRoIAlign",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted(
    "PSRoIAlign PSRoIPool RoIAlign RoIPool StochasticDepth ps_roi_align ps_roi_pool roi_align "
    "roi_pool stochastic_depth".split()
    + list(_HOME)
)


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module 'torchvision.ops' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_MODULES, *__all__})
