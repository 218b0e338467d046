"""Mask R-CNN (He et al., 2017): Faster R-CNN that draws the outline of each object."""

from collections import OrderedDict

from .... import nn
from ...ops.misc import Conv2dNormActivation
from ...ops.poolers import MultiScaleRoIAlign
from ..resnet import ResNet50_Weights
from ._weights import published, with_weights
from .faster_rcnn import FasterRCNN, resnet50_pyramid, second_version

__all__ = [
    "MaskRCNN",
    "MaskRCNN_ResNet50_FPN_V2_Weights",
    "MaskRCNN_ResNet50_FPN_Weights",
    "maskrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn_v2",
]  # fmt: skip
MaskRCNN_ResNet50_FPN_Weights = published(
    "MaskRCNN_ResNet50_FPN_Weights", __name__, COCO_V1="maskrcnn_resnet50_fpn_coco-bf2d0c1e.pth"
)
MaskRCNN_ResNet50_FPN_V2_Weights = published(
    "MaskRCNN_ResNet50_FPN_V2_Weights", __name__,
    COCO_V1="maskrcnn_resnet50_fpn_v2_coco-73cbd019.pth",
)  # fmt: skip


class MaskRCNN(FasterRCNN):
    """Faster R-CNN with a mask for each detection.

    Args:
        backbone: gives one feature map or an OrderedDict of them; has out_channels.
        num_classes: with the background; or None, where the predictors are given.
        mask_roi_pool: takes regions out of feature maps.
        mask_head: their convolutions.
        mask_predictor: makes a mask for each class.
        config: what FasterRCNN takes.

    Shape: as of FasterRCNN; a detection has masks (n, 1, h, w) from 0 to 1.
    """

    def __init__(
        self, backbone, num_classes=None, *args, mask_roi_pool=None, mask_head=None,
        mask_predictor=None, **config,
    ):  # fmt: skip
        if not isinstance(mask_roi_pool, MultiScaleRoIAlign | None):
            raise TypeError(
                "mask_roi_pool should be of type MultiScaleRoIAlign or None instead of "
                f"{type(mask_roi_pool)}"
            )
        if num_classes is not None and mask_predictor is not None:
            raise ValueError("num_classes should be None when mask_predictor is specified")
        if mask_roi_pool is None:
            mask_roi_pool = MultiScaleRoIAlign(["0", "1", "2", "3"], 14, 2)
        super().__init__(backbone, num_classes, *args, **config)
        if mask_head is None:
            mask_head = MaskRCNNHeads(backbone.out_channels, (256,) * 4, 1)
        if mask_predictor is None:
            mask_predictor = MaskRCNNPredictor(256, 256, num_classes)
        self.roi_heads.mask_roi_pool, self.roi_heads.mask_head = mask_roi_pool, mask_head
        self.roi_heads.mask_predictor = mask_predictor


class MaskRCNNHeads(nn.Sequential):
    """Convolutions of regions.

    Args:
        in_channels: of a region.
        layers: the channels of each convolution.
        dilation: of each.
        norm_layer: makes a normalisation after each.
    """

    def __init__(self, in_channels, layers, dilation, norm_layer=None):
        made = []
        for outputs in layers:
            made.append(
                Conv2dNormActivation(in_channels, outputs, 3, 1, dilation, norm_layer=norm_layer,
                                     dilation=dilation)
            )  # fmt: skip
            in_channels = outputs
        super().__init__(*made)
        _start(self)

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        for i in range(len(self)):
            for name in ("weight", "bias"):  # of older files
                old = f"{prefix}mask_fcn{i + 1}.{name}"
                if old in state_dict:
                    state_dict[f"{prefix}{i}.0.{name}"] = state_dict.pop(old)
        super()._load_from_state_dict(state_dict, prefix, *rest)


def _start(model):
    for module in model.modules():
        if isinstance(module, nn.Conv2d | nn.ConvTranspose2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            if module.bias is not None and isinstance(model, MaskRCNNHeads):
                nn.init.zeros_(module.bias)


class MaskRCNNPredictor(nn.Sequential):
    """Regions at twice their size, and a mask for each class.

    Args:
        in_channels: of a region.
        dim_reduced: channels between the two layers.
        num_classes: with the background.
    """

    def __init__(self, in_channels, dim_reduced, num_classes):
        super().__init__(
            OrderedDict(
                conv5_mask=nn.ConvTranspose2d(in_channels, dim_reduced, 2, 2, 0),
                relu=nn.ReLU(inplace=True),
                mask_fcn_logits=nn.Conv2d(dim_reduced, num_classes, 1),
            )
        )
        _start(self)


@with_weights(MaskRCNN_ResNet50_FPN_Weights, ResNet50_Weights.IMAGENET1K_V1, without_eps=True)
def maskrcnn_resnet50_fpn(*, num_classes, is_trained, weights_backbone, trainable_backbone_layers,
                          progress, **config):  # fmt: skip
    """Mask R-CNN on ResNet with 50 layers and a feature pyramid."""
    backbone = resnet50_pyramid(is_trained, weights_backbone, trainable_backbone_layers, progress)
    return MaskRCNN(backbone, num_classes, **config)


@with_weights(MaskRCNN_ResNet50_FPN_V2_Weights, ResNet50_Weights.IMAGENET1K_V1)
def maskrcnn_resnet50_fpn_v2(*, num_classes, is_trained, weights_backbone,
                             trainable_backbone_layers, progress, **config):  # fmt: skip
    """Mask R-CNN, the second version, on ResNet with 50 layers and a feature pyramid."""
    backbone, heads = second_version(
        is_trained, weights_backbone, trainable_backbone_layers, progress
    )
    mask_head = MaskRCNNHeads(backbone.out_channels, [256] * 4, 1, norm_layer=nn.BatchNorm2d)
    return MaskRCNN(backbone, num_classes, mask_head=mask_head, **heads, **config)
