"""Adagrad (Duchi et al., 2011)."""

from rushlight import _C
from rushlight.optim._functional import adagrad
from rushlight.optim._fused import FusedOptimizer
from rushlight.optim.optimizer import checked

__all__ = ["Adagrad", "adagrad"]


class Adagrad(FusedOptimizer):
    """Steps divided by the root of the sum s of all squared gradients (Duchi et al., 2011).

    s = s + g^2; p = p - lr / (1 + (t - 1) lr_decay) * g / (sqrt(s) + eps).

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        lr: learning rate, a float or a 0-d tensor.
        lr_decay: how the learning rate falls with the step t.
        weight_decay: added to the gradient times p.
        initial_accumulator_value: s before the first step.
        eps: added to the root.
        maximize: go up the gradient instead of down.
        differentiable: autograd records the step.
        foreach, fused: accepted; a step is always one call over all parameters.

    Shape: state: `sum` (s) as the parameter; `step` ().

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.Adagrad([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.9
    """

    name = "Adagrad"

    def __init__(
        self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0,
        eps=1e-10, foreach=None, *, maximize=False, differentiable=False, fused=None,
    ):  # fmt: skip
        checked(lr_decay, "lr_decay value")
        checked(initial_accumulator_value, "initial_accumulator_value value")
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self._begin_state(group, p, self.state[p])

    def _begin(self, group, p, state):
        super()._begin(group, p, state)
        value = group["initial_accumulator_value"]
        # of both parts, which are two numbers to the rule
        state["sum"] = _C.full_like(p, complex(value, value) if p.is_complex() else value)
