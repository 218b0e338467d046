"""DeepLab V3 (Chen et al., 2017): the features at several dilations beside each other."""

from .... import cat, nn
from ....nn.functional import interpolate
from .._utils import IntermediateLayerGetter
from ..mobilenetv3 import MobileNet_V3_Large_Weights
from ..resnet import ResNet50_Weights, ResNet101_Weights, resnet50, resnet101
from ._model import (
    _SimpleSegmentationModel,
    mobilenet_stages,
    published,
    resnet_backbone,
    with_weights,
)
from .fcn import FCNHead

__all__ = [
    "DeepLabV3",
    "DeepLabV3_MobileNet_V3_Large_Weights",
    "DeepLabV3_ResNet50_Weights",
    "DeepLabV3_ResNet101_Weights",
    "deeplabv3_mobilenet_v3_large",
    "deeplabv3_resnet50",
    "deeplabv3_resnet101",
]  # fmt: skip
DeepLabV3_ResNet50_Weights = published(
    "DeepLabV3_ResNet50_Weights", __name__, "deeplabv3_resnet50_coco-cd0a2569.pth"
)
DeepLabV3_ResNet101_Weights = published(
    "DeepLabV3_ResNet101_Weights", __name__, "deeplabv3_resnet101_coco-586e9e4e.pth"
)
DeepLabV3_MobileNet_V3_Large_Weights = published(
    "DeepLabV3_MobileNet_V3_Large_Weights", __name__, "deeplabv3_mobilenet_v3_large-fc3c493d.pth"
)


class DeepLabV3(_SimpleSegmentationModel):
    """A backbone and a DeepLabHead.

    Args: as of FCN.
    """


class ASPPConv(nn.Sequential):
    """A dilating convolution, normalised.

    Args:
        in_channels: of the features.
        out_channels: of the result.
        dilation: of the convolution.
    """

    def __init__(self, in_channels, out_channels, dilation):
        conv = nn.Conv2d(in_channels, out_channels, 3, padding=dilation, dilation=dilation,
                         bias=False)  # fmt: skip
        super().__init__(conv, nn.BatchNorm2d(out_channels), nn.ReLU())


class ASPPPooling(nn.Sequential):
    """The mean of all positions, at each of them.

    Args:
        in_channels: of the features.
        out_channels: of the result.
    """

    def __init__(self, in_channels, out_channels):
        super().__init__(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(in_channels, out_channels, 1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
        )

    def forward(self, x):
        """As large as x."""
        return interpolate(super().forward(x), x.shape[-2:], mode="bilinear", align_corners=False)


class ASPP(nn.Module):
    """Features at several dilations, and their mean, mixed into one.

    Args:
        in_channels: of the features.
        atrous_rates: the dilations.
        out_channels: of the result.
    """

    def __init__(self, in_channels, atrous_rates, out_channels=256):
        super().__init__()

        def single(inputs, *more):
            return nn.Sequential(
                nn.Conv2d(inputs, out_channels, 1, bias=False),
                nn.BatchNorm2d(out_channels),
                nn.ReLU(),
                *more,
            )

        self.convs = nn.ModuleList(
            [
                single(in_channels),
                *(ASPPConv(in_channels, out_channels, rate) for rate in atrous_rates),
                ASPPPooling(in_channels, out_channels),
            ]
        )
        self.project = single(len(self.convs) * out_channels, nn.Dropout(0.5))

    def forward(self, x):
        """(n, out_channels, h, w)."""
        return self.project(cat([conv(x) for conv in self.convs], 1))


class DeepLabHead(nn.Sequential):
    """ASPP, a convolution, and one that gives the classes.

    Args:
        in_channels: of the features.
        num_classes: of the result.
        atrous_rates: the dilations of ASPP.
    """

    def __init__(self, in_channels, num_classes, atrous_rates=(12, 24, 36)):
        super().__init__(
            ASPP(in_channels, atrous_rates),
            nn.Conv2d(256, 256, 3, padding=1, bias=False),
            nn.BatchNorm2d(256),
            nn.ReLU(),
            nn.Conv2d(256, num_classes, 1),
        )


def _deeplab(resnet, num_classes, aux_loss, progress, weights_backbone):
    backbone = resnet_backbone(resnet, weights_backbone, progress, aux_loss)
    aux = FCNHead(1024, num_classes) if aux_loss else None
    return DeepLabV3(backbone, DeepLabHead(2048, num_classes), aux)


@with_weights(DeepLabV3_ResNet50_Weights, ResNet50_Weights.IMAGENET1K_V1)
def deeplabv3_resnet50(**config):
    """DeepLab V3 on ResNet with 50 layers."""
    return _deeplab(resnet50, **config)


@with_weights(DeepLabV3_ResNet101_Weights, ResNet101_Weights.IMAGENET1K_V1)
def deeplabv3_resnet101(**config):
    """DeepLab V3 on ResNet with 101 layers."""
    return _deeplab(resnet101, **config)


@with_weights(DeepLabV3_MobileNet_V3_Large_Weights, MobileNet_V3_Large_Weights.IMAGENET1K_V1)
def deeplabv3_mobilenet_v3_large(*, num_classes, aux_loss, progress, weights_backbone):
    """DeepLab V3 on the large MobileNet V3."""
    features, stages = mobilenet_stages(weights_backbone, progress)
    last, early = stages[-1], stages[-4]
    layers = {str(last): "out"} | ({str(early): "aux"} if aux_loss else {})
    aux = FCNHead(features[early].out_channels, num_classes) if aux_loss else None
    head = DeepLabHead(features[last].out_channels, num_classes)
    return DeepLabV3(IntermediateLayerGetter(features, layers), head, aux)
