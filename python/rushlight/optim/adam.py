"""Adam (Kingma and Ba, 2015)."""

from rushlight import _C
from rushlight.optim._functional import adam
from rushlight.optim._fused import FusedOptimizer
from rushlight.optim.optimizer import check_tensors, checked

__all__ = ["Adam", "adam"]


class Adam(FusedOptimizer):
    """Steps scaled by running means m of the gradient and v of its square (Kingma and Ba, 2015).

    m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; after t steps
    p = p - lr * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        lr: learning rate, a float or a 0-d tensor.
        betas: (b1, b2).
        eps: added to the root.
        weight_decay: added to the gradient times p.
        amsgrad: use the largest v so far (Reddi et al., 2018).
        maximize: go up the gradient instead of down.
        differentiable: autograd records the step.
        foreach, capturable, fused: accepted; a step is always one call over all parameters.
        decoupled_weight_decay: scale p by 1 - lr * weight_decay instead, as AdamW does.

    Shape: state: `exp_avg` (m), `exp_avg_sq` (v) and, with amsgrad, `max_exp_avg_sq` as the
        parameter; `step` ().

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.Adam([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.9
    """

    name = "Adam"
    moments = ("exp_avg", "exp_avg_sq")

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *,
        foreach=None, maximize=False, capturable=False, differentiable=False, fused=None,
        decoupled_weight_decay=False,
    ):  # fmt: skip
        checked(lr, "learning rate")
        checked(eps, "epsilon value")
        check_tensors(lr, betas, foreach, capturable)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _begin(self, group, p, state):
        super()._begin(group, p, state)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = _C.zeros_like(p)
