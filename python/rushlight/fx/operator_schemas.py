"""Signatures of what nodes call, and arguments in their normal form: defaults filled in."""

import inspect
from typing import Any, NamedTuple

from rushlight.nn import Module

__all__ = [
    "ArgsKwargsPair",
    "create_type_hint",
    "get_signature_for_torch_op",
    "normalize_function",
    "normalize_module",
]


class ArgsKwargsPair(NamedTuple):
    """Positional and keyword arguments."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def get_signature_for_torch_op(op, return_schemas=False):
    """The signatures of one of torch's functions.

    Args:
        op: the function.
        return_schemas: whether to return TorchScript's schemas too; there are none.

    Returns: a list of inspect.Signature, or None if it is not known.
    """
    try:
        signatures = [inspect.signature(op)]
    except (TypeError, ValueError):
        return (None, None) if return_schemas else None
    return (signatures, None) if return_schemas else signatures


def create_type_hint(x):
    """The type of a list or tuple of types.

    Args:
        x: a type, or a list or tuple of types.
    """
    if not isinstance(x, list | tuple):
        return x
    if not x:
        return list[Any] if isinstance(x, list) else tuple[Any, ...]
    first = x[0] if all(each is x[0] for each in x) else Any
    return list[first] if isinstance(x, list) else tuple[first, ...]


def _normal(signature, args, kwargs, only_kwargs):
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    parameters = signature.parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return None
    if only_kwargs:
        return ArgsKwargsPair((), dict(bound.arguments))
    needed = {p.name for p in list(parameters)[: len(args)]}
    positional = tuple(v for k, v in bound.arguments.items() if k in needed)
    rest = {k: v for k, v in bound.arguments.items() if k not in needed}
    return ArgsKwargsPair(positional, rest)


def normalize_function(
    target,
    args,
    kwargs=None,
    arg_types=None,
    kwarg_types=None,
    normalize_to_only_use_kwargs=False,
):
    """The arguments of a function in normal form.

    Args:
        target: the function.
        args: positional arguments.
        kwargs: keyword arguments.
        arg_types: accepted.
        kwarg_types: accepted.
        normalize_to_only_use_kwargs: whether all become keywords.

    Returns: an ArgsKwargsPair, or None where the signature is not known or does not fit.

    >>> torch.fx.operator_schemas.normalize_function(torch.add, (1, 2), None).kwargs["alpha"]
    1
    """
    signatures = get_signature_for_torch_op(target) or ()
    for signature in signatures:
        found = _normal(signature, args, kwargs or {}, normalize_to_only_use_kwargs)
        if found is not None:
            return found
    return None


def normalize_module(root, target, args, kwargs=None, normalize_to_only_use_kwargs=False):
    """The arguments of a submodule's forward in normal form.

    Args:
        root: the module.
        target: the name of the submodule.
        args: positional arguments.
        kwargs: keyword arguments.
        normalize_to_only_use_kwargs: whether all become keywords.

    Returns: an ArgsKwargsPair, or None.
    """
    try:
        module = root.get_submodule(target)
    except AttributeError:
        raise RuntimeError(
            f"Tried to normalize arguments of module {target}, which is not in the root module"
        ) from None
    if not isinstance(module, Module):
        return None
    signature = inspect.signature(module.forward)
    return _normal(signature, args, kwargs or {}, normalize_to_only_use_kwargs)
