"""Published weights of detectors, and the arguments of the functions that make them."""

import functools
from dataclasses import dataclass

from .._weights import _HOST, Weights, WeightsEnum, chosen, older_style
from ._utils import overwrite_eps

_NAMES = ("weights", "progress", "num_classes", "weights_backbone", "trainable_backbone_layers")


@dataclass(frozen=True)
class _DetectionWeights(Weights):
    classes: int = 91

    def transforms(self):
        """The preparation of an image: a tensor with values from 0 to 1."""
        from ...transforms._presets import ObjectDetection

        return ObjectDetection()


def published(name, module, classes=91, **files):
    """The enum of a network's weights, learned on COCO; the last of the files is best."""
    members = {key: _DetectionWeights(_HOST + file, classes=classes) for key, file in files.items()}
    members["DEFAULT"] = list(members.values())[-1]
    made = WeightsEnum(name, members)
    made.__module__ = module
    made.__doc__ = f"Published weights of {name.removesuffix('_Weights')}."
    return made


def agreed(name, given, expected):
    """The number that the weights have; ValueError if another one is given."""
    if given is not None and given != expected:
        raise ValueError(
            f"The parameter '{name}' expected value {expected} but got {given} instead."
        )
    return expected


def with_weights(weights_enum, trained, classes=91, without_eps=False):
    """For the function of a network: torchvision's keyword arguments.

    The function gets num_classes, weights_backbone, trainable_backbone_layers, progress and
    is_trained, whether any weights are loaded.

    Args:
        weights_enum: of the whole network.
        trained: the default of the backbone's weights, which are loaded where the network's own
            are not.
        classes: by default, where no weights say it.
        without_eps: whether the weights were learned with normalisations that add nothing to the
            variance.
    """

    first = next(iter(weights_enum))

    def decorate(function):
        @functools.wraps(function)
        def model(*args, **config):
            older_style(args, config, _NAMES, weights=first, weights_backbone=trained)
            return modern(**config)

        def modern(*, weights=None, progress=True, num_classes=None, weights_backbone=trained,
                   trainable_backbone_layers=None, **config):  # fmt: skip
            weights = chosen(weights, weights_enum)
            if weights is not None:
                weights_backbone = None
                num_classes = agreed("num_classes", num_classes, weights.value.classes)
            is_trained = weights is not None or weights_backbone is not None
            made = function(
                num_classes=classes if num_classes is None else num_classes, progress=progress,
                weights_backbone=weights_backbone, is_trained=is_trained,
                trainable_backbone_layers=trainable_backbone_layers, **config,
            )  # fmt: skip
            if weights is not None:
                made.load_state_dict(weights.get_state_dict(progress=progress, check_hash=True))
                if without_eps and weights.name == "COCO_V1":
                    overwrite_eps(made, 0.0)
            return made

        model.weights_enum = weights_enum
        return model

    return decorate
