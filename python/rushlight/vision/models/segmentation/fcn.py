"""Fully convolutional networks (Long et al., 2014) on a dilating ResNet."""

from .... import nn
from ..resnet import ResNet50_Weights, ResNet101_Weights, resnet50, resnet101
from ._model import _SimpleSegmentationModel, published, resnet_backbone, with_weights

__all__ = [
    "FCN",
    "FCN_ResNet50_Weights",
    "FCN_ResNet101_Weights",
    "fcn_resnet50",
    "fcn_resnet101",
]  # fmt: skip
FCN_ResNet50_Weights = published("FCN_ResNet50_Weights", __name__, "fcn_resnet50_coco-1167a1af.pth")
FCN_ResNet101_Weights = published(
    "FCN_ResNet101_Weights", __name__, "fcn_resnet101_coco-7ecb50ca.pth"
)


class FCN(_SimpleSegmentationModel):
    """A backbone and an FCNHead.

    Args:
        backbone: gives {"out": features}, and "aux" where there is an aux_classifier.
        classifier: of the features.
        aux_classifier: of earlier features, for a second loss.
    """


class FCNHead(nn.Sequential):
    """Two convolutions, the first normalised.

    Args:
        in_channels: of the features.
        channels: classes.
    """

    def __init__(self, in_channels, channels):
        inside = in_channels // 4
        super().__init__(
            nn.Conv2d(in_channels, inside, 3, padding=1, bias=False),
            nn.BatchNorm2d(inside),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Conv2d(inside, channels, 1),
        )


def _fcn(resnet, num_classes, aux_loss, progress, weights_backbone):
    backbone = resnet_backbone(resnet, weights_backbone, progress, aux_loss)
    aux = FCNHead(1024, num_classes) if aux_loss else None
    return FCN(backbone, FCNHead(2048, num_classes), aux)


@with_weights(FCN_ResNet50_Weights, ResNet50_Weights.IMAGENET1K_V1)
def fcn_resnet50(**config):
    """A fully convolutional network on ResNet with 50 layers."""
    return _fcn(resnet50, **config)


@with_weights(FCN_ResNet101_Weights, ResNet101_Weights.IMAGENET1K_V1)
def fcn_resnet101(**config):
    """A fully convolutional network on ResNet with 101 layers."""
    return _fcn(resnet101, **config)
