"""Resilient backpropagation (Riedmiller and Braun, 1993): only the gradient's sign counts."""

from rushlight import _C
from rushlight.optim._composed import ComposedOptimizer

__all__ = ["Rprop"]


class Rprop(ComposedOptimizer):
    """p = p - sign(g) * s; each s grows while its gradient keeps the sign, and shrinks if not.

    Args:
        etas: (factor to shrink by, factor to grow by).
        step_sizes: the least and the largest s.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.Rprop([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.9
    """

    moments = ("prev",)

    def __init__(
        self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False,
        foreach=None, maximize=False, differentiable=False,
    ):  # fmt: skip
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group, p, state):
        super()._begin(group, p, state)
        state["step_size"] = _C.full_like(p, float(group["lr"]))

    def _update(self, group, p, grad, state, step):
        shrink, grow = group["etas"]
        turn = grad.mul(state["prev"])
        factor = _C.where(turn > 0, grow, _C.where(turn < 0, shrink, 1.0)).to(p.dtype)
        size = state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(turn < 0, 0.0)
        p.addcmul_(grad.sign(), size, value=-1)
        state["prev"].copy_(grad)
