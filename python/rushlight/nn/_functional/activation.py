"""Draws of Gumbel-softmax distributions."""

from __future__ import annotations

import warnings

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import Truth, op


@op("nn.functional")
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: Truth = False, eps: float = 1e-10, dim: int = -1
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
