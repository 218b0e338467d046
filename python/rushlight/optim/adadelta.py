"""Adadelta (Zeiler, 2012)."""

from rushlight.optim._functional import adadelta
from rushlight.optim._fused import FusedOptimizer
from rushlight.optim.optimizer import checked

__all__ = ["Adadelta", "adadelta"]


class Adadelta(FusedOptimizer):
    """Steps in the ratio of the running mean u of past steps to that of the gradients, v (Zeiler,
    2012).

    v = rho v + (1 - rho) g^2; d = g sqrt(u + eps) / sqrt(v + eps); p = p - lr d;
    u = rho u + (1 - rho) d^2.

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        lr: learning rate, a float or a 0-d tensor.
        rho: how slowly the means change.
        eps: added to u and v.
        weight_decay: added to the gradient times p.
        maximize: go up the gradient instead of down.
        differentiable: autograd records the step.
        foreach, capturable: accepted; a step is always one call over all parameters.

    Shape: state: `square_avg` (v) and `acc_delta` (u) as the parameter; `step` ().

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.Adadelta([w])
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.9968
    """

    name = "Adadelta"
    moments = ("square_avg", "acc_delta")

    def __init__(
        self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *,
        capturable=False, maximize=False, differentiable=False,
    ):  # fmt: skip
        checked(rho, "rho value", lambda value: 0.0 <= value <= 1.0)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize, "capturable": capturable, "foreach": foreach,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)
