"""Functions that only arrange what other operations compute; torch.functional and the top level."""

from __future__ import annotations

from rushlight import _C
from rushlight._arguments import wrapped
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
)
from rushlight._table import op

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "einsum",
    "meshgrid",
    "tensordot",
]


@op("torch")
def tensordot(a, b, dims=2, out: Tensor | None = None) -> Tensor:
    """The sum of products over several dimensions of both.

    Args:
        a, b: the factors.
        dims: how many of a's last and b's first dimensions are summed over, or two lists of
            dimensions.

    >>> torch.tensordot(torch.ones(2, 3), torch.ones(3, 4), dims=1).shape
    torch.Size([2, 4])
    """
    if isinstance(dims, _C.Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        left, right = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        if not isinstance(dims, list | tuple) or len(dims) != 2:
            raise RuntimeError(
                "tensordot expects dims to be int or tuple[list[int], list[int]] or "
                f"list[list[int]] containing two lists, but got dims={dims}"
            )
        left, right = ([d] if isinstance(d, int) else list(d) for d in dims)
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    left, right = [wrapped(d, a.dim()) for d in left], [wrapped(d, b.dim()) for d in right]
    for i, j in zip(left, right, strict=True):
        if b.shape[j] == 1:
            a = a.sum(i, keepdim=True)
        elif a.shape[i] == 1:
            b = b.sum(j, keepdim=True)
        elif a.shape[i] != b.shape[j]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.shape[i]} in dim {i} "
                f"and second has size {b.shape[j]} in dim {j}"
            )
    keep_a = [d for d in range(a.dim()) if d not in left]
    keep_b = [d for d in range(b.dim()) if d not in right]
    size = 1
    for d in left:
        size *= a.shape[d]
    result = _C.mm(
        a.permute(keep_a + left).reshape(-1, size) if size else a.new_zeros((a.numel(), 0)),
        b.permute(right + keep_b).reshape(size, -1) if size else b.new_zeros((0, b.numel())),
    )
    result = result.reshape([a.shape[d] for d in keep_a] + [b.shape[d] for d in keep_b])
    return result if out is None else _C._deliver("tensordot", out, result)


@op("torch")
def einsum(equation, *operands) -> Tensor:
    """Products and sums over named dimensions, in Einstein's notation.

    Args:
        equation: the dimensions of each operand as letters, "->", those of the result.
        operands: the tensors. Or, without an equation, each tensor and a list of ints for its
            dimensions in turn, and perhaps a list for those of the result.

    Raises:
        RuntimeError: if the equation does not fit the operands.

    >>> torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 2))
    tensor([[3., 3.],
            [3., 3.]])
    """
    from rushlight import _einsum

    return _einsum.einsum(*_einsum.spelled(equation, operands))


@op("torch")
def unravel_index(indices: Tensor, shape):
    """Flat indices as one index per dimension.

    Args:
        indices: indices into the flattened tensor.
        shape: of that tensor.

    >>> torch.unravel_index(torch.tensor([1, 5]), (2, 3))
    (tensor([0, 1]), tensor([1, 2]))
    """
    if indices.is_floating_point() or indices.dtype == _C.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, int | tuple | list):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in shape:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {shape}")
    out = []
    for size in reversed(shape):
        out.append(indices % size)
        indices = indices // size
    return tuple(reversed(out))
