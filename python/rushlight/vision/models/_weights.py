"""Published weights: where they lie, how images are prepared for them, and how models take them."""

import enum
import functools
import warnings
from dataclasses import dataclass, field
from typing import Any

_HOST = "https://download.pytorch.org/models/"
BICUBIC = "bicubic"
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Weights:
    """A file of weights, and how images are resized, cropped and normalised for it."""

    url: str
    crop_size: int = 224
    resize_size: int = 256
    interpolation: str = "bilinear"
    mean: tuple[float, ...] = _MEAN
    std: tuple[float, ...] = _STD
    meta: dict[str, Any] = field(default_factory=dict, compare=False)

    def transforms(self, **changed):
        """The preparation of an image: resize, crop, scale to [0, 1], normalise."""
        from ..transforms._presets import ImageClassification, InterpolationMode

        usual = {
            "crop_size": self.crop_size, "resize_size": self.resize_size, "mean": self.mean,
            "std": self.std, "interpolation": InterpolationMode(self.interpolation),
        }  # fmt: skip
        return ImageClassification(**{**usual, **changed})


class WeightsEnum(enum.Enum):
    """The published weights of one model; DEFAULT is the best of them."""

    @property
    def url(self) -> str:
        """Where the file lies."""
        return self.value.url

    @property
    def meta(self) -> dict[str, Any]:
        """Metadata of the weights."""
        return self.value.meta

    @property
    def transforms(self):
        """Makes the preparation that an image needs for these weights."""
        return self.value.transforms

    def get_state_dict(self, *args, **kwargs):
        """Fetches the weights; the arguments are those of torch.hub.load_state_dict_from_url."""
        from ...hub import load_state_dict_from_url

        return load_state_dict_from_url(self.url, *args, **kwargs)


def published(name, module, best=-1, made=Weights, **versions):
    """The enum of a model's weights: version=(file, crop size, resize size and what else Weights
    has, in its order), of which the last is best, or another one; `made` is the class of them."""
    members = {key: made(_HOST + value[0], *value[1:]) for key, value in versions.items()}
    members["DEFAULT"] = list(members.values())[best]
    weights = WeightsEnum(name, members)
    weights.__module__ = module
    weights.__doc__ = f"Published weights of {name.removesuffix('_Weights')}."
    return weights


def chosen(weights, weights_enum):
    """A member of an enum, given as such, by its name, or None."""
    if isinstance(weights, str):
        weights = weights_enum[weights.rpartition(".")[2]]
    if weights is not None and not isinstance(weights, weights_enum):
        raise TypeError(
            f"Invalid Weight class provided; expected {weights_enum.__name__} but received "
            f"{type(weights).__name__}."
        )
    return weights


def older_style(args, config, names, **published):
    """Writes arguments of torchvision before 0.13 to `config` as those of today, and warns.

    Args:
        args: what was given by position.
        config: the keyword arguments, which are changed.
        names: of the parameters, in torchvision's order.
        published: for "weights", and "weights_backbone", what pretrained=True means.
    """
    if len(args) > len(names):
        raise TypeError(f"at most {len(names)} arguments are positional, but {len(args)} are given")
    if args:
        given = dict(zip(names, args, strict=False))
        if twice := given.keys() & config.keys():
            raise TypeError(f"got multiple values for argument {min(twice)!r}")
        shown = [repr(name) for name in given]
        if len(shown) > 1:
            shown[-1] = f"and {shown[-1]}"
        shown = (", " if len(shown) > 2 else " ").join(shown)
        warnings.warn(
            f"Using {shown} as positional parameter(s) is deprecated since 0.13 and may be removed "
            "in the future. Please use keyword parameter(s) instead.",
            UserWarning,
            stacklevel=3,
        )
        config.update(given)
    for name, meant in published.items():
        _older_flag(config, name, name.replace("weights", "pretrained"), meant)


def _older_flag(config, name, older, meant):
    value = config.get(name)
    is_weights = isinstance(value, WeightsEnum) or (isinstance(value, str) and value != "legacy")
    if (name in config and (value is None or is_weights)) or not {name, older} & config.keys():
        return
    if name in config:
        flag = config.pop(name)
    else:
        flag = config[older]
        warnings.warn(
            f"The parameter {older!r} is deprecated since 0.13 and may be removed in the future, "
            f"please use {name!r} instead.",
            UserWarning,
            stacklevel=4,
        )
    config.pop(older, None)
    config[name] = meant if flag else None
    words = (
        f"Arguments other than a weight enum or `None` for {name!r} are deprecated since 0.13 and "
        "may be removed in the future. The current behavior is equivalent to passing "
        f"`{name}={config[name]}`."
    )
    if flag:
        words += (
            f" You can also use `{name}={type(meant).__name__}.DEFAULT` to get the most "
            "up-to-date weights."
        )
    warnings.warn(words, UserWarning, stacklevel=4)


def with_weights(weights_enum, sized=False, classes=1000):
    """For the function of a model: `weights` as a member of the enum, its name, or the old flag.

    The function makes the model; the weights are then loaded into it.

    Args:
        weights_enum: the published weights.
        sized: whether the model is made for images of one size, which the weights say.
        classes: of the published weights; None if the model does not classify.
    """

    first = next(iter(weights_enum))

    def decorate(function):
        @functools.wraps(function)
        def model(*args, **config):
            older_style(args, config, ("weights", "progress"), weights=first)
            weights = chosen(config.pop("weights", None), weights_enum)
            progress = config.pop("progress", True)
            if weights is None or classes is None:
                pass
            elif config.setdefault("num_classes", classes) != classes:
                raise ValueError(
                    f"The parameter 'num_classes' expected value {classes} but got "
                    f"{config['num_classes']} instead."
                )
            if weights is not None and sized:
                config.setdefault("image_size", weights.value.crop_size)
            made = function(**config)
            if weights is not None:
                state = weights.get_state_dict(progress=progress, check_hash=True)
                made.load_state_dict(getattr(made, "renamed", dict)(state))
            return made

        model.weights_enum = weights_enum
        return model

    return decorate


def of_networks_with_second_losses(weights_enum, *parts, usual):
    """with_weights() for networks whose published weights have classifiers on the way.

    Args:
        weights_enum: of the network.
        parts: the names of the classifiers.
        usual: whether they stay by default, where weights are loaded.
    """

    first = next(iter(weights_enum))

    def decorate(function):
        plain = with_weights(weights_enum)(function)

        @functools.wraps(function)
        def model(*args, **config):
            older_style(args, config, ("weights", "progress"), weights=first)
            weights = config.pop("weights", None)
            if weights is None:
                return plain(**config)
            keeps = config.pop("aux_logits", usual)
            config = {"transform_input": True, "init_weights": False, **config, "aux_logits": True}
            network = plain(weights=weights, **config)
            if not keeps:
                network.aux_logits = False
                for part in parts:
                    setattr(network, part, None)
            return network

        model.weights_enum = weights_enum
        return model

    return decorate
