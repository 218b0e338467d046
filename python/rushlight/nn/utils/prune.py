"""Pruning: masks that keep chosen entries of a parameter at zero while it is trained."""

from collections.abc import Iterable

from rushlight import _C
from rushlight.nn.modules._class_path import settle
from rushlight.nn.utils._pruning import (
    BasePruningMethod,
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    PruningContainer,
    RandomStructured,
    RandomUnstructured,
)

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask",
    "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip


def identity(module, name):
    """Gives the parameter `name` a mask of ones; returns the module.

    Args:
        module: the module.
        name: of its parameter.

    Shape: `<name>_orig` and `<name>_mask` have the shape of `<name>`.

    >>> from rushlight.nn.utils import prune
    >>> prune.identity(torch.nn.Linear(2, 1), "bias").bias_mask
    tensor([1.])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prunes entries of a parameter drawn at random; returns the module.

    Args:
        module: the module.
        name: of its parameter.
        amount: a fraction from 0 to 1, or a number of entries.

    Shape: `<name>_orig` and `<name>_mask` have the shape of `<name>`.

    >>> from rushlight.nn.utils import prune
    >>> prune.random_unstructured(torch.nn.Linear(2, 3), "weight", amount=2).weight_mask.sum()
    tensor(4.)
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prunes the entries of the smallest magnitude; returns the module.

    Args:
        module: the module.
        name: of its parameter.
        amount: a fraction from 0 to 1, or a number of entries.
        importance_scores: magnitudes to go by instead, of the parameter's shape.

    Shape: `<name>_orig` and `<name>_mask` have the shape of `<name>`.

    >>> from rushlight.nn.utils import prune
    >>> layer = prune.l1_unstructured(torch.nn.Linear(2, 3), "weight", amount=0.5)
    >>> layer.weight_mask.sum(), sorted(layer.state_dict())
    (tensor(3.), ['bias', 'weight_mask', 'weight_orig'])
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prunes channels drawn at random; returns the module.

    Args:
        module: the module.
        name: of its parameter.
        amount: a fraction from 0 to 1, or a number of channels.
        dim: the dimension of the channels.

    Shape: `<name>_orig` and `<name>_mask` have the shape of `<name>`.

    >>> from rushlight.nn.utils import prune
    >>> layer = prune.random_structured(torch.nn.Linear(5, 3), "weight", amount=2, dim=1)
    >>> sum(torch.sum(layer.weight, dim=0) == 0)
    tensor(2)
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prunes the channels of the smallest Ln norm; returns the module.

    Args:
        module: the module.
        name: of its parameter.
        amount: a fraction from 0 to 1, or a number of channels.
        n: the order of the norm: a float, inf, -inf, 'fro' or 'nuc'.
        dim: the dimension of the channels.
        importance_scores: what norms are taken of instead, of the parameter's shape.

    Shape: `<name>_orig` and `<name>_mask` have the shape of `<name>`.

    >>> from rushlight.nn.utils import prune
    >>> prune.ln_structured(torch.nn.Linear(5, 3), "weight", amount=1, n=2, dim=0).weight_mask.sum()
    tensor(10.)
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes several parameters as if they were one tensor.

    Args:
        parameters: pairs of a module and the name of its parameter.
        pruning_method: a class that prunes unstructured, such as L1Unstructured.
        importance_scores: a dict from such pairs to what the choice goes by.
        kwargs: for the constructor of the method.

    Shape: each mask has the shape of its parameter.

    Raises:
        TypeError: if the method prunes structured.

    >>> from rushlight.nn.utils import prune
    >>> net = torch.nn.Sequential(torch.nn.Linear(10, 4), torch.nn.Linear(4, 1))
    >>> prune.global_unstructured(
    ...     [(net[0], "weight"), (net[1], "weight")], prune.L1Unstructured, amount=10
    ... )
    >>> sum(layer.weight_mask.sum() for layer in net)
    tensor(34.)
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters = list(parameters)
    importance = {} if importance_scores is None else importance_scores
    if not isinstance(importance, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")

    def joined(values):
        return _C.cat([v.reshape(-1) for v in values])

    flat = joined(
        importance[pair] if pair in importance else getattr(*pair)
        for pair in map(tuple, parameters)
    ).detach()
    default = joined(
        getattr(module, name + "_mask", _C.ones_like(getattr(module, name)))
        for module, name in parameters
    )
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    mask = container.compute_mask(flat, default)
    at = 0
    for module, name in parameters:
        values = getattr(module, name)
        custom_from_mask(module, name, mask[at : at + values.numel()].view_as(values))
        at += values.numel()


def custom_from_mask(module, name, mask):
    """Prunes a parameter where `mask` is 0; returns the module.

    Args:
        module: the module.
        name: of its parameter.
        mask: of the parameter's shape, 0 where it is pruned.

    Shape: `<name>_orig` and `<name>_mask` have the shape of `<name>`.

    >>> from rushlight.nn.utils import prune
    >>> layer = prune.custom_from_mask(torch.nn.Linear(5, 3), "bias", mask=torch.tensor([0, 1, 0]))
    >>> layer.bias_mask
    tensor([0., 1., 0.])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module, name):
    """Makes the pruning of a parameter final; returns the module.

    Args:
        module: the module.
        name: of its parameter.

    Shape: the parameter keeps its shape.

    Raises:
        ValueError: if the parameter is not pruned.

    >>> from rushlight.nn.utils import prune
    >>> layer = prune.remove(prune.identity(torch.nn.Linear(2, 1), "bias"), "bias")
    >>> sorted(layer.state_dict())
    ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module):
    """Whether a parameter of the module, or of one inside it, is pruned.

    Args:
        module: the module.

    >>> from rushlight.nn.utils import prune
    >>> layer = torch.nn.Linear(2, 1)
    >>> prune.is_pruned(layer), prune.is_pruned(prune.identity(layer, "bias"))
    (False, True)
    """
    return any(
        isinstance(hook, BasePruningMethod)
        for _, submodule in module.named_modules()
        for hook in submodule._forward_pre_hooks.values()
    )


settle(globals())
