"""What networks for segmentation share: a backbone, a classifier of its features, and images' size
again; their published weights.
"""

import functools
from collections import OrderedDict
from dataclasses import dataclass

from .... import nn
from ....nn.functional import interpolate
from .._utils import IntermediateLayerGetter
from .._weights import _HOST, Weights, WeightsEnum, older_style

_NAMES = ("weights", "progress", "num_classes", "aux_loss", "weights_backbone")


class _SimpleSegmentationModel(nn.Module):
    """Features, their classes, and those as large as the image: FCN says what it takes.

    Shape: (n, 3, h, w) gives {"out": (n, classes, h, w)}, and "aux".
    """

    def __init__(self, backbone, classifier, aux_classifier=None):
        super().__init__()
        self.backbone, self.classifier = backbone, classifier
        self.aux_classifier = aux_classifier

    def forward(self, x):
        """The logits of each pixel's classes."""
        features, size = self.backbone(x), x.shape[-2:]
        heads = {"out": self.classifier, "aux": self.aux_classifier}
        return OrderedDict(
            (name, interpolate(head(features[name]), size, mode="bilinear", align_corners=False))
            for name, head in heads.items()
            if head is not None
        )


@dataclass(frozen=True)
class _SegmentationWeights(Weights):
    def transforms(self, **changed):
        """The preparation of an image: resize, scale to [0, 1], normalise."""
        from ...transforms._presets import SemanticSegmentation

        return SemanticSegmentation(**{"resize_size": 520, **changed})


def published(name, module, file):
    """The enum of a network's weights, learned on COCO with the 21 classes of VOC."""
    weights = _SegmentationWeights(_HOST + file)
    made = WeightsEnum(name, {"COCO_WITH_VOC_LABELS_V1": weights, "DEFAULT": weights})
    made.__module__ = module
    made.__doc__ = f"Published weights of {name.removesuffix('_Weights')}."
    return made


def with_weights(weights_enum, trained, second_loss=True):
    """For the function of a network: torchvision's keyword arguments.

    Args:
        weights_enum: of the whole network.
        trained: the default of the backbone's weights, which are loaded where the network's own
            are not.
        second_loss: whether the published weights have an auxiliary classifier.
    """

    first = next(iter(weights_enum))

    def decorate(function):
        @functools.wraps(function)
        def model(*args, **config):
            older_style(args, config, _NAMES, weights=first, weights_backbone=trained)
            return modern(**config)

        def modern(*, weights=None, progress=True, num_classes=None, aux_loss=None,
                   weights_backbone=trained, **config):  # fmt: skip
            if isinstance(weights, str):
                weights = weights_enum[weights.rpartition(".")[2]]
            if weights is not None:
                if not isinstance(weights, weights_enum):
                    raise TypeError(
                        f"Invalid Weight class provided; expected {weights_enum.__name__} but "
                        f"received {type(weights).__name__}."
                    )
                if num_classes not in (None, 21):
                    raise ValueError(
                        "The parameter 'num_classes' expected value 21 but got "
                        f"{num_classes} instead."
                    )
                weights_backbone, aux_loss = None, second_loss
            made = function(
                num_classes=num_classes or 21, aux_loss=aux_loss, progress=progress,
                weights_backbone=weights_backbone, **config,
            )  # fmt: skip
            if weights is not None:
                made.load_state_dict(weights.get_state_dict(progress=progress, check_hash=True))
            return made

        model.weights_enum = weights_enum
        return model

    return decorate


def resnet_backbone(resnet, weights, progress, aux):
    """A dilating ResNet's last stage, and the one before it."""
    network = resnet(
        weights=weights, progress=progress, replace_stride_with_dilation=[False, True, True]
    )
    return IntermediateLayerGetter(network, {"layer4": "out"} | ({"layer3": "aux"} if aux else {}))


def mobilenet_stages(weights, progress):
    """(the features of a dilating MobileNet V3, the indices where they get smaller or end)"""
    from ..mobilenetv3 import mobilenet_v3_large

    features = mobilenet_v3_large(weights=weights, progress=progress, dilated=True).features
    smaller = [i for i, block in enumerate(features) if getattr(block, "_is_cn", False)]
    return features, [0, *smaller, len(features) - 1]
