"""Adagrad (Duchi et al., 2011)."""

from rushlight import _C
from rushlight.optim._composed import ComposedOptimizer, new_step
from rushlight.optim.optimizer import check_modes, checked

__all__ = ["Adagrad"]


class Adagrad(ComposedOptimizer):
    """s = s + g^2; p = p - lr / (1 + (t - 1) lr_decay) * g / (sqrt(s) + eps).

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.Adagrad([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.9
    """

    def __init__(
        self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0,
        eps=1e-10, foreach=None, *, maximize=False, differentiable=False, fused=None,
    ):  # fmt: skip
        checked(lr, "learning rate")
        checked(lr_decay, "lr_decay value")
        checked(weight_decay, "weight_decay value")
        checked(initial_accumulator_value, "initial_accumulator_value value")
        checked(eps, "epsilon value")
        check_modes(foreach, fused, differentiable)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self._begin(group, p, self.state[p])

    def _begin(self, group, p, state):
        state["step"] = new_step()
        state["sum"] = _C.full_like(p, group["initial_accumulator_value"])

    def _update(self, group, p, grad, state, step):
        rate = float(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        state["sum"].addcmul_(grad, grad, value=1)
        p.addcdiv_(grad, state["sum"].sqrt().add_(group["eps"]), value=-rate)
