"""RAdam (Liu et al., 2020)."""

import math

from rushlight.optim._composed import ComposedOptimizer

__all__ = ["RAdam"]


class RAdam(ComposedOptimizer):
    """Adam that adapts its step only once the variance of v can be trusted.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.RAdam([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.8
    """

    moments = ("exp_avg", "exp_avg_sq")

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0,
        decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
        differentiable=False,
    ):  # fmt: skip
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group, p, grad, state, step):
        beta1, beta2 = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        correction2 = 1 - beta2**step
        corrected = mean / (1 - beta1**step)
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * (beta2**step) / correction2
        rate = float(group["lr"])
        if length > 5.0:
            rectify = math.sqrt(
                (length - 4) * (length - 2) * longest
                / ((longest - 4) * (longest - 2) * length)
            )  # fmt: skip
            adapt = math.sqrt(correction2) / square.sqrt().add_(group["eps"])
            p.add_(corrected * rate * adapt * rectify, alpha=-1.0)
        else:
            p.add_(corrected * rate, alpha=-1.0)
