"""How a call with a sparse argument is computed: by its rule; an operation written in Python by its
own calls; else it is refused.
"""

import functools
import importlib

from rushlight import _C
from rushlight._function_names import is_in_python, plain_name, without_alias
from rushlight.overrides import redispatch_function

RULES = {}
COMPLETE: list = []  # empty until all rules are there
_KEYWORDS = {"self": "input", "axis": "dim", "keepdims": "keepdim", "x2": "other"}
_SLOTS = {
    "__setitem__": "setitem_", "__delitem__": "delitem_", "__getitem__": "getitem",
    "__float__": "number.float", "__int__": "number.int", "__complex__": "number.complex",
    "__index__": "number.index", "__bool__": "is_nonzero",
}  # fmt: skip


def rule(names):
    """Decorates the rule of the operations that are named: a function of their parameters."""

    def decorate(function):
        for name in names.split():
            RULES[name] = function
        return function

    return decorate


@functools.lru_cache(2048)
def described(func):
    """(the name of a function as rules have it, its rule or None, whether it is in Python)"""
    name = plain_name(func, _SLOTS, RULES)
    module = getattr(func, "__module__", None) or ""
    if module == "rushlight.autograd._backward":
        return name, RULES.get(f"autograd.{name}"), False
    for prefix in ("linalg", "fft", "special"):  # which have other functions under torch's names
        if module == f"rushlight.{prefix}" or name.startswith(f"{prefix}_"):
            known = f"{prefix}.{name.removeprefix(prefix + '_')}"
            break
    else:
        known = name if name in RULES else without_alias(name)
        if known not in RULES and known.endswith("_"):
            known = f"{without_alias(known[:-1])}_"
    return name, RULES.get(known), is_in_python(func)


def layout_of(values):
    """The name of the layout of the first sparse tensor among arguments; "" without one."""
    for x in values:
        name = getattr(type(x), "layout_name", None)
        if name is None and isinstance(x, (tuple, list)):
            name = layout_of(x)
        if name:
            return name
    return ""


def refuse(name, args, kwargs):
    """Raises what an operation that is not there for sparse tensors does."""
    layout = layout_of((*args, *kwargs.values()))
    backend = "SparseCPU" if layout == "sparse_coo" else "SparseCsrCPU"
    raise NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{backend}' backend.\n"
        f"{name}() is not there for tensors of layout torch.{layout}: "
        "compute with x.to_dense()"
    )


def computed(func, args, kwargs):
    """The result of a call with a sparse argument."""
    if not COMPLETE:  # Ctrl-C came while they were imported, and took the package away
        importlib.import_module("rushlight._sparse")
    name, known, in_python = described(func)
    if known is None:
        if in_python:
            return redispatch_function(func, (), args, kwargs)
        refuse(name, args, kwargs)
    if kwargs:
        for other, plain in _KEYWORDS.items():
            if other in kwargs:
                kwargs = {plain if k == other else k: v for k, v in kwargs.items()}
        out = kwargs.pop("out", None) if "out" in kwargs else None
        if layout_of([out]):
            refuse(f"{name}.out", (out,), {})
        if out is not None:
            return _written(out, known(*args, **kwargs), name, args, kwargs)
    return known(*args, **kwargs)


def _written(out, result, name, args, kwargs):
    if layout_of([result]) or not isinstance(result, _C.Tensor):
        refuse(f"{name}.out", args, kwargs)
    return _C._deliver(name, out, result)
