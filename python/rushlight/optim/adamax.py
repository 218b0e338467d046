"""Adamax (Kingma and Ba, 2015)."""

from rushlight import _C
from rushlight.optim._composed import ComposedOptimizer

__all__ = ["Adamax"]


class Adamax(ComposedOptimizer):
    """Adam with the infinity norm: u = max(b2 u, |g| + eps); p = p - lr / (1 - b1^t) * m / u.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.Adamax([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.9
    """

    moments = ("exp_avg", "exp_inf")

    def __init__(
        self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *,
        maximize=False, differentiable=False, capturable=False,
    ):  # fmt: skip
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group, p, grad, state, step):
        beta1, beta2 = group["betas"]
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(grad, 1 - beta1)
        largest.copy_(_C.maximum(largest.mul_(beta2), grad.abs().add_(group["eps"])))
        p.addcdiv_(mean, largest, value=-float(group["lr"]) / (1 - beta1**step))
