"""Activations that are compositions: random ones, and the gated one."""

from __future__ import annotations

import warnings

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op


@op("nn.functional", in_place=["nn.functional"])
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """leaky_relu with a slope drawn from U(lower, upper) for each element; without `training`,
    their mean.

    Args:
        lower, upper: bounds of the slope.
        training: whether slopes are drawn.
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.functional.rrelu(torch.tensor([-1.0]), 0.5, 0.5)
    tensor([-0.5000])
    """
    if lower > upper:
        raise RuntimeError(
            "Lower bound should be less than or equal to the upper bound, but got lower "
            f"{lower} and upper {upper}"
        )
    if not training:
        return _C._nn.leaky_relu(input, (lower + upper) / 2, inplace)
    # A slope is drawn for each element that needs one, in their order.
    bent = input <= 0
    drawn = _C.empty(int(bent.sum()), dtype=_C.float64, device=input.device)
    drawn.uniform_(lower, upper)
    slope = _C.ones_like(input, requires_grad=False)
    slope = slope.masked_scatter(bent, drawn.to(input.dtype))
    return input.mul_(slope) if inplace else input * slope


@op("nn.functional")
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """a * sigmoid(b), a and b the halves of x along `dim`.

    Args:
        dim: the dimension that is halved.

    Shape: (*, 2 c, *) to (*, c, *).

    >>> torch.nn.functional.glu(torch.tensor([2.0, 0.0]))
    tensor([1.])
    """
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    size = input.size(dim)
    if size % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim % input.dim()} is size {size}"
        )
    a, b = input.chunk(2, dim)
    return a * _C.sigmoid(b)


@op("nn.functional")
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A sample of the Gumbel-softmax distribution: softmax((logits + g) / tau), g Gumbel noise
    (Jang et al., 2017).

    Args:
        logits: unnormalised log-probabilities.
        tau: temperature.
        hard: one-hot in the forward pass, the gradient of the soft sample in the backward pass.
        eps: deprecated; another value than the default warns and changes nothing.
        dim: the dimension whose elements sum to 1.

    Shape: any; the output has the input's.

    >>> torch.nn.functional.gumbel_softmax(torch.zeros(1, 3), hard=True).sum()
    tensor(1.)
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -_C.empty_like(logits).exponential_().log()
    soft = _C.softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return _C.zeros_like(logits).scatter_(dim, index, 1.0) - soft.detach() + soft
