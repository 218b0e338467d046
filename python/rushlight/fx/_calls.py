"""Calls of our functions as torch records them.

Torch's functional layer is Python, which passes a call on with what is required by position and all
else by keyword, defaults filled in; its C++ functions are recorded as they are called. Here both
are rows of one table, and _names says which of the two torch has.
"""

import functools
import inspect
import types

import rushlight
from rushlight.fx._names import qualified_name

# The methods that a tensor's operators are to torch, where the other side is traced.
_OPERATORS = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__rsub__": "rsub", "__mul__": "mul",
    "__rmul__": "mul", "__truediv__": "div", "__matmul__": "matmul", "__pow__": "pow",
    "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge",
    "__neg__": "neg", "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_",
    "__itruediv__": "div_",
}  # fmt: skip


def as_torch_calls(function, args, kwargs):
    """(op, target, args, kwargs) of the node for a call that `__torch_function__` was given."""
    if _is_method(function):
        name = function.__name__
        if name == "__get__":  # a property of a tensor
            return "call_function", getattr, (args[0], _property_name(function)), {}
        return "call_method", _OPERATORS.get(name, name), args, kwargs
    if qualified_name(function).startswith(("torch.nn.functional.", "torch.functional.")):
        args, kwargs = _completed(function, args, kwargs)
    return "call_function", function, args, kwargs


def _is_method(function):
    if isinstance(
        function, types.MethodDescriptorType | types.WrapperDescriptorType | types.MethodWrapperType
    ):
        return True
    name = getattr(function, "__name__", None)
    return isinstance(function, types.FunctionType) and (
        rushlight.Tensor.__dict__.get(name) is function
    )


def _property_name(getter):
    owner = getattr(getter, "__self__", None)
    return getattr(owner, "__name__", None) or owner.fget.__name__


@functools.cache
def _signature(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return None if any(p.kind == p.VAR_KEYWORD for p in parameters) else tuple(parameters)


def _completed(function, args, kwargs):
    parameters = _signature(function)
    if parameters is None:
        return args, kwargs
    if any(p.kind == p.VAR_POSITIONAL for p in parameters):
        if len(args) == sum(p.kind < p.KEYWORD_ONLY for p in parameters) and isinstance(
            args[-1], list | tuple
        ):
            args = (*args[:-1], *args[-1])  # einsum(equation, [a, b])
        given = [p for p in parameters if p.kind == p.KEYWORD_ONLY]
        return args, {p.name: kwargs.get(p.name, p.default) for p in given}
    if len(args) > len(parameters):
        return args, kwargs
    given = {p.name: value for p, value in zip(parameters, args, strict=False)} | kwargs
    needed = [p.name for p in parameters if p.default is p.empty]
    if not set(needed) <= set(given):
        return args, kwargs
    rest = {p.name: given.get(p.name, p.default) for p in parameters if p.default is not p.empty}
    return tuple(given[name] for name in needed), rest
