"""Stochastic gradient descent."""

from rushlight import _C
from rushlight.optim.optimizer import Optimizer, check_modes, check_rate, checked, evaluate

__all__ = ["SGD"]


class SGD(Optimizer):
    """Gradient descent with momentum (Sutskever et al., 2013).

    b = momentum * b + (1 - dampening) * g; p = p - lr * b, or with Nesterov's momentum
    p = p - lr * (g + momentum * b). The first b is g; g includes weight_decay * p.

    Args:
        maximize: go up the gradient instead of down.
        foreach, fused: accepted; a step is always one call over all parameters.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.SGD([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> w.item()
    0.800000011920929
    """

    def __init__(
        self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *,
        maximize=False, foreach=None, differentiable=False, fused=None,
    ):  # fmt: skip
        check_rate(lr)
        checked(lr, "learning rate", not lr < 0.0)
        checked(momentum, "momentum value", not momentum < 0.0)
        checked(weight_decay, "weight_decay value", not weight_decay < 0.0)
        check_modes(foreach, fused, differentiable)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("nesterov", False)
            group.setdefault("maximize", False)
            group.setdefault("foreach", None)
            group.setdefault("differentiable", False)
            group.setdefault("fused", None)

    def step(self, closure=None):
        """One step; returns what `closure`, which computes the loss again, returned."""
        loss = None if closure is None else evaluate(closure)
        for group in self.param_groups:
            params, grads = self._with_grad(group)
            if params:
                self._update(group, params, grads)
        return loss

    def _update(self, group, params, grads):
        momentum = group["momentum"]
        states, buffers = [], []
        if momentum != 0:
            states = [self.state[p] for p in params]
            buffers = [s.get("momentum_buffer") for s in states]
        fresh = _C.sgd_step(
            params, grads, buffers, float(group["lr"]), float(momentum),
            float(group["dampening"]), float(group["weight_decay"]), group["nesterov"],
            group["maximize"],
        )  # fmt: skip
        for i, buffer in fresh:
            states[i]["momentum_buffer"] = buffer
