"""Methods of Tensor that are importable without their function: Python finds them on the class, and
_importable/rows.py, which is read by their first use, says why they are not there, or _removed.py.
"""

import importlib

OF_BLOCKS = "to_sparse_bsc to_sparse_bsr"
OF_NESTED = "to_padded_tensor"
ABSENT = f"{OF_BLOCKS} {OF_NESTED}"
OF_DISPATCH = "_make_wrapper_subclass"
REMOVED = "eig lstsq solve symeig"


class AbsentMethod:
    """The descriptor that gives the refusal."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __get__(self, tensor, kind=None):
        table = importlib.import_module("rushlight._importable")  # which imports this list
        return table.find("rushlight.Tensor", self.name)


class RemovedMethod:
    """The descriptor of a method that torch has removed."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __get__(self, tensor, kind=None):
        return getattr(importlib.import_module("rushlight._removed"), self.name)


def add_methods(cls):
    """Gives Tensor the methods."""
    for name in (*ABSENT.split(), OF_DISPATCH):
        setattr(cls, name, AbsentMethod(name))
    for name in REMOVED.split():
        setattr(cls, name, RemovedMethod(name))
