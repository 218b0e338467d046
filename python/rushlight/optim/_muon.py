"""Muon (Jordan et al., 2024): momentum, orthogonalised."""

import math

from rushlight import _C
from rushlight.optim._composed import ComposedOptimizer
from rushlight.optim.optimizer import check_rate

__all__ = ["Muon"]

# Of the polynomial that each iteration applies to the singular values: https://kellerjordan.github.io/posts/muon/
_COEFFICIENTS = (3.4445, -4.7750, 2.0315)


class Muon(ComposedOptimizer):
    """Momentum B of the gradients, whose singular values are brought near 1 (Jordan et al., 2024).

    B = B + (1 - momentum) (g - B); p = p - lr * weight_decay * p - lr' * NS(B), where NS is
    `ns_steps` times X = a X + (b X X^T + c (X X^T)^2) X, from X = B / ||B||, in bfloat16.

    Args:
        params: matrices, (name, matrix) pairs, or dictionaries that each describe a group. Biases,
            embeddings and the last layer belong to another optimizer.
        lr: learning rate, a float or a 0-d tensor.
        weight_decay: decoupled, as AdamW's.
        momentum: how much of B remains.
        nesterov: g + momentum (B - g) in place of B.
        ns_coefficients: (a, b, c).
        eps: the least ||B||.
        ns_steps: how often NS is applied.
        adjust_lr_fn: what lr' is: "original", lr sqrt(max(1, rows / columns)), or
            "match_rms_adamw", 0.2 lr sqrt(max(rows, columns)), steps as long as AdamW's.

    Shape: parameters (m, n); state: `momentum_buffer` (B) as the parameter.

    >>> w = torch.nn.Parameter(torch.eye(2))
    >>> opt = torch.optim.Muon([w], lr=0.1, weight_decay=0.0)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> bool((w < torch.eye(2)).all())
    True
    """

    def __init__(
        self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
        ns_coefficients=_COEFFICIENTS, eps=1e-7, ns_steps=5, adjust_lr_fn=None,
    ):  # fmt: skip
        check_rate(lr)
        for value, name in (
            (lr, "Learning rate"),
            (momentum, "momentum"),
            (weight_decay, "weight decay"),
        ):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(
                f"Adjust learning rate function {adjust_lr_fn} is not supported\n"
                "adjust_lr_fn is 'original' or 'match_rms_adamw'"
            )
        if ns_steps >= 100:
            raise ValueError(
                "Number of steps must be less than 100 for computational efficiency\n"
                f"ns_steps is {ns_steps}"
            )
        if len(ns_coefficients) != 3:
            raise ValueError(
                f"Coefficients must be a tuple of exactly 3 values\ngot {ns_coefficients}"
            )
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults)

    def add_param_group(self, param_group):
        """Adds a group, `param_group`: a dictionary with "params" and the settings that differ."""
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            if p.dim() != 2:
                raise ValueError(
                    "Muon only supports 2D parameters whereas we found a parameter with size: "
                    f"{p.size()}"
                )

    def _step(self, group, p, grad):
        state = self.state[p]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = _C.zeros_like(grad)
        buffer, lr = state["momentum_buffer"], float(group["lr"])
        buffer.lerp_(grad, 1 - group["momentum"])
        update = grad.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer
        update = _orthogonalised(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        p.mul_(1 - lr * group["weight_decay"])
        p.add_(update, alpha=-lr * _ratio(group["adjust_lr_fn"], *p.shape))


def _orthogonalised(matrix, coefficients, steps, eps):
    a, b, c = coefficients
    is_tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.bfloat16()
    x = x.T if is_tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = _C.addmm(x, _C.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if is_tall else x


def _ratio(adjust_lr_fn, rows, columns):
    if adjust_lr_fn == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))
