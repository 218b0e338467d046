"""NAdam (Dozat, 2016)."""

from rushlight import _C
from rushlight.optim._composed import ComposedOptimizer, new_step
from rushlight.optim.optimizer import checked

__all__ = ["NAdam"]


class NAdam(ComposedOptimizer):
    """Adam with Nesterov's momentum: the step mixes the gradient and the coming mean.

    Args:
        momentum_decay: how the momentum approaches b1: b1 * (1 - 0.96^(t momentum_decay) / 2).

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.NAdam([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> w.item() < 1
    True
    """

    moments = ("exp_avg", "exp_avg_sq")

    def __init__(
        self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0,
        momentum_decay=4e-3, decoupled_weight_decay=False, *, foreach=None, maximize=False,
        capturable=False, differentiable=False,
    ):  # fmt: skip
        checked(momentum_decay, "momentum_decay value")
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group, p, state):
        state["step"], state["mu_product"] = new_step(), _C.ones((), dtype=_C.float32)
        super()._begin(group, p, state)

    def _update(self, group, p, grad, state, step):
        beta1, beta2 = group["betas"]
        decay, rate = group["momentum_decay"], float(group["lr"])
        mu = beta1 * (1.0 - 0.5 * (0.96 ** (step * decay)))
        mu_next = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * decay)))
        state["mu_product"] *= mu
        product = float(state["mu_product"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        root = square.div(1 - beta2**step).sqrt_().add_(group["eps"])
        p.addcdiv_(grad, root, value=-rate * (1.0 - mu) / (1.0 - product))
        p.addcdiv_(mean, root, value=-rate * mu_next / (1.0 - product * mu_next))
