"""Losses composed of other ops: margins, embeddings, likelihoods."""

import math

from rushlight import _C
from rushlight._casts import casts
from rushlight._modes import no_grad
from rushlight._results import check_tensors
from rushlight.nn._functional.loss import _reduction, reduced

__all__ = [
    "cosine_embedding_loss", "gaussian_nll_loss", "hinge_embedding_loss", "margin_ranking_loss",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
    "poisson_nll_loss", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip


@casts("full", "full")
def margin_ranking_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """max(0, -y (x1 - x2) + margin), y being 1 or -1.

    >>> torch.nn.functional.margin_ranking_loss(
    ...     torch.tensor([1.0]), torch.tensor([3.0]), torch.ones(1)
    ... )
    tensor(2.)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return reduced((-target * (input1 - input2) + float(margin)).clamp(min=0), reduction)


@casts("full", "full")
def hinge_embedding_loss(
    input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"
):
    """x where y is 1, max(0, margin - x) where y is -1.

    >>> torch.nn.functional.hinge_embedding_loss(torch.tensor([0.5]), torch.tensor([-1.0]))
    tensor(0.5000)
    """
    reduction = _reduction(size_average, reduce, reduction)
    zero = _C.zeros_like(input)
    loss = _C.where(target == 1, zero, (margin - input).clamp(min=0)) + _C.where(
        target == -1, zero, input
    )
    return reduced(loss, reduction)


@casts("full", "full")
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-y x)), y being 1 or -1.

    >>> torch.nn.functional.soft_margin_loss(torch.zeros(1), torch.ones(1))
    tensor(0.6931)
    """
    check_tensors("soft_margin_loss", input=input, target=target)
    reduction = _reduction(size_average, reduce, reduction)
    return reduced(_C.log1p((-target * input).exp()), reduction)


@casts("full", "full")
def cosine_embedding_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """1 - cos(x1, x2) where y is 1, max(0, cos(x1, x2) - margin) where y is -1.

    Shape: inputs (n, d) or (d), target (n) or ().

    >>> torch.nn.functional.cosine_embedding_loss(
    ...     torch.ones(1, 2), -torch.ones(1, 2), torch.tensor([1])
    ... ).round()
    tensor(2.)
    """
    check_tensors("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    reduction = _reduction(size_average, reduce, reduction)
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


@casts("full", "full")
def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False,
    size_average=None, reduce=None, reduction="mean",
):  # fmt: skip
    """max(0, d(a, p) - d(a, n) + margin), d the p-norm distance.

    Args:
        swap: take d(p, n) instead of d(a, n) where it is smaller.

    >>> torch.nn.functional.triplet_margin_loss(
    ...     torch.zeros(1, 2), torch.zeros(1, 2), torch.zeros(1, 2)
    ... )
    tensor(1.)
    """
    check_tensors("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    from rushlight.nn._functional.distance import pairwise_distance

    reduction = _reduction(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")

    def distance(x, y):
        return pairwise_distance(x, y, p, eps)

    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
    reduction="mean",
):  # fmt: skip
    """triplet_margin_loss with a distance of one's own.

    >>> torch.nn.functional.triplet_margin_with_distance_loss(
    ...     torch.zeros(1, 2), torch.zeros(1, 2), torch.zeros(1, 2)
    ... )
    tensor(1.)
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if distance_function is None:
        from rushlight.nn._functional.distance import pairwise_distance as distance_function
    reduction = _reduction(None, None, reduction)
    return _triplet(anchor, positive, negative, distance_function, margin, swap, reduction)


def _triplet(anchor, positive, negative, distance, margin, swap, reduction):
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _C.minimum(far, distance(positive, negative))
    return reduced((near - far + margin).clamp(min=0), reduction)


@casts("full", "full")
def multi_margin_loss(
    input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None,
    reduction="mean",
):  # fmt: skip
    """Mean over the classes i other than y of max(0, margin - x[y] + x[i])^p.

    >>> torch.nn.functional.multi_margin_loss(torch.tensor([[0.0, 1.0]]), torch.tensor([0]))
    tensor(1.)
    """
    check_tensors("multi_margin_loss", input=input, target=target)
    reduction = _reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    single = input.dim() < 2
    x = input.reshape(1, -1) if single else input
    y = target.reshape(-1, 1)
    loss = (margin - x.gather(1, y) + x).clamp(min=0)
    loss = loss if p == 1 else loss * loss
    if weight is not None:
        loss = loss * weight[y]
    others = _C.arange(x.size(1), device=x.device) != y
    loss = (loss * others).sum(1) / x.size(1)
    return reduced(loss.reshape(()) if single else loss, reduction)


@casts("full", "full")
def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Sum over targets y and other classes i of max(0, 1 - (x[y] - x[i])) / c.

    The targets of a row are the indices before the first -1.

    >>> torch.nn.functional.multilabel_margin_loss(torch.zeros(1, 2), torch.tensor([[0, -1]]))
    tensor(0.5000)
    """
    check_tensors("multilabel_margin_loss", input=input, target=target)
    reduction = _reduction(size_average, reduce, reduction)
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
    listed = (y < 0).to(_C.int64).cumsum(1) == 0
    safe = _C.where(listed, y, _C.zeros_like(y))
    is_target = _C.zeros((n, c), dtype=x.dtype, device=x.device)
    is_target = is_target.scatter_add(1, safe, listed.to(x.dtype)) > 0
    gap = (1 - (x.gather(1, safe).unsqueeze(2) - x.unsqueeze(1))).clamp(min=0)
    counted = listed.unsqueeze(2) & ~is_target.unsqueeze(1)
    loss = (gap * counted).sum((1, 2)) / c
    return reduced(loss.reshape(()) if single else loss, reduction)


def multilabel_soft_margin_loss(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """Mean over the classes of -(y log sigmoid(x) + (1 - y) log sigmoid(-x)).

    >>> torch.nn.functional.multilabel_soft_margin_loss(torch.zeros(1, 2), torch.ones(1, 2))
    tensor(0.6931)
    """
    reduction = _reduction(size_average, reduce, reduction)
    loss = -(target * _C._nn.logsigmoid(input) + (1 - target) * _C._nn.logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.mean(-1), reduction)


@casts("full", "full")
def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
    reduction="mean",
):  # fmt: skip
    """exp(x) - y x; with `log_input=False`, x - y log(x + eps).

    Args:
        full: add Stirling's approximation of log(y!) where y > 1.

    >>> torch.nn.functional.poisson_nll_loss(torch.zeros(2), torch.ones(2))
    tensor(1.)
    """
    check_tensors("poisson_nll_loss", input=input, target=target)
    reduction = _reduction(size_average, reduce, reduction)
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + _C.where(target > 1, stirling, _C.zeros_like(stirling))
    return reduced(loss, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log(var) + (x - y)^2 / var) / 2, var no less than eps.

    Args:
        var: a tensor that is positive, of the input's shape, one less dimension, or a number.
        full: add log(2 pi) / 2.

    >>> torch.nn.functional.gaussian_nll_loss(torch.zeros(2), torch.ones(2), torch.ones(2))
    tensor(0.5000)
    """
    check_tensors("gaussian_nll_loss", input=input, target=target)
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * _C.ones_like(input)
    elif bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1) and not (
            var.dim() == input.dim()
            and sum(a != b for a, b in zip(input.size(), var.size(), strict=False)) == 1
            and all(a == b or b == 1 for a, b in zip(input.size(), var.size(), strict=False))
        ):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)
