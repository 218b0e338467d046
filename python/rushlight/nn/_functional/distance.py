"""Distances and similarities."""

from __future__ import annotations

from typing import Any

from rushlight import _C
from rushlight._arguments import wrapped
from rushlight._C import Tensor
from rushlight._table import Sequence, op


@op("torch", "nn.functional", autocast=("none", "full"))
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along `dim`.

    Args:
        x1, x2: the vectors.
        dim: their dimension, after broadcasting.
        eps: the smallest norm, against division by 0.

    Shape: x1 and x2 (*, d, *), broadcast; the output without d.

    >>> torch.nn.functional.cosine_similarity(torch.ones(1, 2), torch.ones(1, 2))
    tensor([1.0000])
    """
    if not eps >= 0:
        raise RuntimeError(
            f"eps must be non-negative, got: {eps:g}\ncosine_similarity(): eps is the smallest norm"
        )
    dtype: Any = _C.promote_types(x1.dtype, x2.dtype)
    # Of float16 and bfloat16 computed in float32, rounded once.
    computed: Any = _C.float32 if dtype in (_C.float16, _C.bfloat16) else dtype
    shape = _C.broadcast_tensors(x1, x2)[0].shape
    dim = wrapped(dim, len(shape)) - max(len(shape), 1)

    def normalized(x):  # before it is broadcast: of all pairs of rows, each row once
        x = x.to(dtype)
        if shape and (x.dim() < -dim or x.shape[dim] != shape[dim]):
            x = x.expand(shape)
        return x / _C.norm(x, 2, dim, True, dtype=computed).clamp(min=eps)

    return (normalized(x1) * normalized(x2)).sum(dim).to(dtype)


@op("torch", "nn.functional")
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension.

    Args:
        x1, x2: the vectors.
        p: the norm's exponent, negative too.
        eps: added to each difference, so that the gradient exists.
        keepdim: leave the last dimension with size 1.

    Shape: x1 and x2 (n, d) or (d), broadcast; (n) or (), or (n, 1) or (1) with keepdim.

    >>> torch.nn.functional.pairwise_distance(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """
    return _C.norm(x1 - x2 + eps, p, -1, keepdim)


@op("nn.functional")
def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int | Sequence[int] = 1,
    eps: float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    """x / max(|x|_p, eps) along `dim`.

    Args:
        p: the norm's exponent.
        dim: one dimension or several.
        eps: the smallest norm, against division by 0.

    Shape: any; the output has the input's.

    >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    norm = _C.norm(input, p, dim, True).clamp(min=eps).expand_as(input)
    return input / norm if out is None else _C.div(input, norm, out=out)
