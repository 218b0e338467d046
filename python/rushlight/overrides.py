"""torch.overrides: the protocol `__torch_function__`, by which a class takes over the calls that
its instances are arguments of, and modes, which take over all calls inside a `with`.

The protocol itself is in csrc/bindings/table/overrides.cpp; here is what functions written in
Python need to take part in it.
"""

from __future__ import annotations

import contextlib
import functools
import warnings

from rushlight import _C, Tensor
from rushlight._C import (
    _get_function_stack_at,
    _is_torch_function_mode_enabled,
    _len_torch_function_stack,
    _pop_torch_function_stack,
    _push_on_torch_function_stack,
)
from rushlight._C import _has_torch_function as has_torch_function
from rushlight._overridable import (
    get_default_nowrap_functions,
    get_ignored_functions,
    get_overridable_functions,
    get_testing_overrides,
    is_tensor_method_or_property,
    resolve_name,
)

__all__ = [
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]

has_torch_function_unary = _C._has_torch_function_unary
has_torch_function_variadic = _C._has_torch_function_variadic
_enable_torch_function = _C._EnableTorchFunction


def _get_overloaded_args(relevant_args, get_type_fn=type):
    """The arguments that have the protocol, one of each type, subclasses before their bases."""
    found = []
    if not _C._is_torch_function_enabled():
        return found
    for arg in relevant_args:
        kind = get_type_fn(arg)
        handler = getattr(kind, "__torch_function__", None)
        if handler is None or handler is _C._disabled_torch_function_impl:
            continue
        if any(get_type_fn(other) is kind for other in found):
            continue
        before = (i for i, other in enumerate(found) if issubclass(kind, get_type_fn(other)))
        found.insert(next(before, len(found)), arg)
    return found


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Calls the `__torch_function__` of the first argument, or mode, that takes the call over.

    Args:
        public_api: the function that was called.
        relevant_args: the arguments to look for the protocol in.
        *args: positional arguments of the call.
        **kwargs: keyword arguments of the call.

    Raises:
        TypeError: all of them return NotImplemented.

    >>> def double(x):
    ...     if torch.overrides.has_torch_function_unary(x):
    ...         return torch.overrides.handle_torch_function(double, (x,), x)
    ...     return 2 * x
    >>> double(torch.ones(2))
    tensor([2., 2.])
    """
    overloaded = _get_overloaded_args(relevant_args)
    types = tuple(type(arg) for arg in overloaded)
    mode = None
    if _is_torch_function_mode_enabled():
        with _pop_mode_temporarily() as mode:
            result = mode.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for arg in overloaded:
        result = arg.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}"
    if name.startswith("rushlight"):
        name = "torch" + name[len("rushlight") :]
    text = (
        f"no implementation found for {name!r} on types that implement __torch_function__: "
        f"{[type(arg) for arg in overloaded]}"
    )
    if mode is not None:
        text += f" nor was it found on the currently active mode {mode}"
    raise TypeError(text)


def wrap_torch_function(dispatcher):
    """Decorates a function so that classes and modes take its calls over.

    Args:
        dispatcher: gets the arguments of a call, and returns those to look for the protocol in.
    """

    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp):
    """Whether it is a tensor, or an object with `__torch_function__`.

    Args:
        inp: any object.
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def redispatch_function(func, types, args, kwargs):
    """Calls a function past one level of the protocol: the calls it makes itself are taken over.

    Args:
        func: the function.
        types: as `__torch_function__` is given them.
        args: positional arguments.
        kwargs: keyword arguments, or None.
    """
    _C._set_skip_next_torch_function(True)
    try:
        return func(*args, **(kwargs or {}))
    finally:
        _C._set_skip_next_torch_function(False)


def enable_reentrant_dispatch():
    """A context in which handlers may call operations; they always may."""
    return contextlib.nullcontext()


class TorchFunctionMode:
    """Takes over all calls of functions and methods inside a `with`, those that make tensors too.

    A subclass defines `__torch_function__(self, func, types, args=(), kwargs=None)`; the calls that
    it makes itself go to the mode outside this one, or to the function.

    >>> class Log(torch.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> with Log():
    ...     x = torch.zeros(2) + 1
    zeros
    add
    """

    def __init__(self):
        pass

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _push_mode(self)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _pop_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        """The mode itself, as `with Mode():` has it.

        Args:
            *args: of the constructor.
            **kwargs: of the constructor.
        """
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`",
            stacklevel=2,
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls each function."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _push_mode(mode):
    _push_on_torch_function_stack(mode)


def _pop_mode():
    return _pop_torch_function_stack()


@contextlib.contextmanager
def _pop_mode_temporarily():
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


def _get_current_function_mode():
    n = _len_torch_function_stack()
    return _get_function_stack_at(n - 1) if n else None


def _get_current_function_mode_stack():
    return [_get_function_stack_at(i) for i in range(_len_torch_function_stack())]
