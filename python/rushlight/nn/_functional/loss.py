"""Losses: the ones that C++ computes in one pass.

`reduction` is "none", "mean" or "sum"; the arguments size_average and reduce are the old way to
say it and still work, with a warning.
"""

import warnings

from rushlight import _C
from rushlight._casts import casts
from rushlight._results import check_tensors

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "huber_loss",
    "kl_div", "l1_loss", "mse_loss", "nll_loss", "smooth_l1_loss",
]  # fmt: skip

REDUCTIONS = ("none", "mean", "sum")
# The reduction that size_average and reduce stand for, with a warning.
legacy_reduction = _C._nn._legacy_reduction


def _reduction(size_average, reduce, reduction):
    if size_average is not None or reduce is not None:
        return legacy_reduction(size_average, reduce)
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def reduced(loss, reduction):
    """The losses themselves, their mean or their sum."""
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def warn_sizes(input, target):
    """The warning that broadcasting in a loss is most likely not meant."""
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=3,
        )


def weighted(loss, weight, reduction, input):
    """Element losses times their weights; the mean divides by the sum of the weights."""
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    loss = loss * weight
    if reduction == "mean":
        return loss.sum() / weight.sum()
    return reduced(loss, reduction)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """(x - y)^2.

    >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(2.)
    """
    warn_sizes(input, target)
    reduction = _reduction(size_average, reduce, reduction)
    if weight is not None:
        return weighted(_C.mse_loss(input, target, "none"), weight, reduction, input)
    return _C.mse_loss(input, target, reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """|x - y|.

    >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(1.)
    """
    warn_sizes(input, target)
    reduction = _reduction(size_average, reduce, reduction)
    if weight is not None:
        return weighted(_C.l1_loss(input, target, "none"), weight, reduction, input)
    return _C.l1_loss(input, target, reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """(x - y)^2 / (2 beta) where |x - y| < beta, else |x - y| - beta / 2.

    >>> torch.nn.functional.smooth_l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(0.7500)
    """
    warn_sizes(input, target)
    reduction = _reduction(size_average, reduce, reduction)
    if beta == 0.0:
        return _C.l1_loss(input, target, reduction)
    return _C.smooth_l1_loss(input, target, reduction, beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """(x - y)^2 / 2 where |x - y| < delta, else delta * (|x - y| - delta / 2).

    >>> torch.nn.functional.huber_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(0.7500)
    """
    warn_sizes(input, target)
    reduction = _reduction(None, None, reduction)
    if weight is not None:
        return weighted(_C.huber_loss(input, target, "none", delta), weight, reduction, input)
    return _C.huber_loss(input, target, reduction, delta)


def nll_loss(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
    reduction="mean",
):  # fmt: skip
    """-x[target]: log-probabilities against class indices.

    Shape: input (n, c, *), target (n, *).

    >>> torch.nn.functional.nll_loss(torch.tensor([[-0.5, -1.0]]), torch.tensor([1]))
    tensor(1.)
    """
    reduction = _reduction(size_average, reduce, reduction)
    return _C.nll_loss(input, target, weight, reduction, ignore_index)


def binary_cross_entropy(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """-(y log x + (1 - y) log(1 - x)), with logarithms no less than -100.

    Raises: ValueError when the sizes differ; RuntimeError for an input outside [0, 1].

    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0]))
    tensor(0.6931)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}) is deprecated. Please ensure they have the same size."
        )
    return _C.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean",
    pos_weight=None,
):  # fmt: skip
    """binary_cross_entropy(sigmoid(x), y), computed without overflow.

    Args:
        pos_weight: a factor for the positive examples of each class.

    >>> torch.nn.functional.binary_cross_entropy_with_logits(
    ...     torch.tensor([0.0]), torch.tensor([1.0])
    ... )
    tensor(0.6931)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    return _C.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


@casts("full", "full")
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log target - input), pointwise: the Kullback-Leibler divergence.

    Args:
        reduction: "batchmean" (the sum over the batch size) is the mathematical one.
        log_target: whether the target is given as logarithm.

    >>> torch.nn.functional.kl_div(torch.zeros(2), torch.ones(2), reduction="sum")
    tensor(0.)
    """
    check_tensors("kl_div", input=input, target=target)
    if reduction != "batchmean":
        if reduction == "mean" and size_average is None and reduce is None:
            warnings.warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support "
                "size.'batchmean' divides only by the batch size, and aligns with the KL div "
                "math definition.'mean' will be changed to behave the same as 'batchmean' in the "
                "next major release.",
                stacklevel=3,
            )
        reduction = _reduction(size_average, reduce, reduction)
    for name, value in (("input", input), ("target", target)):
        if not value.is_floating_point():
            raise RuntimeError(
                f"kl_div: Integral inputs not supported.\n{name} is {value.dtype}: convert it with "
                ".float()"
            )
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = _C.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return loss.sum() / input.size(0) if input.dim() else loss.sum()
    return reduced(loss, reduction)
