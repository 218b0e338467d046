"""op: a row of the table of operations, for an operation that is written in Python.

    @op("torch", "Tensor", out=True, in_place=["Tensor"])
    def float_power(input: Tensor, exponent: Tensor | Number) -> Tensor: ...

The annotated `def` is the signature text. Calls are parsed as those of operations in C++
(csrc/bindings/table/signature.h): the same TypeErrors and rules of keywords, `out=`, the in-place
form, the casts of autocast. Note: annotations are strings (`from __future__ import annotations`),
made of Tensor, Number, int, float, bool, Truth, str, dtype, device, Sequence[int],
Sequence[Tensor], tuple[int, ...] and None; any other annotation lets everything through. A
Sequence arrives as a tuple; one int is a Sequence[int], but no tuple[int, ...].
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from rushlight import _C
from rushlight._version import __version__

SHORT_VERSION = ".".join(__version__.split(".")[:2])
Number = int | float | bool
Truth = bool  # of any object: what a function of torch's in Python reads with `if`
__all__ = ["Number", "Sequence", "Truth", "find", "names", "op", "signature_of"]


def op(
    *visible: str,
    out: bool = False,
    in_place: tuple[str, ...] | list[str] = (),
    autocast: tuple[str, str] = ("none", "none"),
    exact: bool = False,
    differentiable: bool = True,
    waits: bool = False,
    returns: str = "",
    node: str = "",
):
    """Makes a row of the table of the function that it decorates.

    Args:
        visible: where it is visible: "torch", "Tensor", "nn.functional", "special", "linalg".
        out: whether it takes `out=`, to which its result is then written.
        in_place: where its form with an underscore is visible, which writes to the first argument.
        autocast: what is done to tensors on the CPU and on GPUs: "lower", "full" or "none".
        exact: whether out= must have the dtype of the result.
        differentiable: whether gradients flow through it.
        waits: whether the host waits for the device.
        returns: the names of the parts of a named result, with commas.
        node: the name of torch's one node, which the result's grad_fn shows.
    """

    def decorate(function):
        plain, written = _C._define(
            function,
            visible,
            in_place,
            out,
            autocast,
            exact,
            differentiable,
            waits,
            returns,
            node,
        )
        if written is not None:
            setattr(sys.modules[function.__module__], function.__name__ + "_", written)
        return plain

    return decorate


def signature_of(function, has_out):
    """inspect.signature() of an operation: that of its function, and out=."""
    import inspect

    signature = inspect.signature(function)
    if not has_out:
        return signature
    out = inspect.Parameter(
        "out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Tensor | None"
    )
    return signature.replace(parameters=[*signature.parameters.values(), out])


_inverted: dict[int, dict[str, str]] = {}


def _modules_of(index):
    """name -> module, from module -> names."""
    if id(index) not in _inverted:
        _inverted[id(index)] = {n: m for m, names in index.items() for n in names.split()}
    return _inverted[id(index)]


def names(index):
    """The names of an index, a dict of rushlight._index."""
    return list(_modules_of(index))


def find(index, name):
    """The operation of that name, its module imported; None where there is none."""
    module = _modules_of(index).get(name)
    return module and getattr(importlib.import_module(module), name)


def absent(name: str) -> str:
    """The text of the AttributeError of a name that torch has and rushlight does not."""
    return f"{name} is not in rushlight {SHORT_VERSION}"
