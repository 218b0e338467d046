"""Losses of a margin between the logits of classes or between pairs."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op
from rushlight.nn._functional._reduction import checked_reduction, reduced


@op("nn.functional", autocast=("full", "full"))
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -y (x1 - x2) + margin): x1 should be the larger where y is 1, x2 where y is -1.

    Args:
        input1, input2: x1 and x2.
        target: y, 1 or -1.
        margin: the least wanted difference.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input1, input2 and target of one shape; a scalar, or that shape with reduction="none".

    >>> torch.nn.functional.margin_ranking_loss(
    ...     torch.tensor([1.0]), torch.tensor([3.0]), torch.ones(1)
    ... )
    tensor(2.)
    """
    reduction = checked_reduction(size_average, reduce, reduction)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return reduced((-target * (input1 - input2) + float(margin)).clamp(min=0), reduction)


@op("nn.functional", autocast=("full", "full"), node="SoftMarginLossBackward0")
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The logistic loss log(1 + exp(-y x)), y being 1 or -1.

    Args:
        target: y, 1 or -1.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target any, broadcast; a scalar, or their shape with reduction="none".

    >>> torch.nn.functional.soft_margin_loss(torch.zeros(1), torch.ones(1))
    tensor(0.6931)
    """
    reduction = checked_reduction(size_average, reduce, reduction)
    return reduced(_C.log1p((-target * input).exp()), reduction)


@op("nn.functional", autocast=("full", "full"), node="MultiMarginLossBackward0")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The multi-class hinge loss: sum over the classes i other than y of max(0, margin - x[y] +
    x[i])^p, divided by c.

    Args:
        target: class indices y.
        p: exponent, 1 or 2.
        margin: the least wanted difference of the logits.
        weight: a factor for each class, shape (c).
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input (n, c) or (c), target (n) or (); a scalar, or the target's with reduction="none".

    >>> torch.nn.functional.multi_margin_loss(torch.tensor([[0.0, 1.0]]), torch.tensor([0]))
    tensor(1.)
    """
    reduction = checked_reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    if input.dim() > 2 or (input.numel() == 0 and (input.dim() != 2 or input.size(1) == 0)):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )
    x = input.reshape(1, -1) if input.dim() < 2 else input
    if target.numel() != x.size(0) or target.dim() > 1:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{x.size(0)}], but got "
            f"{list(target.shape)}. Input has shape {list(input.shape)}."
        )
    if weight is not None and weight.numel() != x.size(1):
        raise RuntimeError(
            f"inconsistent weight size, expected {x.size(1)} but got {list(weight.shape)}"
        )
    y = target.reshape(-1, 1)
    loss = (margin - x.gather(1, y) + x).clamp(min=0)
    loss = loss if p == 1 else loss * loss
    if weight is not None:
        loss = loss * weight[y]
    others = _C.arange(x.size(1), device=x.device) != y
    loss = (loss * others).sum(1) / x.size(1)
    return reduced(loss.reshape(target.shape), reduction)


@op("nn.functional", autocast=("full", "full"), node="MultilabelMarginLossBackward0")
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The multi-label hinge loss: sum over targets y and other classes i of max(0, 1 - (x[y] -
    x[i])), divided by c.

    Args:
        target: class indices; those of a row end at the first -1.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target (n, c) or (c); a scalar, or (n) with reduction="none".

    >>> torch.nn.functional.multilabel_margin_loss(torch.zeros(1, 2), torch.tensor([[0, -1]]))
    tensor(0.5000)
    """
    reduction = checked_reduction(size_average, reduce, reduction)
    single = input.dim() < 2
    if input.dim() > 2 or 0 in input.shape[-1:]:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )
    if target.shape != input.shape and (not single or target.numel() != input.numel()):
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    x, y = (t.reshape(1, -1) if single else t for t in (input, target))
    n, c = x.shape
    listed = (y == -1).to(_C.int64).cumsum(1) == 0
    safe = _C.where(y == -1, _C.zeros_like(y), y)  # any other class is looked up, and checked
    is_target = _C.zeros((n, c), dtype=x.dtype, device=x.device)
    is_target = is_target.scatter_add(1, safe, listed.to(x.dtype)) > 0
    # Of the other classes i, in order, those above x[y] - 1 count: their sum, less x[y] - 1 for
    # each. Sums of what is near 0 lose little, and the targets' places are behind all others.
    largest = x.detach().amax(1, True)
    x = x - _C.where(largest.isfinite(), largest, _C.zeros_like(largest))
    x = x.float() if x.dtype in (_C.float16, _C.bfloat16) else x
    lowest = _C.full_like(x, -float("inf"))
    others = _C.where(is_target, lowest, x).sort(1, descending=True)[0]
    sums = _C.where(others > lowest, others, _C.zeros_like(others)).cumsum(1)
    limit = x.gather(1, safe) - 1
    count = c - _C.searchsorted(others.detach().flip(1), limit.detach(), right=True)
    above = sums.gather(1, (count - 1).clamp(min=0))
    gaps = _C.where(listed & (count > 0), above - count * limit, _C.zeros_like(limit))
    loss = (gaps.sum(1) / c).to(input.dtype)
    return reduced(loss.reshape(()) if single else loss, reduction)


@op("nn.functional")
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Mean over the classes of -(y log sigmoid(x) + (1 - y) log sigmoid(-x)).

    Args:
        target: 0 or 1 for each class.
        weight: a factor for each class, shape (c).
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target (n, c); a scalar, or (n) with reduction="none".

    >>> torch.nn.functional.multilabel_soft_margin_loss(torch.zeros(1, 2), torch.ones(1, 2))
    tensor(0.6931)
    """
    reduction = checked_reduction(size_average, reduce, reduction)
    loss = -(target * _C._nn.logsigmoid(input) + (1 - target) * _C._nn.logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.mean(-1), reduction)
