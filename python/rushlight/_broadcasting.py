"""broadcast_shapes."""

from __future__ import annotations

import operator

from rushlight import _C
from rushlight._table import op

__all__ = ["broadcast_shapes"]


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
