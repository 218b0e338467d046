"""RMSprop (Hinton's lecture 6a; centered: Graves, 2013)."""

from rushlight import _C
from rushlight.optim._functional import rmsprop
from rushlight.optim._fused import FusedOptimizer
from rushlight.optim.optimizer import checked

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(FusedOptimizer):
    """Steps divided by the root of the running mean v of squared gradients (Hinton, 2012).

    v = alpha v + (1 - alpha) g^2; p = p - lr * g / (sqrt(v) + eps).

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        lr: learning rate, a float or a 0-d tensor.
        alpha: how slowly v changes.
        eps: added to the root.
        momentum: the step is added to `momentum` times the last one.
        centered: subtract the squared mean of the gradient from v.
        weight_decay: added to the gradient times p.
        maximize: go up the gradient instead of down.
        differentiable: autograd records the step.
        foreach, capturable: accepted; a step is always one call over all parameters.

    Shape: state: `square_avg` (v), with momentum `momentum_buffer`, and centered `grad_avg`, as the
        parameter; `step` ().

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.RMSprop([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.0
    """

    name = "RMSprop"
    moments = ("square_avg",)

    def __init__(
        self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
        capturable=False, foreach=None, maximize=False, differentiable=False,
    ):  # fmt: skip
        checked(momentum, "momentum value")
        checked(alpha, "alpha value")
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group, p, state):
        super()._begin(group, p, state)
        if group["momentum"] > 0:
            state["momentum_buffer"] = _C.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = _C.zeros_like(p)
