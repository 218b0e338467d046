"""torch.jit: the decorators of TorchScript, which leave Python code as it is.

There is no TorchScript here: script() and trace() return what they were given, which computes the
same in Python. What needs a compiled program, such as save() and load(), is absent.
"""

import warnings
from typing import Final

__path__ = []  # of modules in rushlight._importable
__all__ = [
    "Final", "annotate", "export", "ignore", "is_scripting", "is_tracing", "script", "trace",
    "unused",
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
    return obj


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
            func(*example_inputs if isinstance(example_inputs, tuple) else (example_inputs,))
    elif example_kwarg_inputs is not None:
        with no_grad():
            func(**example_kwarg_inputs)
    return func


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


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
