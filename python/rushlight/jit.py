"""torch.jit: the decorators of TorchScript, which leave Python code as it is.

There is no TorchScript here: script() and trace() return what they were given, which computes the
same in Python. save() and load() keep a module's values; its program does not leave the process.
"""

import builtins
import contextlib
import warnings
from typing import Final

from rushlight._jit_files import load, save, with_save

__path__ = []  # of modules in rushlight._importable
__all__ = [
    "Final", "annotate", "export", "fork", "ignore", "is_scripting", "is_tracing", "isinstance",
    "load", "save", "script", "trace", "trace_module", "unused", "wait",
]  # fmt: skip


def annotate(the_type, the_value):
    """Returns the value; its type is for a compiler.

    Args:
        the_type: the type.
        the_value: the value.

    >>> torch.jit.annotate(int, 3)
    3
    """
    return the_value


def is_scripting() -> bool:
    """False: nothing is ever compiled.

    >>> torch.jit.is_scripting()
    False
    """
    return False


def is_tracing() -> bool:
    """False: nothing is ever traced.

    >>> torch.jit.is_tracing()
    False
    """
    return False


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """Returns the function, class or module itself, uncompiled: it runs as Python.

    Args:
        obj: a function, class or module.
        optimize: deprecated; anything but None warns.
        example_inputs: are for a compiler.

    >>> @torch.jit.script
    ... def double(x):
    ...     return x * 2
    >>> double(torch.ones(1))
    tensor([2.])
    """
    if optimize is not None:
        warnings.warn(
            "`optimize` is deprecated and has no effect. Use `with torch.jit.optimized_execution()"
            "` instead",
            FutureWarning,
            stacklevel=2,
        )
    return with_save(obj)


def trace(func, example_inputs=None, *, example_kwarg_inputs=None, **options):
    """Runs the function or module once with the example, and returns it itself, untraced.

    Args:
        func: a function or module.
        example_inputs: a tensor or a tuple of arguments.
        example_kwarg_inputs: a dict of arguments, instead.
        **options: are for a compiler.

    Raises:
        RuntimeError: for both kinds of example.

    >>> torch.jit.trace(torch.nn.Linear(2, 1), torch.ones(1, 2))
    Linear(in_features=2, out_features=1, bias=True)
    """
    from rushlight import no_grad

    if example_inputs is not None and example_kwarg_inputs is not None:
        raise RuntimeError("Only one of example_inputs and example_kwarg_inputs can be given")
    if example_inputs is not None:
        with no_grad():
            given = (
                example_inputs if builtins.isinstance(example_inputs, tuple) else (example_inputs,)
            )
            func(*given)
    elif example_kwarg_inputs is not None:
        with no_grad():
            func(**example_kwarg_inputs)
    return with_save(func)


def trace_module(mod, inputs, **options):
    """Runs methods of the module once with their examples, and returns it itself, untraced.

    Args:
        mod: a module.
        inputs: for the name of each method a tensor or a tuple of arguments.
        **options: are for a compiler.

    Raises:
        AttributeError: for a dict without names.

    >>> torch.jit.trace_module(torch.nn.Linear(2, 1), {"forward": torch.ones(1, 2)})
    Linear(in_features=2, out_features=1, bias=True)
    """
    from rushlight import no_grad

    if not builtins.isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    with no_grad():
        for name, given in inputs.items():
            method = mod if name == "forward" else getattr(mod, name)
            method(*(given if builtins.isinstance(given, tuple) else (given,)))
    return with_save(mod)


def fork(func, *args, **kwargs):
    """A future of func's result, which is computed at once.

    Args:
        func: a function or module.
        *args, **kwargs: its arguments.

    >>> torch.jit.wait(torch.jit.fork(torch.add, torch.ones(1), 2))
    tensor([3.])
    """
    from rushlight.futures import Future

    future = Future()
    future.set_result(func(*args, **kwargs))
    return future


@contextlib.contextmanager
def optimized_execution(should_optimize):
    """A context in which nothing changes: nothing is compiled.

    Args:
        should_optimize: read and left alone.

    >>> with torch.jit.optimized_execution(False):
    ...     torch.ones(1) + 1
    tensor([2.])
    """
    yield


def _unwrap_optional(x):
    if x is None:
        raise AssertionError("Unwrapping null optional")
    return x


def wait(future):
    """The result of a future that fork() returned.

    Args:
        future: the future.

    >>> torch.jit.wait(torch.jit.fork(abs, -1))
    1
    """
    return future.wait()


def export(fn):
    """Returns the method itself.

    Args:
        fn: the method.

    >>> torch.jit.export(abs)(-1)
    1
    """
    return fn


def ignore(drop=False, **kwargs):
    """Decorates a method, with or without arguments; returns the method itself.

    Args:
        drop, **kwargs: are for a compiler.

    >>> torch.jit.ignore(abs)(-1)
    1
    """
    return drop if callable(drop) else lambda function: function


def unused(fn):
    """Returns the method itself.

    Args:
        fn: the method.

    >>> torch.jit.unused(abs)(-1)
    1
    """
    return fn


def _fits(value, expected):
    import types
    import typing

    origin, parts = typing.get_origin(expected), typing.get_args(expected)
    if origin is None:
        if expected in (list, dict, tuple, typing.List, typing.Dict, typing.Tuple):  # noqa: UP006
            raise RuntimeError(
                f"{expected} without its contained type is not a type that torch.jit.isinstance "
                f"can test for: write {expected.__name__}[int] or the like"
            )
        return builtins.isinstance(value, type(None) if expected is None else expected)
    if origin in (typing.Union, types.UnionType):
        return value is None or any(_fits(value, part) for part in parts)  # None: as torch
    if not builtins.isinstance(value, origin):
        return False
    if origin is tuple:
        return len(value) == len(parts) and all(map(_fits, value, parts))
    if origin is dict:
        return all(_fits(k, parts[0]) and _fits(v, parts[1]) for k, v in value.items())
    return all(_fits(each, parts[0]) for each in value)


def isinstance(obj, target_type):
    """Whether an object has a type, and its elements the types inside: list[int], for example.

    Args:
        obj: any object.
        target_type: a type, as List[int], Dict[str, Tensor], Optional[...], or a tuple of types.

    >>> torch.jit.isinstance([1, 2], list[int]), torch.jit.isinstance([1, "a"], list[int])
    (True, False)
    """
    types = target_type if builtins.isinstance(target_type, tuple) else (target_type,)
    return any(_fits(obj, each) for each in types)


def __getattr__(name):
    if name == "ScriptModule":
        from rushlight._script_module import ScriptModule

        return ScriptModule
    from rushlight._importable import find

    return find(__name__, name)
