"""How one call is computed under vmap(): by its rule; an operation written in Python by its own
calls; else for each element, with a warning.

A rule is a function (level, func, *args, **kwargs) with the operation's own parameters. Rules are
known by the operation's name, `F.name` where torch.nn.functional's differs from torch's.
"""

import functools
import warnings

from rushlight import _C, Tensor
from rushlight._func.batched import METHODS, PROPERTIES, Level
from rushlight._func.trees import mapped
from rushlight._function_names import is_in_python, plain_name, without_alias
from rushlight.overrides import redispatch_function

RULES = {}
_DUNDER = {"__setitem__": "setitem_", "__delitem__": "delitem_"}
_SHAPES = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap "
    "over aten::{}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need "
    "this feature."
)
IN_PLACE = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor "
    "`other` in extra_args that has more elements than `self`. This happened due to `other` being "
    "vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place "
    "operators instead of inplace arithmetic. If said operator is being called inside the PyTorch "
    "framework, please file a bug report instead."
)


def rule(names, inside=False):
    """Decorates the rule of the operations that are named.

    Args:
        names: of operations.
        inside: the rule is written in operations on a Batched, not on its values.
    """

    def decorate(function):
        @functools.wraps(function)
        def in_level(level, *args, **kwargs):
            with level:
                return function(level, *args, **kwargs)

        for name in names.split():
            RULES[name] = in_level if inside else function
        return RULES[names.split()[0]]

    return decorate


@functools.lru_cache(2048)
def _described(func):
    """(the function's name, its rule or None, whether it is written in Python)"""
    name = plain_name(func, _DUNDER, RULES)
    if is_in_python(func):
        return name, RULES.get(f"python.{name}"), True
    functional = getattr(func, "__module__", None) == "rushlight.nn.functional"
    for known in (name, without_alias(name)):
        found = (functional and RULES.get(f"F.{known}")) or RULES.get(known)
        if found:
            return known, found, False
    if name.endswith("_copy") and name[:-5] in RULES:
        return name, _copied(RULES[name[:-5]]), False
    return name, None, False


def _copied(view):
    """The rule of view_copy() and its like."""

    def copied(level, func, *args, **kwargs):
        found = view(level, func, *args, **kwargs)
        if found is NotImplemented:
            return found
        many = isinstance(found, tuple | list)
        made = [level.batched(x._value.clone()) for x in (found if many else [found])]
        return type(found)(made) if many else made[0]

    return copied


class Dispatch(Level):
    """A level that computes calls by the rules."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return _computed(self, func, args, kwargs or {})


class Draws(Dispatch):
    """No vmap(): what draws random numbers obeys `randomness`, all else is computed as it is."""

    batches = False

    def __init__(self, randomness):
        super().__init__(1, randomness)


def _computed(level, func, args, kwargs):
    """The result of a call inside vmap()."""
    name, known, in_python = _described(func)
    if not level.found(args) and not (kwargs and level.found(kwargs.values())):
        if known is not None and getattr(known, "draws", False):
            return known(level, func, *args, **kwargs)
        return _inside(level, func, args, kwargs) if in_python else func(*args, **kwargs)
    if kwargs.get("out") is not None:
        raise RuntimeError(
            f"Batching rule not implemented for aten::{name}.out; the fallback path doesn't work "
            "on out= or view ops."
        )
    if known is not None:
        result = known(level, func, *args, **_renamed(kwargs))
        if result is not NotImplemented:
            return result
    elif in_python:
        return _inside(level, func, args, kwargs)
    return by_loop(level, func, args, kwargs, name)


def _renamed(kwargs):
    if kwargs:
        for other, name in (("axis", "dim"), ("keepdims", "keepdim"), ("self", "input")):
            if other in kwargs:
                kwargs = {name if k == other else k: v for k, v in kwargs.items()}
    return kwargs


def _inside(level, func, args, kwargs):
    """An operation that is written in Python: the calls it makes come back to the level."""
    with level:
        return redispatch_function(func, (), args, kwargs)


def by_loop(level, func, args, kwargs, name):
    """The call for each element of the batch, with torch's warning."""
    warnings.warn(
        "There is a performance drop because we have not yet implemented the batching rule for "
        f"aten::{name}. Please file us an issue on GitHub so that we can prioritize its "
        "implementation.",
        stacklevel=4,
    )
    if not level.size:
        raise RuntimeError(
            f"Batching rule not implemented for aten::{name}. The fallback path does not support "
            "vmap over dims of size 0."
        )
    return looped(level, func, args, kwargs, name)


def looped(level, func, args, kwargs, name=""):
    """The call for each element of the batch, its results stacked."""
    in_place = name.endswith("_") and not name.endswith("__")
    if in_place and not level.holds(args[0]):
        raise RuntimeError(IN_PLACE)
    results = []
    for i in range(level.size):
        row = mapped(lambda x, i=i: x._value.select(0, i) if level.holds(x) else x, (args, kwargs))
        results.append(func(*row[0], **row[1]))
    return args[0] if in_place else stacked(level, results, name)


def stacked(level, results, name):
    """The results of all elements as one."""
    return mapped(lambda *parts: _stacked(level, parts, name), *results)


def _stacked(level, results, name):
    first = results[0]
    if isinstance(first, Tensor):
        if any(x.shape != first.shape for x in results):
            raise RuntimeError(_SHAPES.format(name))
        return level.batched(_C.stack(results))
    if any(x != first for x in results):
        raise RuntimeError(
            f"Batching rule not implemented for aten::{name}. We could not generate a fallback."
        )
    return first


def _property(level, func, x):
    return getattr(x, func.__self__.__name__)


def _own(level, func, x, *args, **kwargs):
    return getattr(type(x), func.__name__)(x, *args, **kwargs)


for _name in (*PROPERTIES, "shape", "ndim"):
    RULES[f"get.{_name}"] = _property
for _name in METHODS:
    RULES[_name] = _own
for _name in "dim ndimension size stride numel nelement len iter repr format".split():
    RULES[_name] = _own
