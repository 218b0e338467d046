"""Adadelta (Zeiler, 2012)."""

from rushlight.optim._composed import ComposedOptimizer
from rushlight.optim.optimizer import checked

__all__ = ["Adadelta"]


class Adadelta(ComposedOptimizer):
    """v = rho v + (1 - rho) g^2; d = g sqrt(u + eps) / sqrt(v + eps); p = p - lr d;
    u = rho u + (1 - rho) d^2.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.Adadelta([w])
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.9968
    """

    moments = ("square_avg", "acc_delta")

    def __init__(
        self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *,
        capturable=False, maximize=False, differentiable=False,
    ):  # fmt: skip
        checked(rho, "rho value", 0.0 <= rho <= 1.0)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize, "capturable": capturable, "foreach": foreach,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group, p, grad, state, step):
        rho, eps = group["rho"], group["eps"]
        square, moved = state["square_avg"], state["acc_delta"]
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = moved.add(eps).sqrt_().div_(square.add(eps).sqrt_()).mul_(grad)
        moved.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        p.add_(delta, alpha=-float(group["lr"]))
