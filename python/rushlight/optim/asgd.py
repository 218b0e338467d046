"""Averaged stochastic gradient descent (Polyak and Juditsky, 1992)."""

from rushlight import _C
from rushlight.optim._composed import ComposedOptimizer

__all__ = ["ASGD"]


class ASGD(ComposedOptimizer):
    """p = (1 - lambd eta) p - eta g, with eta = lr / (1 + lambd lr t)^alpha; `ax` is p's mean.

    Args:
        lambd: how fast the parameters and eta decay.
        alpha: the power of eta's decay.
        t0: the step from which on the mean is kept.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.ASGD([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.8
    """

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
        state["eta"] = _C.tensor(float(group["lr"]), dtype=_C.float32)
        state["mu"] = _C.ones((), dtype=_C.float32)

    def _update(self, group, p, grad, state, step):
        eta, mu, mean = float(state["eta"]), float(state["mu"]), state["ax"]
        p.mul_(1 - group["lambd"] * eta).add_(grad, alpha=-eta)
        if mu == 1:
            mean.copy_(p)
        else:
            mean.add_(p.sub(mean).mul_(mu))
        rate = float(group["lr"])
        state["eta"].fill_(rate / (1 + group["lambd"] * rate * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1.0, step - group["t0"]))
