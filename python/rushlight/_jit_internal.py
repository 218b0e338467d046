"""Decorators and predicates of TorchScript's compiler under the names by which libraries import
them: nothing is compiled, so functions stay as they are."""

from typing import Any, Final, Optional, Union  # noqa: F401 - torch has them here

from rushlight.futures import Future
from rushlight.jit import export, ignore, is_scripting, unused

__all__ = [
    "Final",
    "Future",
    "boolean_dispatch",
    "export",
    "ignore",
    "is_scripting",
    "unused",
]


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that calls if_true or if_false, as its argument `arg_name` says."""

    def function(*args, **kwargs):
        chosen = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return (if_true if chosen else if_false)(*args, **kwargs)

    function.__doc__ = if_false.__doc__ if if_true.__doc__ is None else if_true.__doc__
    function.__module__, function.__name__ = module_name or __name__, func_name or "function"
    return function


def _overload(func):
    """Returns the function: it declares a signature for the compiler."""
    return func


_overload_method = _copy_to_script_wrapper = _overload


class BroadcastingListCls:
    """Annotates a parameter that takes one value or a list of them: BroadcastingList2[int]."""

    def __getitem__(self, types):
        return None


BroadcastingList1 = BroadcastingListCls()
BroadcastingList2 = BroadcastingList3 = BroadcastingList4 = BroadcastingList1
BroadcastingList5 = BroadcastingList6 = BroadcastingList1
