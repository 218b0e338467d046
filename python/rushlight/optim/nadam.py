"""NAdam (Dozat, 2016)."""

from rushlight.optim._functional import nadam
from rushlight.optim._fused import FusedOptimizer
from rushlight.optim.optimizer import checked

__all__ = ["NAdam", "nadam"]


class NAdam(FusedOptimizer):
    """Adam with Nesterov's momentum: the step mixes the gradient and the coming mean (Dozat, 2016).

    With mu_t = b1 (1 - 0.96^(t momentum_decay) / 2), their product P_t, Adam's m and v, and
    r = sqrt(v / (1 - b2^t)) + eps:
    p = p - lr ((1 - mu_t) / (1 - P_t) * g + mu_(t + 1) / (1 - P_(t + 1)) * m) / r.

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        lr: learning rate, a float or a 0-d tensor.
        betas: (b1, b2).
        eps: added to the root.
        weight_decay: added to the gradient times p.
        momentum_decay: how the momentum approaches b1.
        decoupled_weight_decay: scale p by 1 - lr * weight_decay instead.
        maximize: go up the gradient instead of down.
        differentiable: autograd records the step.
        foreach, capturable: accepted; a step is always one call over all parameters.

    Shape: state: `exp_avg` (m) and `exp_avg_sq` (v) as the parameter; `step` and `mu_product` ().

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.NAdam([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> w.item() < 1
    True
    """

    name = "NAdam"
    scalars = ("mu_product",)
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
