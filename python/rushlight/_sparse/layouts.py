"""The layouts of sparse tensors, for `layout=` and `x.layout`.

Note: the class has `__torch_function__`, so that a call which is given one comes here: the parser
of the table knows torch.strided alone.
"""

import importlib

from rushlight import _C


class SparseLayout:
    """torch.sparse_coo or one of its like."""

    def __init__(self, name):
        self.name = name
        self.__module__ = "rushlight"

    __class__ = property(lambda self: _C.layout)

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        from rushlight.serialization import _get_layout

        return _get_layout, (f"torch.{self.name}",)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return importlib.import_module("rushlight._sparse.construction").of_layout(
            func, args, kwargs or {}
        )


sparse_coo = SparseLayout("sparse_coo")
sparse_csr = SparseLayout("sparse_csr")
sparse_csc = SparseLayout("sparse_csc")
sparse_bsr = SparseLayout("sparse_bsr")
sparse_bsc = SparseLayout("sparse_bsc")
