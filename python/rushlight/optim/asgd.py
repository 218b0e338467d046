"""Averaged stochastic gradient descent (Polyak and Juditsky, 1992)."""

from rushlight.optim._functional import asgd
from rushlight.optim._fused import FusedOptimizer

__all__ = ["ASGD", "asgd"]


class ASGD(FusedOptimizer):
    """Gradient descent that keeps the mean of the parameters' path in `ax` (Polyak and Juditsky,
    1992).

    p = (1 - lambd eta) p - eta g, with eta = lr / (1 + lambd lr t)^alpha.

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        lr: learning rate, a float or a 0-d tensor.
        lambd: how fast the parameters and eta decay.
        alpha: the power of eta's decay.
        t0: the step from which on the mean is kept.
        weight_decay: added to the gradient times p.
        maximize: go up the gradient instead of down.
        differentiable: autograd records the step.
        foreach, capturable: accepted; a step is always one call over all parameters.

    Shape: state: `ax` as the parameter; `step`, `eta` and `mu` ().

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.ASGD([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.8
    """

    name = "ASGD"
    scalars = ("eta", "mu")
    moments = ("ax",)

    def __init__(
        self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None,
        maximize=False, differentiable=False, capturable=False,
    ):  # fmt: skip
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group, p, state):
        super()._begin(group, p, state)
        state["eta"].fill_(float(group["lr"]))
