"""Branches of residual networks left out at random."""

import rushlight
from rushlight import nn


def stochastic_depth(input, p, mode, training=True):
    """Sets all of the input, or examples of it, to 0 with probability p; the rest is divided by
    1 - p.

    Args:
        input: (n, ...).
        p: the probability.
        mode: "batch" (all or nothing) or "row" (each example by itself).
        training: otherwise the input comes back as it is.

    Source: Huang et al., Deep Networks with Stochastic Depth, 2016.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import stochastic_depth
    >>> stochastic_depth(torch.ones(2, 1), 1.0, "row")
    tensor([[0.],
            [0.]])
    """
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0.0:
        return input
    size = [input.shape[0] if mode == "row" else 1] + [1] * (input.ndim - 1)
    noise = rushlight.empty(size, dtype=input.dtype, device=input.device).bernoulli_(1.0 - p)
    return input * (noise.div_(1.0 - p) if p < 1.0 else noise)


class StochasticDepth(nn.Module):
    """stochastic_depth() as a layer.

    Args:
        p: the probability.
        mode: "batch" or "row".

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import StochasticDepth
    >>> StochasticDepth(0.5, "row").eval()(torch.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, p, mode):
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, input):
        return stochastic_depth(input, self.p, self.mode, self.training)

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p}, mode={self.mode})"
