"""Adamax (Kingma and Ba, 2015)."""

from rushlight.optim._functional import adamax
from rushlight.optim._fused import FusedOptimizer

__all__ = ["Adamax", "adamax"]


class Adamax(FusedOptimizer):
    """Adam with the infinity norm u of past gradients in place of v (Kingma and Ba, 2015).

    m = b1 m + (1 - b1) g; u = max(b2 u, |g| + eps); p = p - lr / (1 - b1^t) * m / u.

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        lr: learning rate, a float or a 0-d tensor.
        betas: (b1, b2).
        eps: added to |g|.
        weight_decay: added to the gradient times p.
        maximize: go up the gradient instead of down.
        differentiable: autograd records the step.
        foreach, capturable: accepted; a step is always one call over all parameters.

    Shape: state: `exp_avg` (m) and `exp_inf` (u) as the parameter; `step` ().

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.Adamax([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.9
    """

    name = "Adamax"
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
