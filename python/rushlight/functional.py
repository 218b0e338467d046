"""Functions that only arrange what other operations compute; torch.functional and the top level."""

from __future__ import annotations

import warnings

from rushlight import _C
from rushlight._arguments import wrapped
from rushlight._broadcasting import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_shapes,
    broadcast_tensors,
    listed,
)
from rushlight._C import Tensor
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
def meshgrid(*tensors: Tensor, indexing: str | None = None):
    """Coordinates of a grid: one tensor per vector, all of the grid's shape.

    Args:
        tensors: vectors, or a list of them.
        indexing: "ij" (the default) or "xy", which swaps the first two dimensions.

    >>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing="ij")[0]
    tensor([[1, 1],
            [2, 2]])
    """
    vectors = listed(tensors)
    if not vectors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument.",
            stacklevel=2,
        )
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for tensor in vectors:
        if tensor.dim() > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{list(tensor.shape)}"
            )
        if tensor.dtype != vectors[0].dtype:
            raise RuntimeError(
                "meshgrid expects all tensors to have the same dtype\n"
                f"got {vectors[0].dtype} and {tensor.dtype}"
            )
    swapped = indexing == "xy" and len(vectors) >= 2
    if swapped:
        vectors[0], vectors[1] = vectors[1], vectors[0]
    shape = [tensor.numel() for tensor in vectors]
    grid = []
    for d, tensor in enumerate(vectors):
        own = [1] * len(shape)
        own[d] = shape[d]
        grid.append(tensor.reshape(own).expand(shape))
    if swapped:
        grid[0], grid[1] = grid[1], grid[0]
    return tuple(grid)


@op("torch")
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the elements of vectors, one per row.

    Args:
        *tensors: the vectors.

    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    tensors = listed(tensors)
    for tensor in tensors:
        if tensor.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return _C.stack([grid.reshape(-1) for grid in meshgrid(*tensors, indexing="ij")], 1)


@op("torch")
def block_diag(*tensors: Tensor) -> Tensor:
    """A block diagonal matrix.

    Args:
        *tensors: the blocks: matrices, vectors (rows) or scalars.

    >>> torch.block_diag(torch.tensor([[1, 2]]), torch.tensor([[3]]))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    matrices = listed(tensors)
    if not matrices:
        return _C.empty(1, 0)
    for i, t in enumerate(matrices):
        if t.dim() > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has "
                f"{t.dim()} dimensions"
            )
    matrices = [t.reshape(1, -1) if t.dim() < 2 else t for t in matrices]
    width = sum(t.shape[1] for t in matrices)
    rows, start = [], 0
    for t in matrices:
        rows.append(_C.constant_pad_nd(t, [start, width - start - t.shape[1]]))
        start += t.shape[1]
    return _C.cat(rows, 0)


@op("torch", "Tensor", out=True)
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: the blocks input[i, j] * other.

    Args:
        other: the second factor.

    >>> torch.kron(torch.eye(2), torch.ones(1, 2))
    tensor([[1., 1., 0., 0.],
            [0., 0., 1., 1.]])
    """
    rank = max(input.dim(), other.dim())
    a = input.reshape((1,) * (rank - input.dim()) + tuple(input.shape))
    b = other.reshape((1,) * (rank - other.dim()) + tuple(other.shape))
    left = [n for size in a.shape for n in (size, 1)]
    right = [n for size in b.shape for n in (1, size)]
    product = a.reshape(left) * b.reshape(right)
    sizes = [x * y for x, y in zip(a.shape, b.shape, strict=True)]
    return product.reshape(sizes)


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


@op("torch", "Tensor")
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Where |input - other| <= atol + rtol * |other|.

    Args:
        other: broadcast with input.
        rtol, atol: relative and absolute tolerance.
        equal_nan: whether NaN is close to NaN.

    >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]))
    tensor([ True, False])
    """
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value}")
    if input.dtype != other.dtype:
        names = _dtype_name(input), _dtype_name(other)
        raise RuntimeError(f"{names[0]} did not match {names[1]}")
    close = input == other
    if equal_nan and input.is_floating_point():
        close = close | ((input != input) & (other != other))
    if rtol == 0 and atol == 0:
        return close
    if not input.is_floating_point():
        input, other = input.to(_C.float64), other.to(_C.float64)
    allowed = atol + (rtol * other).abs()
    difference = (input - other).abs()
    return close | ((difference <= allowed) & (difference < float("inf")))


def _dtype_name(tensor):
    return tensor.type().split(".")[-1].removesuffix("Tensor")


@op("torch", "Tensor")
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether isclose() holds for all elements, a bool.

    Args: as of isclose.

    >>> torch.allclose(torch.ones(2), torch.ones(2) + 1e-9)
    True
    """
    return isclose(input, other, rtol, atol, equal_nan).all().item()


@op("torch", "Tensor", out=True)
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours along a dimension.

    Args:
        n: how many times differences are taken.
        dim: the dimension.
        prepend, append: elements before and after those of input.

    >>> torch.diff(torch.tensor([1, 3, 6]))
    tensor([2, 3])
    """
    if input.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    parts = [part for part in (prepend, input, append) if part is not None]
    left = _C.cat(parts, dim) if len(parts) > 1 and n else input
    if n == 0:
        left = left.clone()
    for _ in range(n):
        size = left.shape[dim]
        if size == 0:
            break
        later, earlier = left.narrow(dim, 1, size - 1), left.narrow(dim, 0, size - 1)
        left = later ^ earlier if left.dtype == _C.bool else later - earlier
    return left


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
