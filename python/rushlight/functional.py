"""Functions that only arrange what other operations compute; torch.functional and the top level."""

from __future__ import annotations

from rushlight._broadcasting import broadcast_shapes
from rushlight._C import (
    Tensor,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_tensors,
    cartesian_prod,
    meshgrid,
    tensordot,
)
from rushlight._table import absent, op

# Of the top level, which imports their modules at the first use.
_OF_TORCH = (
    "cdist chain_matmul istft lu norm pca_lowrank split stft svd_lowrank unique unique_consecutive "
    "unravel_index"
).split()
__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes",
    "broadcast_tensors", "cartesian_prod", "einsum", "meshgrid", "tensordot",
]  # fmt: skip


def __getattr__(name):
    if name in _OF_TORCH:
        import rushlight

        return getattr(rushlight, name)
    raise AttributeError(absent(f"torch.functional.{name}"), name=name)


def __dir__():
    return sorted([*globals(), *_OF_TORCH])


@op("torch")
def einsum(equation, *operands) -> Tensor:
    """Products and sums over named dimensions, in Einstein's notation.

    Args:
        equation: the dimensions of each operand as letters, "->", those of the result.
        operands: the tensors. Or, without an equation, each tensor and a list of ints for its
            dimensions in turn, and perhaps a list for those of the result.

    Shape: that of the letters after "->", in their order.

    Raises:
        RuntimeError: if the equation does not fit the operands.

    >>> torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 2))
    tensor([[3., 3.],
            [3., 3.]])
    """
    from rushlight import _einsum

    return _einsum.einsum(*_einsum.spelled(equation, operands))
