"""Quantized dtypes, those of less than a byte, and layouts, names alone: to compare with, as keys
of dicts, for isinstance().

Note: a call that would make a tensor of one fails in the parser of the table, which calls `refuse`
(csrc/bindings/table/signature.cpp). A dtype that C++ has replaces its row in rows.py.
"""

from rushlight import _C


class NamedDtype:
    """A dtype without tensors."""

    is_complex = is_floating_point = False

    def __init__(self, name, itemsize, refuse):
        self.name, self.itemsize, self.refuse = name, itemsize, refuse
        self.__module__ = "rushlight"

    __class__ = property(lambda self: _C.dtype)

    @property
    def is_signed(self):
        """Whether it has negative numbers."""
        if self.name.startswith(("int", "uint")):
            return self.name.startswith("int")
        raise RuntimeError("isSignedType not supported for quantized types")

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return self.name  # of rushlight: the same object again

    def to_real(self):
        """The dtype itself."""
        return self


class NamedLayout:
    """A layout without tensors."""

    def __init__(self, name, refuse):
        self.name, self.refuse = name, refuse
        self.__module__ = "rushlight"

    __class__ = property(lambda self: _C.layout)

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return self.name
