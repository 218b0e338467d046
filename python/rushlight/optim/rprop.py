"""Resilient backpropagation (Riedmiller and Braun, 1993): only the gradient's sign counts."""

from rushlight import _C
from rushlight.optim._functional import rprop
from rushlight.optim._fused import FusedOptimizer

__all__ = ["Rprop", "rprop"]


class Rprop(FusedOptimizer):
    """Steps by sizes s of their own: each grows while its gradient keeps the sign, else shrinks
    (Riedmiller and Braun, 1993).

    p = p - sign(g) * s; where the sign has changed, g counts as 0 once.

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        lr: the first s.
        etas: (factor to shrink by, factor to grow by).
        step_sizes: the least and the largest s.
        maximize: go up the gradient instead of down.
        differentiable: autograd records the step.
        foreach, capturable: accepted; a step is always one call over all parameters.

    Shape: state: `prev` (the last gradient) and `step_size` (s) as the parameter; `step` ().

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.Rprop([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.9
    """

    name = "Rprop"
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
        lr = float(group["lr"])  # of each part of a complex number
        state["step_size"] = _C.full_like(p, complex(lr, lr) if p.is_complex() else lr)
