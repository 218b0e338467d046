"""broadcast_shapes, broadcast_tensors and atleast_1d, _2d, _3d."""

from __future__ import annotations

import operator

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes", "broadcast_tensors"]


def listed(tensors):
    """f(a, b) and f([a, b]) mean the same."""
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tensors[0]
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, _C.Tensor):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {type(tensor).__name__}"
            )
    return list(tensors)


@op("torch")
def broadcast_shapes(*shapes):
    """The common shape of several, by the rules of broadcasting.

    Args:
        *shapes: tuples or ints.

    >>> torch.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    common = []
    for at, shape in enumerate(shapes):
        if not isinstance(shape, list | tuple | int):
            raise RuntimeError(
                "Input shapes should be of type ints, a tuple of ints, or a list of ints, got "
                f"{shape}"
            )
        sizes = [shape] if isinstance(shape, int) else list(map(operator.index, shape))
        common[:0] = [1] * (len(sizes) - len(common))
        for i, size in enumerate(sizes, len(common) - len(sizes)):
            if size != 1 and common[i] not in (1, size):
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {size} at {i - len(common)}! "
                    f"Mismatching argument at index {at} had {shape}; those before it make {common}"
                )
            if size < 0:
                raise ValueError(
                    "Attempting to broadcast a dimension with negative length!\n"
                    f"broadcast_shapes(): shape {at} is {shape}"
                )
            common[i] = common[i] if size == 1 else size
    return _C.Size(common)


@op("torch")
def broadcast_tensors(*tensors: Tensor):
    """All tensors expanded to their common shape.

    Args:
        *tensors: the tensors.

    >>> [t.shape for t in torch.broadcast_tensors(torch.ones(2, 1), torch.ones(3))]
    [torch.Size([2, 3]), torch.Size([2, 3])]
    """
    tensors = listed(tensors)
    shape = []
    for tensor in tensors:
        own = list(tensor.shape)
        rank = max(len(shape), len(own))
        left, right = [1] * (rank - len(shape)) + shape, [1] * (rank - len(own)) + own
        for d, (a, b) in enumerate(zip(left, right, strict=True)):
            if a != b and a != 1 and b != 1:
                raise RuntimeError(
                    f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                    f"non-singleton dimension {d}"
                )
        shape = [b if a == 1 else a for a, b in zip(left, right, strict=True)]
    return tuple(tensor.expand(shape) for tensor in tensors)


def _at_least(rank, tensors):
    def one(tensor):
        if tensor.dim() == 0:
            return tensor.reshape((1,) * rank)
        if tensor.dim() == 1 and rank == 2:
            return tensor.unsqueeze(0)
        if tensor.dim() == 1 and rank == 3:
            return tensor.unsqueeze(0).unsqueeze(-1)
        if tensor.dim() == 2 and rank == 3:
            return tensor.unsqueeze(-1)
        return tensor

    if len(tensors) == 1 and isinstance(tensors[0], _C.Tensor):
        return one(tensors[0])
    return tuple(one(tensor) for tensor in listed(tensors))


@op("torch")
def atleast_1d(*tensors):
    """Tensors with at least one dimension: a scalar x becomes [x].

    Args:
        *tensors: one, or several, or a list of them.

    >>> torch.atleast_1d(torch.tensor(5))
    tensor([5])
    """
    return _at_least(1, tensors)


@op("torch")
def atleast_2d(*tensors):
    """Tensors with at least two dimensions: a vector becomes a row.

    Args:
        *tensors: one, or several, or a list of them.

    >>> torch.atleast_2d(torch.tensor([1, 2]))
    tensor([[1, 2]])
    """
    return _at_least(2, tensors)


@op("torch")
def atleast_3d(*tensors):
    """Tensors with at least three dimensions: a vector (n) becomes (1, n, 1), a matrix (m, n, 1).

    Args:
        *tensors: one, or several, or a list of them.

    >>> torch.atleast_3d(torch.ones(2)).shape
    torch.Size([1, 2, 1])
    """
    return _at_least(3, tensors)
