"""Dtypes and layouts that are names alone: to compare with, as keys of dicts, for isinstance().

Note: a call that would make a tensor of one fails in the parser of the table, which calls `refuse`
(csrc/bindings/table/signature.cpp). A dtype that C++ has replaces its row in rows.py.
"""

from rushlight import _C


class NamedDtype:
    """A dtype without tensors."""

    def __init__(self, name, kind, itemsize, refuse):
        self.name, self.itemsize, self.refuse = name, itemsize, refuse
        self.is_complex, self.is_floating_point = kind == "c", kind in ("f", "e")
        self.kind = kind
        self.__module__ = "rushlight"

    __class__ = property(lambda self: _C.dtype)

    @property
    def is_signed(self):
        """Whether it has negative numbers."""
        if self.kind == "q":
            raise RuntimeError("isSignedType not supported for quantized types")
        return self.kind in ("c", "f")

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return self.name  # of rushlight: the same object again

    def to_real(self):
        """The dtype of the real part."""
        reals = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
        return getattr(_C, reals[self.name]) if self.is_complex else self


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
