"""Stochastic gradient descent."""

from rushlight.optim._functional import sgd
from rushlight.optim._fused import FusedOptimizer
from rushlight.optim.optimizer import checked

__all__ = ["SGD", "sgd"]


class SGD(FusedOptimizer):
    """Gradient descent with momentum (Sutskever et al., 2013).

    b = momentum * b + (1 - dampening) * g; p = p - lr * b, or with Nesterov's momentum
    p = p - lr * (g + momentum * b). The first b is g; g includes weight_decay * p.

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        lr: learning rate, a float or a 0-d tensor.
        momentum: how much of b stays.
        dampening: how much of the gradient b does not take.
        weight_decay: added to the gradient times p.
        nesterov: Nesterov's momentum, which needs dampening=0.
        maximize: go up the gradient instead of down.
        differentiable: autograd records the step.
        foreach, fused: accepted; a step is always one call over all parameters.

    Shape: state: `momentum_buffer` as the parameter, with momentum.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.SGD([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> w.item()
    0.800000011920929
    """

    name = "SGD"

    def __init__(
        self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *,
        maximize=False, foreach=None, differentiable=False, fused=None,
    ):  # fmt: skip
        def valid(value):
            return not value < 0.0  # torch takes NaN here

        checked(lr, "learning rate", valid)
        checked(momentum, "momentum value", valid)
        checked(weight_decay, "weight_decay value", valid)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _states(self, group, params):
        # the first step makes the momentum
        return [self.state[p] for p in params] if group["momentum"] != 0 else []
