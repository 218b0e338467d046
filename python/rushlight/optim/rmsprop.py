"""RMSprop (Hinton's lecture 6a; centered: Graves, 2013)."""

from rushlight import _C
from rushlight.optim._composed import ComposedOptimizer, new_step
from rushlight.optim.optimizer import check_modes, checked

__all__ = ["RMSprop"]


class RMSprop(ComposedOptimizer):
    """v = alpha v + (1 - alpha) g^2; p = p - lr * g / (sqrt(v) + eps).

    Args:
        momentum: the step is added to `momentum` times the last one.
        centered: subtract the squared mean of the gradient from v.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.RMSprop([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.0
    """

    def __init__(
        self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
        capturable=False, foreach=None, maximize=False, differentiable=False,
    ):  # fmt: skip
        checked(lr, "learning rate")
        checked(eps, "epsilon value")
        checked(momentum, "momentum value")
        checked(weight_decay, "weight_decay value")
        checked(alpha, "alpha value")
        check_modes(foreach, None, differentiable)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group, p, state):
        state["step"] = new_step()
        state["square_avg"] = _C.zeros_like(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = _C.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = _C.zeros_like(p)

    def _update(self, group, p, grad, state, step):
        alpha, rate = group["alpha"], float(group["lr"])
        square = state["square_avg"]
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            root = square.addcmul(mean, mean, value=-1).sqrt_()
        else:
            root = square.sqrt()
        root = root.add_(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.mul_(group["momentum"]).addcdiv_(grad, root)
            p.add_(buffer, alpha=-rate)
        else:
            p.addcdiv_(grad, root, value=-rate)
