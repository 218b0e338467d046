"""SSDlite (Sandler et al., MobileNetV2, 2018): SSD of convolutions channel by channel."""

import functools
from collections import OrderedDict

from .... import nn
from ...ops.misc import Conv2dNormActivation
from ..mobilenetv3 import MobileNet_V3_Large_Weights, mobilenet_v3_large
from ._utils import retrieve_out_channels
from ._weights import published, with_weights
from .anchor_utils import DefaultBoxGenerator
from .backbone_utils import freeze_stages, layers_to_train, stages_of
from .ssd import SSD, SSDScoringHead

__all__ = ["SSDLite320_MobileNet_V3_Large_Weights", "ssdlite320_mobilenet_v3_large"]
SSDLite320_MobileNet_V3_Large_Weights = published(
    "SSDLite320_MobileNet_V3_Large_Weights", __name__,
    COCO_V1="ssdlite320_mobilenet_v3_large_coco-a79551df.pth",
)  # fmt: skip


def _start(layers):
    for layer in layers.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.normal_(layer.weight, mean=0.0, std=0.03)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def _by_channel(channels, kernel, stride, norm_layer):
    return Conv2dNormActivation(
        channels, channels, kernel, stride, groups=channels, norm_layer=norm_layer,
        activation_layer=nn.ReLU6,
    )  # fmt: skip


def _scoring(in_channels, num_anchors, columns, norm_layer):
    layers = nn.ModuleList(
        nn.Sequential(
            _by_channel(channels, 3, 1, norm_layer), nn.Conv2d(channels, columns * count, 1)
        )
        for channels, count in zip(in_channels, num_anchors, strict=True)
    )
    _start(layers)
    return layers


def _extra(inputs, outputs, norm_layer):
    inside = outputs // 2
    options = {"norm_layer": norm_layer, "activation_layer": nn.ReLU6}
    return nn.Sequential(
        Conv2dNormActivation(inputs, inside, 1, **options),
        _by_channel(inside, 3, 2, norm_layer),
        Conv2dNormActivation(inside, outputs, 1, **options),
    )


class SSDLiteClassificationHead(SSDScoringHead):
    """The logits of each anchor's classes.

    Args:
        in_channels: of each feature map.
        num_anchors: at each pixel of each map.
        num_classes: with the background.
        norm_layer: makes a normalisation.
    """

    def __init__(self, in_channels, num_anchors, num_classes, norm_layer):
        super().__init__(_scoring(in_channels, num_anchors, num_classes, norm_layer), num_classes)


class SSDLiteRegressionHead(SSDScoringHead):
    """The differences of each anchor's box.

    Args:
        in_channels: of each feature map.
        num_anchors: at each pixel of each map.
        norm_layer: makes a normalisation.
    """

    def __init__(self, in_channels, num_anchors, norm_layer):
        super().__init__(_scoring(in_channels, num_anchors, 4, norm_layer), 4)


class SSDLiteHead(nn.Module):
    """Classes and boxes of all anchors.

    Args:
        in_channels: of each feature map.
        num_anchors: at each pixel of each map.
        num_classes: with the background.
        norm_layer: makes a normalisation.
    """

    def __init__(self, in_channels, num_anchors, num_classes, norm_layer):
        super().__init__()
        common = (in_channels, num_anchors)
        self.classification_head = SSDLiteClassificationHead(*common, num_classes, norm_layer)
        self.regression_head = SSDLiteRegressionHead(*common, norm_layer)

    def forward(self, x):
        """{"bbox_regression": (n, anchors, 4), "cls_logits": (n, anchors, classes)}"""
        return {
            "bbox_regression": self.regression_head(x),
            "cls_logits": self.classification_head(x),
        }


class SSDLiteFeatureExtractorMobileNet(nn.Module):
    """Maps of several sizes of the features of MobileNet, and of layers after them.

    Args:
        backbone: the features of MobileNet.
        c4_pos: the block whose widened channels are the first map.
        norm_layer: makes a normalisation.
        width_mult: the channels of the layers after them are multiplied with it.
        min_depth: their least channels.
    """

    def __init__(self, backbone, c4_pos, norm_layer, width_mult=1.0, min_depth=16):
        super().__init__()
        if backbone[c4_pos].use_res_connect:
            raise ValueError("backbone[c4_pos].use_res_connect should be False")
        block = backbone[c4_pos].block
        self.features = nn.Sequential(
            nn.Sequential(*backbone[:c4_pos], block[0]),
            nn.Sequential(block[1:], *backbone[c4_pos + 1 :]),
        )
        widths = [max(min_depth, int(width * width_mult)) for width in (512, 256, 256, 128)]
        inputs = [backbone[-1].out_channels, *widths[:-1]]
        pairs = zip(inputs, widths, strict=True)
        self.extra = nn.ModuleList(_extra(a, b, norm_layer) for a, b in pairs)
        _start(self.extra)

    def forward(self, x):
        """An OrderedDict of maps, the largest first."""
        maps = []
        for layers in (*self.features, *self.extra):
            x = layers(x)
            maps.append(x)
        return OrderedDict((str(i), each) for i, each in enumerate(maps))


@with_weights(SSDLite320_MobileNet_V3_Large_Weights, MobileNet_V3_Large_Weights.IMAGENET1K_V1)
def ssdlite320_mobilenet_v3_large(*, num_classes, is_trained, weights_backbone,
                                  trainable_backbone_layers, progress, norm_layer=None,
                                  **config):  # fmt: skip
    """SSDlite on the large MobileNet V3, for images of 320 pixels."""
    layers = layers_to_train(is_trained, trainable_backbone_layers, 6, 6)
    norm = norm_layer or functools.partial(nn.BatchNorm2d, eps=0.001, momentum=0.03)
    backbone = mobilenet_v3_large(
        weights=weights_backbone, progress=progress, norm_layer=norm,
        reduced_tail=weights_backbone is None,
    )  # fmt: skip
    if weights_backbone is None:
        _start(backbone)
    stages = stages_of(backbone.features)
    freeze_stages(backbone.features, stages, layers)
    features = SSDLiteFeatureExtractorMobileNet(backbone.features, stages[-2], norm)
    size = (320, 320)
    anchors = DefaultBoxGenerator([[2, 3]] * 6, min_ratio=0.2, max_ratio=0.95)
    channels = retrieve_out_channels(features, size)
    counts = anchors.num_anchors_per_location()
    usual = {
        "score_thresh": 0.001, "nms_thresh": 0.55, "detections_per_img": 300,
        "topk_candidates": 300, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
        "head": SSDLiteHead(channels, counts, num_classes, norm),
    }  # fmt: skip
    return SSD(features, anchors, size, num_classes, **{**usual, **config})
