"""Keypoint R-CNN (He et al., 2017): Faster R-CNN that finds points of each person."""

from .... import nn
from ....nn.functional import interpolate
from ...ops.poolers import MultiScaleRoIAlign
from ..resnet import ResNet50_Weights
from ._weights import published, with_weights
from .faster_rcnn import FasterRCNN, resnet50_pyramid

__all__ = ["KeypointRCNN", "KeypointRCNN_ResNet50_FPN_Weights", "keypointrcnn_resnet50_fpn"]
KeypointRCNN_ResNet50_FPN_Weights = published(
    "KeypointRCNN_ResNet50_FPN_Weights", __name__, classes=2,
    COCO_LEGACY="keypointrcnn_resnet50_fpn_coco-9f466800.pth",
    COCO_V1="keypointrcnn_resnet50_fpn_coco-fc266e95.pth",
)  # fmt: skip


class KeypointRCNN(FasterRCNN):
    """Faster R-CNN with key points for each detection.

    Args:
        backbone: gives one feature map or an OrderedDict of them; has out_channels.
        num_classes: with the background; or None, where the predictors are given.
        min_size: of GeneralizedRCNNTransform; by default one of several.
        keypoint_roi_pool: takes regions out of feature maps.
        keypoint_head: their convolutions.
        keypoint_predictor: makes a heat map for each key point.
        num_keypoints: 17 by default; None where keypoint_predictor is given.
        config: what FasterRCNN takes.

    Shape: as of FasterRCNN; a detection has keypoints (n, k, 3) and keypoints_scores (n, k).
    """

    def __init__(
        self, backbone, num_classes=None, min_size=None, *args, keypoint_roi_pool=None,
        keypoint_head=None, keypoint_predictor=None, num_keypoints=None, **config,
    ):  # fmt: skip
        if not isinstance(keypoint_roi_pool, MultiScaleRoIAlign | None):
            raise TypeError(
                "keypoint_roi_pool should be of type MultiScaleRoIAlign or None instead of "
                f"{type(keypoint_roi_pool)}"
            )
        if num_keypoints is not None and keypoint_predictor is not None:
            raise ValueError("num_keypoints should be None when keypoint_predictor is specified")
        if keypoint_roi_pool is None:
            keypoint_roi_pool = MultiScaleRoIAlign(["0", "1", "2", "3"], 14, 2)
        if min_size is None:
            min_size = (640, 672, 704, 736, 768, 800)
        super().__init__(backbone, num_classes, min_size, *args, **config)
        if keypoint_head is None:
            keypoint_head = KeypointRCNNHeads(backbone.out_channels, (512,) * 8)
        if keypoint_predictor is None:
            count = 17 if num_keypoints is None else num_keypoints
            keypoint_predictor = KeypointRCNNPredictor(512, count)
        heads = self.roi_heads
        heads.keypoint_roi_pool, heads.keypoint_head = keypoint_roi_pool, keypoint_head
        heads.keypoint_predictor = keypoint_predictor


class KeypointRCNNHeads(nn.Sequential):
    """Convolutions of regions.

    Args:
        in_channels: of a region.
        layers: the channels of each convolution.
    """

    def __init__(self, in_channels, layers):
        made = []
        for outputs in layers:
            made += [nn.Conv2d(in_channels, outputs, 3, 1, 1), nn.ReLU(inplace=True)]
            in_channels = outputs
        super().__init__(*made)
        for module in self:
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
                nn.init.zeros_(module.bias)


class KeypointRCNNPredictor(nn.Module):
    """A heat map of each key point, at four times a region's size.

    Args:
        in_channels: of a region.
        num_keypoints: how many maps.
    """

    def __init__(self, in_channels, num_keypoints):
        super().__init__()
        self.kps_score_lowres = nn.ConvTranspose2d(in_channels, num_keypoints, 4, 2, 1)
        nn.init.kaiming_normal_(self.kps_score_lowres.weight, mode="fan_out", nonlinearity="relu")
        nn.init.zeros_(self.kps_score_lowres.bias)
        self.up_scale, self.out_channels = 2, num_keypoints

    def forward(self, x):
        """(n, c, h, w) gives (n, num_keypoints, 4 h, 4 w)."""
        x = self.kps_score_lowres(x)
        return interpolate(x, scale_factor=float(self.up_scale), mode="bilinear",
                           align_corners=False, recompute_scale_factor=False)  # fmt: skip


@with_weights(
    KeypointRCNN_ResNet50_FPN_Weights, ResNet50_Weights.IMAGENET1K_V1, classes=2, without_eps=True
)
def keypointrcnn_resnet50_fpn(*, num_classes, is_trained, weights_backbone,
                              trainable_backbone_layers, progress, **config):  # fmt: skip
    """Keypoint R-CNN on ResNet with 50 layers and a feature pyramid."""
    backbone = resnet50_pyramid(is_trained, weights_backbone, trainable_backbone_layers, progress)
    return KeypointRCNN(backbone, num_classes, **config)
