"""Models and weights by their names."""

import fnmatch
import sys
from collections.abc import Callable, Iterable

from ._weights import WeightsEnum

_registered: dict[str, Callable] = {}  # by programs


def _rooms():
    models = sys.modules[__package__]
    return (
        models, models.detection, models.segmentation, models.video, models.optical_flow,
    )  # fmt: skip


def _builders() -> dict[str, Callable]:
    found = {}
    for room in _rooms():
        found |= {name: f for name, f in vars(room).items() if hasattr(f, "weights_enum")}
    return found | _registered


def register_model(name: str | None = None):
    """A decorator that makes a program's function one of those of list_models().

    Args:
        name: under which; the function's own by default.

    Raises:
        ValueError: if there is one of this name.

    >>> @torch.vision.models.register_model()
    ... def my_network(**config):
    ...     return torch.nn.Linear(2, 2)
    >>> torch.vision.models.get_model("my_network")
    Linear(in_features=2, out_features=2, bias=True)
    """

    def register(function):
        key = name if name is not None else function.__name__
        if key in _builders():
            raise ValueError(f"An entry is already registered under the name '{key}'.")
        _registered[key] = function
        return function

    return register


def list_models(
    module=None,
    include: Iterable[str] | str | None = None,
    exclude: Iterable[str] | str | None = None,
) -> list[str]:
    """The names that get_model() takes, sorted.

    Args:
        module: such as torchvision.models.detection: only its own.
        include: a pattern with * and ?, or several: only names that match one of them.
        exclude: patterns of names to leave out.

    >>> torch.vision.models.list_models(include="resnet1*")
    ['resnet101', 'resnet152', 'resnet18']
    """
    found = set(_builders())
    if module is not None:
        found = {n for n, f in _builders().items() if _package(f) == module.__name__}
    if include:
        found = _matching(found, include)
    if exclude:
        found -= _matching(found, exclude)
    return sorted(found)


def _package(function):
    return function.__module__.rpartition(".")[0]


def _matching(names, patterns):
    patterns = [patterns] if isinstance(patterns, str) else patterns
    return {name for pattern in patterns for name in fnmatch.filter(names, pattern)}


def get_model_builder(name: str) -> Callable:
    """The function that makes the model of this name, in letters of any case.

    Raises:
        ValueError: for an unknown name.

    >>> torch.vision.models.get_model_builder("ResNet18") is torch.vision.models.resnet18
    True
    """
    key = name.lower()
    if key in (builders := _builders()):
        return builders[key]
    why = "\nthere are no quantized models, as no tensor is quantized" * key.startswith("quantized")
    raise ValueError(f"Unknown model {key}{why}")


def get_model(name: str, **config):
    """The model of this name; `config` is what its function takes.

    Args:
        name: one of list_models().

    Raises:
        ValueError: for an unknown name.

    >>> type(torch.vision.models.get_model("alexnet")).__name__
    'AlexNet'
    """
    return get_model_builder(name)(**config)


def get_model_weights(name: Callable | str) -> "type[WeightsEnum]":
    """The enum of the published weights of a model, which is given by its name or function.

    Raises:
        ValueError: for an unknown name, or a function that says nothing of weights.

    >>> torch.vision.models.get_model_weights("resnet18").__name__
    'ResNet18_Weights'
    """
    builder = get_model_builder(name) if isinstance(name, str) else name
    if not hasattr(builder, "weights_enum"):
        raise ValueError(
            "The WeightsEnum of this method cannot be retrieved: it has no attribute weights_enum"
        )
    return builder.weights_enum


def get_weight(name: str) -> WeightsEnum:
    """The weights of a name such as "ResNet18_Weights.DEFAULT".

    Raises:
        ValueError: for a name without a dot, or of no enum.
        KeyError: for weights that the enum does not have.

    >>> torch.vision.models.get_weight("R3D_18_Weights.DEFAULT").name
    'KINETICS400_V1'
    """
    enum_name, dot, member = name.partition(".")
    if not dot:
        raise ValueError(f"Invalid weight name provided: '{name}'.")
    for room in _rooms():
        enum = vars(room).get(enum_name)
        if isinstance(enum, type) and issubclass(enum, WeightsEnum):
            return enum[member]
    raise ValueError(
        f"The weight enum '{enum_name}' for the specific method couldn't be retrieved."
    )
