"""Lite R-ASPP (Howard et al., 2019) on the large MobileNet V3."""

from collections import OrderedDict

from .... import nn
from ....nn.functional import interpolate
from .._utils import IntermediateLayerGetter
from ..mobilenetv3 import MobileNet_V3_Large_Weights
from ._model import mobilenet_stages, published, with_weights

__all__ = ["LRASPP", "LRASPP_MobileNet_V3_Large_Weights", "lraspp_mobilenet_v3_large"]
LRASPP_MobileNet_V3_Large_Weights = published(
    "LRASPP_MobileNet_V3_Large_Weights", __name__, "lraspp_mobilenet_v3_large-d234d4ea.pth"
)


class LRASPPHead(nn.Module):
    """Classes of late features, scaled by their means, and of early ones, added.

    Args:
        low_channels: of the early features.
        high_channels: of the late features.
        num_classes: of the result.
        inter_channels: between the late features and their classes.
    """

    def __init__(self, low_channels, high_channels, num_classes, inter_channels):
        super().__init__()
        self.cbr = nn.Sequential(
            nn.Conv2d(high_channels, inter_channels, 1, bias=False),
            nn.BatchNorm2d(inter_channels),
            nn.ReLU(inplace=True),
        )
        self.scale = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(high_channels, inter_channels, 1, bias=False),
            nn.Sigmoid(),
        )
        self.low_classifier = nn.Conv2d(low_channels, num_classes, 1)
        self.high_classifier = nn.Conv2d(inter_channels, num_classes, 1)

    def forward(self, input):
        """The classes of {"low": features, "high": features}, as large as the early ones."""
        low, high = input["low"], input["high"]
        x = self.cbr(high) * self.scale(high)
        x = interpolate(x, low.shape[-2:], mode="bilinear", align_corners=False)
        return self.low_classifier(low) + self.high_classifier(x)


class LRASPP(nn.Module):
    """A backbone and an LRASPPHead.

    Args:
        backbone: gives {"low": early features, "high": late ones}.
        low_channels: of the early features.
        high_channels: of the late features.
        num_classes: of the result.
        inter_channels: inside the head.

    Shape: (n, 3, h, w) gives {"out": (n, num_classes, h, w)}.
    """

    def __init__(self, backbone, low_channels, high_channels, num_classes, inter_channels=128):
        super().__init__()
        self.backbone = backbone
        self.classifier = LRASPPHead(low_channels, high_channels, num_classes, inter_channels)

    def forward(self, input):
        """The logits of each pixel's classes."""
        out = self.classifier(self.backbone(input))
        out = interpolate(out, input.shape[-2:], mode="bilinear", align_corners=False)
        return OrderedDict(out=out)


@with_weights(LRASPP_MobileNet_V3_Large_Weights, MobileNet_V3_Large_Weights.IMAGENET1K_V1, False)
def lraspp_mobilenet_v3_large(*, num_classes, aux_loss, progress, weights_backbone):
    """Lite R-ASPP; it has no second loss."""
    if aux_loss:
        raise NotImplementedError("This model does not use auxiliary loss")
    features, stages = mobilenet_stages(weights_backbone, progress)
    low, high = stages[-4], stages[-1]
    backbone = IntermediateLayerGetter(features, {str(low): "low", str(high): "high"})
    return LRASPP(backbone, features[low].out_channels, features[high].out_channels, num_classes)
