"""RAdam (Liu et al., 2020)."""

from rushlight.optim._functional import radam
from rushlight.optim._fused import FusedOptimizer

__all__ = ["RAdam", "radam"]


class RAdam(FusedOptimizer):
    """Adam that adapts its step only once the variance of v can be trusted (Liu et al., 2020).

    With L = 2 / (1 - b2) - 1, l = L - 2 t b2^t / (1 - b2^t), Adam's m and v, and
    M = m / (1 - b1^t): where l > 5,
    p = p - lr M sqrt(1 - b2^t) / (sqrt(v) + eps)
    * sqrt((l - 4) (l - 2) L / ((L - 4) (L - 2) l)), and before p = p - lr M.

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        lr: learning rate, a float or a 0-d tensor.
        betas: (b1, b2).
        eps: added to the root.
        weight_decay: added to the gradient times p.
        decoupled_weight_decay: scale p by 1 - lr * weight_decay instead.
        maximize: go up the gradient instead of down.
        differentiable: autograd records the step.
        foreach, capturable: accepted; a step is always one call over all parameters.

    Shape: state: `exp_avg` (m) and `exp_avg_sq` (v) as the parameter; `step` ().

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.RAdam([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.8
    """

    name = "RAdam"
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
