"""Losses of distances and similarities between embeddings."""

from __future__ import annotations

from collections.abc import Callable

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op
from rushlight.nn._functional._reduction import checked_reduction, reduced
from rushlight.nn._functional.distance import pairwise_distance


@op("nn.functional", autocast=("full", "full"))
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Distances x where y is 1, max(0, margin - x) where y is -1.

    Args:
        target: y, 1 or -1.
        margin: distance beyond which a dissimilar pair costs nothing.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target any, broadcast; a scalar, or their shape with reduction="none".

    >>> torch.nn.functional.hinge_embedding_loss(torch.tensor([0.5]), torch.tensor([-1.0]))
    tensor(0.5000)
    """
    reduction = checked_reduction(size_average, reduce, reduction)
    zero = _C.zeros_like(input)
    loss = _C.where(target == 1, zero, (margin - input).clamp(min=0)) + _C.where(
        target == -1, zero, input
    )
    return reduced(loss, reduction)


@op("nn.functional", autocast=("full", "full"))
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos(x1, x2) where y is 1, max(0, cos(x1, x2) - margin) where y is -1.

    Args:
        input1, input2: the vectors x1 and x2.
        target: y, 1 or -1.
        margin: cosine below which a dissimilar pair costs nothing, from -1 to 1.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input1 and input2 (n, d) or (d), target (n) or (); a scalar, or (n) with
    reduction="none".

    >>> torch.nn.functional.cosine_embedding_loss(
    ...     torch.ones(1, 2), -torch.ones(1, 2), torch.tensor([1])
    ... ).round()
    tensor(2.)
    """
    reduction = checked_reduction(size_average, reduce, reduction)
    if target.dim() not in (0, 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dim() == 1 and (input1.dim() != 2 or input2.dim() != 2):
        raise RuntimeError(
            "1D target tensor expects 2D input tensors, but found inputs with sizes "
            f"{list(input1.size())} and {list(input2.size())}."
        )
    if target.dim() == 0 and (input1.dim() != 1 or input2.dim() != 1):
        raise RuntimeError(
            "0D target tensor expects 1D input tensors, but found inputs with sizes "
            f"{list(input1.size())} and {list(input2.size())}."
        )
    tiny = 1e-12  # keeps the square root's gradient finite for a zero vector
    dot = (input1 * input2).sum(-1)
    squares = ((input1 * input1).sum(-1) + tiny) * ((input2 * input2).sum(-1) + tiny)
    cos = dot / squares.sqrt()
    zero = _C.zeros_like(cos)
    loss = _C.where(target == 1, 1 - cos, zero) + _C.where(
        target == -1, (cos - margin).clamp(min=0), zero
    )
    return reduced(loss, reduction)


@op("nn.functional", autocast=("full", "full"))
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm distance.

    Args:
        anchor, positive, negative: the vectors.
        margin: the least wanted difference of the distances, positive.
        p: exponent of the norm.
        eps: added to each difference, so that the gradient exists.
        swap: use d(positive, negative) where it is less than d(anchor, negative).
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: anchor, positive and negative (n, d) or (d); a scalar, or (n) with reduction="none".

    >>> torch.nn.functional.triplet_margin_loss(
    ...     torch.zeros(1, 2), torch.zeros(1, 2), torch.zeros(1, 2)
    ... )
    tensor(1.)
    """
    reduction = checked_reduction(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")

    def distance(x, y):
        return pairwise_distance(x, y, p, eps)

    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


@op("nn.functional")
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """triplet_margin_loss with any distance.

    Args:
        anchor, positive, negative: the tensors.
        distance_function: maps two tensors to distances; pairwise_distance() if None.
        margin: the least wanted difference of the distances, positive.
        swap: use d(positive, negative) where it is less than d(anchor, negative).
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: anchor, positive and negative (n, *); a scalar, or the distances' shape with
    reduction="none".

    >>> torch.nn.functional.triplet_margin_with_distance_loss(
    ...     torch.zeros(1, 2), torch.zeros(1, 2), torch.zeros(1, 2)
    ... )
    tensor(1.)
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance_function = distance_function or pairwise_distance
    reduction = checked_reduction(None, None, reduction)
    return _triplet(anchor, positive, negative, distance_function, margin, swap, reduction)


def _triplet(anchor, positive, negative, distance, margin, swap, reduction):
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and "
            f"negative {negative.dim()}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _C.minimum(far, distance(positive, negative))
    return reduced((near - far + margin).clamp(min=0), reduction)
