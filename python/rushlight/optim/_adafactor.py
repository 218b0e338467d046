"""Adafactor (Shazeer and Stern, 2018): second moments of rows and columns in place of a matrix."""

from rushlight import _C
from rushlight._type_info import finfo
from rushlight.optim._composed import ComposedOptimizer
from rushlight.optim.optimizer import check_rate

__all__ = ["Adafactor"]


class Adafactor(ComposedOptimizer):
    """Adam without momentum, whose second moments are a product of one vector for the rows and one
    for the columns (Shazeer and Stern, 2018).

    With u = g / sqrt(V), V from means of g^2 that decay by 1 - t^beta2_decay:
    p = p - max(eps2, rms(p)) min(lr, 1 / sqrt(t)) u / max(1, rms(u) / d).

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        lr: the largest relative step, a float or a 0-d tensor.
        beta2_decay: the exponent, at most 0.
        eps: (eps1, eps2): the least sqrt(V), the dtype's eps where it is None; the least rms(p).
        d: the largest rms(u).
        weight_decay: decoupled, as AdamW's.
        foreach: accepted; it changes nothing.
        maximize: go up the gradient instead of down.

    Shape: state: of a parameter (*, m, n) `row_var` (*, m, 1) and `col_var` (*, 1, n), of a vector
        `variance` as the parameter; `step` ().

    >>> w = torch.nn.Parameter(torch.ones(2, 2))
    >>> opt = torch.optim.Adafactor([w], lr=0.1)
    >>> (2 * w).sum().backward()
    >>> opt.step()
    >>> w.flatten()[:2]
    tensor([0.9000, 0.9000], grad_fn=<SliceBackward0>)
    """

    def __init__(
        self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *,
        foreach=None, maximize=False,
    ):  # fmt: skip
        check_rate(lr)
        for valid, words, value in (
            (lr >= 0, "Learning rate should be >= 0", lr),
            (beta2_decay <= 0, "beta2_decay should be <= 0", beta2_decay),
            (eps[0] is None or eps[0] >= 0, "epsilon1 should be >= 0", eps[0]),
            (eps[1] >= 0, "epsilon2 should be >= 0", eps[1]),
            (d >= 1, "Clipping threshold d should be >= 1", d),
            (weight_decay >= 0, "weight_decay should be >= 0", weight_decay),
        ):
            if not valid:
                raise ValueError(f"{words} but is: {value}")
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d,
            "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _step(self, group, p, grad):
        state = self.state[p]
        if not state:
            _begin(state, grad)
        _change(group, p, -grad if group["maximize"] else grad, state)


def _begin(state, grad):
    state["step"] = _C.tensor(0.0, dtype=_C.float32)
    if grad.dim() > 1:
        *batch, rows, columns = grad.shape
        state["row_var"] = grad.new_zeros((*batch, rows, 1))
        state["col_var"] = grad.new_zeros((*batch, 1, columns))
    else:
        state["variance"] = _C.zeros_like(grad)


def _change(group, p, grad, state):
    state["step"] += 1
    t, lr, (eps1, eps2) = float(state["step"]), float(group["lr"]), group["eps"]
    eps1 = finfo(p.dtype).eps if eps1 is None else eps1
    root = p.numel() ** 0.5
    rate = max(eps2, float(p.norm()) / root) * min(lr, 1 / t**0.5)
    if group["weight_decay"]:
        p.mul_(1 - lr * group["weight_decay"])
    update = _second_moment(state, grad, t ** group["beta2_decay"], eps1)
    update = update.clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
    p.add_(update, alpha=-rate / max(1.0, float(update.norm()) / (root * group["d"])))


def _second_moment(state, grad, weight, eps1):
    if "variance" in state:
        return state["variance"].lerp_(grad.square(), weight).clone()
    row, column = state["row_var"], state["col_var"]
    row.lerp_(grad.square().mean(-1, keepdim=True), weight)
    column.lerp_(grad.square().mean(-2, keepdim=True), weight)
    return (row @ column).div_(row.mean(-2, keepdim=True).clamp_(min=eps1))
