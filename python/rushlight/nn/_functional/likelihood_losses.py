"""Losses that are divergences or negative log-likelihoods of distributions."""

from __future__ import annotations

import math
import warnings

from rushlight import _C
from rushlight._C import Tensor
from rushlight._grad_mode import no_grad
from rushlight._table import Truth, op
from rushlight.nn._functional._reduction import checked_reduction, reduced


@op("nn.functional", autocast=("full", "full"))
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence of log-probabilities from a target: target * (log target -
    input).

    Args:
        target: probabilities, or log-probabilities with log_target.
        reduction: also "batchmean", the sum divided by the batch size, which is the mathematical
            value.
        log_target: whether the target is given as log-probabilities.

    Shape: input and target any, broadcast; a scalar, or their shape with reduction="none".

    >>> torch.nn.functional.kl_div(torch.zeros(2), torch.ones(2), reduction="sum")
    tensor(0.)
    """
    if reduction != "batchmean":
        if reduction == "mean" and size_average is None and reduce is None:
            warnings.warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support "
                "size.'batchmean' divides only by the batch size, and aligns with the KL div "
                "math definition.'mean' will be changed to behave the same as 'batchmean' in the "
                "next major release.",
                stacklevel=3,
            )
        reduction = checked_reduction(size_average, reduce, reduction)
    if not (input.is_floating_point() and target.is_floating_point()):
        raise RuntimeError(
            f"kl_div: Integral inputs not supported.\ninput is {input.dtype}, target is "
            f"{target.dtype}: convert them with .float()"
        )
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = _C.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return loss.sum() / input.size(0) if input.dim() else loss.sum()
    return reduced(loss, reduction)


@op("nn.functional", autocast=("full", "full"))
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log-likelihood of a Poisson distribution: exp(x) - y x; with log_input=False, x - y
    log(x + eps).

    Args:
        target: the counts y.
        log_input: whether the input is the logarithm of the rate.
        full: add Stirling's approximation of log(y!) where y > 1.
        eps: keeps log(x) finite if log_input is False.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target any, broadcast; a scalar, or their shape with reduction="none".

    >>> torch.nn.functional.poisson_nll_loss(torch.zeros(2), torch.ones(2))
    tensor(1.)
    """
    reduction = checked_reduction(size_average, reduce, reduction)
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + _C.where(target > 1, stirling, _C.zeros_like(stirling))
    return reduced(loss, reduction)


@op("nn.functional")
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: Truth = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Negative log-likelihood of a normal distribution: (log(var) + (x - y)^2 / var) / 2.

    Args:
        target: the samples y.
        var: the variances, positive: a tensor or a float.
        full: add log(2 pi) / 2.
        eps: the smallest variance.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target (n, *), var the same, or without the last dimension, or with size 1
    there; a scalar, or (n, *) with reduction="none".

    >>> torch.nn.functional.gaussian_nll_loss(torch.zeros(2), torch.ones(2), torch.ones(2))
    tensor(0.5000)
    """
    if not isinstance(var, _C.Tensor):
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
