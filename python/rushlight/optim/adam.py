"""Adam (Kingma and Ba, 2015)."""

from rushlight import _C
from rushlight.optim.optimizer import (
    Optimizer,
    check_betas,
    check_modes,
    check_tensors,
    checked,
    evaluate,
)

__all__ = ["Adam"]


class Adam(Optimizer):
    """Steps scaled by running means m of the gradient and v of its square.

    m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; after t steps
    p = p - lr * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).

    Args:
        betas: (b1, b2).
        weight_decay: added to the gradient times p; with `decoupled_weight_decay`, p is scaled
            by 1 - lr * weight_decay instead (AdamW).
        amsgrad: use the largest v so far (Reddi et al., 2018).
        maximize: go up the gradient instead of down.
        foreach, capturable, fused: accepted; a step is always one call over all parameters.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.Adam([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> round(w.item(), 4)
    0.9
    """

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *,
        foreach=None, maximize=False, capturable=False, differentiable=False, fused=None,
        decoupled_weight_decay=False,
    ):  # fmt: skip
        checked(lr, "learning rate")
        checked(eps, "epsilon value")
        check_tensors(lr, betas, foreach, capturable)
        check_betas(betas)
        checked(weight_decay, "weight_decay value")
        check_modes(foreach, fused, differentiable)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("amsgrad", False)
            group.setdefault("maximize", False)
            group.setdefault("foreach", None)
            group.setdefault("capturable", False)
            group.setdefault("differentiable", False)
            group.setdefault("decoupled_weight_decay", False)
            group.setdefault("fused", None)
            for p in group["params"]:
                step = self.state.get(p, {}).get("step")
                if step is not None and not isinstance(step, _C.Tensor):
                    self.state[p]["step"] = _C.tensor(float(step), dtype=_C.float32)

    def step(self, closure=None):
        """One step; returns what `closure`, which computes the loss again, returned."""
        loss = None if closure is None else evaluate(closure)
        for group in self.param_groups:
            params, grads = self._with_grad(group)
            if params:
                self._update(group, params, grads)
        return loss

    def _update(self, group, params, grads):
        amsgrad = group["amsgrad"]
        states = [self.state[p] for p in params]
        for p, state in zip(params, states, strict=False):
            if not state:
                state["step"] = _C.tensor(0.0, dtype=_C.float32)
                state["exp_avg"] = _C.zeros_like(p)
                state["exp_avg_sq"] = _C.zeros_like(p)
                if amsgrad:
                    state["max_exp_avg_sq"] = _C.zeros_like(p)
        beta1, beta2 = group["betas"]
        _C.adam_step(
            params,
            grads,
            [s["exp_avg"] for s in states],
            [s["exp_avg_sq"] for s in states],
            [s["max_exp_avg_sq"] for s in states] if amsgrad else [],
            [s["step"] for s in states],
            float(group["lr"]),
            float(beta1),
            float(beta2),
            float(group["eps"]),
            float(group["weight_decay"]),
            group["decoupled_weight_decay"],
            group["maximize"],
        )
