"""What torch refuses of sparse tensors in words of its own."""

from rushlight._sparse.dispatch import rule


def _refuse(names, kind, words):
    def refused(*args, **kwargs):
        raise kind(words)

    rule(names)(refused)


_refuse(
    "expand expand_as broadcast_to repeat tile expand_copy", RuntimeError,
    "expand is unsupported for Sparse tensors\nuse x.to_dense()",
)  # fmt: skip
_refuse(
    "reshape flatten reshape_as ravel", RuntimeError,
    "reshape is not implemented for sparse tensors\nuse x.to_dense()",
)  # fmt: skip
_refuse(
    "contiguous masked_fill", RuntimeError,
    "unsupported memory format option Contiguous\nuse x.to_dense()",
)  # fmt: skip
_refuse(
    "pin_memory", NotImplementedError, "pin_memory() is not there for sparse tensors in rushlight"
)
