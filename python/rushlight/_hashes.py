"""hash_tensor: the bits of a tensor's numbers in one number."""

from __future__ import annotations

import math

from rushlight import _C
from rushlight._C import Tensor

from ._dtype_names import DTYPES, NAMES
from ._table import Sequence, op


def _bits(x: Tensor) -> Tensor:
    """Each number as an int64 with the bits that are joined: a float's are those of a double."""
    if x.is_floating_point():
        return x.double().view(_C.int64)
    return x.to(_C.int64)


def _check_dtype(x: Tensor):
    if x.dtype not in DTYPES.values():
        raise NotImplementedError(
            f"\"xor_sum_cpu\" not implemented for '{NAMES[x.dtype]}'\nhash_tensor(): a view in a "
            "dtype that is computed with has a hash"
        )


def _joined(rows: Tensor) -> Tensor:
    """The exclusive or of each row, by halves."""
    while rows.size(1) > 1:
        half, odd = divmod(rows.size(1), 2)
        left, right, rest = rows.split((half, half, odd), 1)
        rows = left.bitwise_xor(right)
        if odd:
            rows = _C.cat((rows, rest), 1)
    return rows[:, 0]


@op("torch", "Tensor", out=True, exact=True, differentiable=False)
def hash_tensor(
    input: Tensor, dim: Sequence[int] | None = (), *, keepdim: bool = False, mode: int = 0
) -> Tensor:
    """The exclusive or of the numbers' bits, to tell tensors apart: floats as doubles, integers in
    64 bits. Signs of zeros and NaNs count, the order of the numbers does not.

    Args:
        dim: the dimensions that are joined, by default all.
        mode: 0.

    Shape:
        that of input without the dimensions.

    >>> torch.hash_tensor(torch.tensor([1, 2, 4]))
    tensor(7, dtype=torch.uint64)
    """
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}\nthere is one, 0")
    _check_dtype(input)
    result = _C.empty(input.shape, device="meta").sum(dim, keepdim)  # its shape, and sum's words
    rank = input.dim()
    joined = [d % rank for d in dim or range(rank)] if rank else []
    if input.numel() == 0 and not dim:
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify "
            "the reduction dim with the 'dim' argument."
        )
    for d in joined:
        if input.size(d) == 0:
            raise IndexError(f"hash_tensor: Expected reduction dim {d} to have non-zero size.")
    kept = [d for d in range(rank) if d not in joined]
    count = math.prod(input.size(d) for d in joined)
    rows = _bits(input).permute((*kept, *joined)).reshape(result.numel(), count)
    return _joined(rows).reshape(result.shape).view(_C.uint64)
