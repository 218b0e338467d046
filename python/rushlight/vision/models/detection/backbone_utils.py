"""Backbones of detectors: classifiers' features, as maps of several sizes."""

import warnings

from .... import nn
from ...ops.feature_pyramid_network import ExtraFPNBlock, FeaturePyramidNetwork, LastLevelMaxPool
from ...ops.misc import FrozenBatchNorm2d
from .. import mobilenetv2, mobilenetv3, resnet
from .._utils import IntermediateLayerGetter


class BackboneWithFPN(nn.Module):
    """Some layers' results, through a FeaturePyramidNetwork.

    Args:
        backbone: calls its children in their order.
        return_layers: a child's name -> the name of its map.
        in_channels_list: the channels of each.
        out_channels: of every map of the result.
        extra_blocks: adds maps; by default LastLevelMaxPool.
        norm_layer: makes a normalisation in the pyramid.
    """

    def __init__(
        self, backbone, return_layers, in_channels_list, out_channels, extra_blocks=None,
        norm_layer=None,
    ):  # fmt: skip
        super().__init__()
        self.body = IntermediateLayerGetter(backbone, return_layers)
        extra_blocks = LastLevelMaxPool() if extra_blocks is None else extra_blocks
        self.fpn = FeaturePyramidNetwork(in_channels_list, out_channels, extra_blocks, norm_layer)
        self.out_channels = out_channels

    def forward(self, x):
        """An OrderedDict of maps, the largest first."""
        return self.fpn(self.body(x))


def _freeze(parameters):
    for parameter in parameters:
        parameter.requires_grad_(False)


def resnet_extractor(
    backbone, trainable_layers, returned_layers=None, extra_blocks=None, norm_layer=None
):
    """A ResNet's stages with a pyramid; of its layers, the last trainable_layers learn."""
    if not 0 <= trainable_layers <= 5:
        raise ValueError(
            f"Trainable layers should be in the range [0,5], got {trainable_layers}"
        )  # fmt: skip
    learning = ["layer4", "layer3", "layer2", "layer1", "conv1"][:trainable_layers]
    if trainable_layers == 5:
        learning.append("bn1")
    _freeze(
        parameter
        for name, parameter in backbone.named_parameters()
        if not name.startswith(tuple(learning))
    )
    stages = returned_layers or [1, 2, 3, 4]
    if min(stages) <= 0 or max(stages) >= 5:
        raise ValueError(f"Each returned layer should be in the range [1,4]. Got {stages}")
    layers = {f"layer{stage}": str(i) for i, stage in enumerate(stages)}
    channels = [backbone.inplanes // 8 * 2 ** (stage - 1) for stage in stages]
    return BackboneWithFPN(backbone, layers, channels, 256, extra_blocks, norm_layer)


def resnet_fpn_backbone(
    *, backbone_name, weights, norm_layer=FrozenBatchNorm2d, trainable_layers=3,
    returned_layers=None, extra_blocks=None,
):  # fmt: skip
    """A ResNet's stages with a FeaturePyramidNetwork.

    Args:
        backbone_name: such as "resnet50".
        weights: of the ResNet, or None.
        norm_layer: makes its normalisations.
        trainable_layers: how many of its five parts learn, counted from the last.
        returned_layers: the stages whose maps are used, by default all four.
        extra_blocks: adds maps.

    >>> from rushlight.vision.models.detection.backbone_utils import resnet_fpn_backbone
    >>> backbone = resnet_fpn_backbone(backbone_name="resnet18", weights=None)
    >>> [tuple(x.shape) for x in backbone(torch.zeros(1, 3, 64, 64)).values()][-2:]
    [(1, 256, 2, 2), (1, 256, 1, 1)]
    """
    backbone = getattr(resnet, backbone_name)(weights=weights, norm_layer=norm_layer)
    return resnet_extractor(backbone, trainable_layers, returned_layers, extra_blocks)


def layers_to_train(is_trained, trainable_layers, most, usual):
    """How many layers learn: all of them where no weights were loaded."""
    if not is_trained:
        if trainable_layers is not None:
            warnings.warn(
                "Changing trainable_backbone_layers has no effect if neither pretrained nor "
                f"pretrained_backbone have been set to True, falling back to "
                f"trainable_backbone_layers={most} so that all layers are trainable",
                stacklevel=4,
            )
        return most
    count = usual if trainable_layers is None else trainable_layers
    if not 0 <= count <= most:
        raise ValueError(
            f"Trainable backbone layers should be in the range [0,{most}], got {count}"
        )
    return count


def stages_of(features):
    """Where a MobileNet's features get smaller, and where they end."""
    smaller = [i for i, block in enumerate(features) if getattr(block, "_is_cn", False)]
    return [0, *smaller, len(features) - 1]


def freeze_stages(features, stages, trainable_layers):
    """Lets the last trainable_layers stages learn, and no other."""
    if not 0 <= trainable_layers <= len(stages):
        raise ValueError(
            f"Trainable layers should be in the range [0,{len(stages)}], got {trainable_layers}"
        )
    first = stages[len(stages) - trainable_layers] if trainable_layers else len(features)
    _freeze(parameter for block in features[:first] for parameter in block.parameters())


def mobilenet_extractor(
    backbone, fpn, trainable_layers, returned_layers=None, extra_blocks=None, norm_layer=None
):  # fmt: skip
    """A MobileNet's features, with a pyramid or as one map."""
    features = backbone.features
    stages = stages_of(features)
    count = len(stages)
    freeze_stages(features, stages, trainable_layers)
    if not fpn:
        return nn.Sequential(features, nn.Conv2d(features[-1].out_channels, 256, 1))
    chosen = returned_layers or [count - 2, count - 1]
    if min(chosen) < 0 or max(chosen) >= count:
        raise ValueError(
            f"Each returned layer should be in the range [0,{count - 1}], got {chosen} "
        )
    layers = {str(stages[k]): str(i) for i, k in enumerate(chosen)}
    channels = [features[stages[k]].out_channels for k in chosen]
    return BackboneWithFPN(features, layers, channels, 256, extra_blocks, norm_layer)


def mobilenet_backbone(
    *, backbone_name, weights, fpn, norm_layer=FrozenBatchNorm2d, trainable_layers=2,
    returned_layers=None, extra_blocks=None,
):  # fmt: skip
    """A MobileNet's features, with a FeaturePyramidNetwork or as one map.

    Args:
        backbone_name: such as "mobilenet_v3_large".
        weights: of the MobileNet, or None.
        fpn: whether there is a pyramid.
        norm_layer: makes its normalisations.
        trainable_layers: how many of its stages learn, counted from the last.
        returned_layers: the stages whose maps are used, by default the last two.
        extra_blocks: adds maps.
    """
    home = mobilenetv2 if "v2" in backbone_name else mobilenetv3
    backbone = getattr(home, backbone_name)(weights=weights, norm_layer=norm_layer)
    return mobilenet_extractor(backbone, fpn, trainable_layers, returned_layers, extra_blocks)


__all__ = [
    "BackboneWithFPN", "ExtraFPNBlock", "FeaturePyramidNetwork", "LastLevelMaxPool",
    "mobilenet_backbone", "resnet_fpn_backbone",
]  # fmt: skip
