"""SparseAdam: Adam for sparse gradients, whose moments change where the gradient has entries."""

import math

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.optim.optimizer import Optimizer, _to_scalar, check_rate, evaluate

__all__ = ["SparseAdam", "sparse_adam"]


class SparseAdam(Optimizer):
    """Adam (Kingma & Ba, 2014) for sparse gradients: rows without a gradient keep their moments.

    m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
    p = p - lr sqrt(1 - b2^t) / (1 - b1^t) * m / (sqrt(v) + eps), where g has entries.

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries that each describe a group.
        lr: learning rate, a float or a 0-d tensor.
        betas: b1 and b2.
        eps: added to the root.
        maximize: go up the gradient instead of down.

    Shape: state: `exp_avg` (m) and `exp_avg_sq` (v) as the parameter; `step`, an int.

    Raises:
        RuntimeError: by step(), for a dense gradient.

    >>> table = torch.nn.Embedding(3, 1, sparse=True)
    >>> opt = torch.optim.SparseAdam(table.parameters(), lr=0.1)
    >>> table(torch.tensor([1])).sum().backward()
    >>> opt.step()
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        check_rate(lr)
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i in (0, 1):
            if not 0.0 <= betas[i] < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")
        defaults = {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize}
        super().__init__(params, defaults)
        places = [
            ([i, k], p)
            for i, group in enumerate(self.param_groups)
            for k, p in enumerate(group["params"])
        ]
        if found := [place for place, p in places if p.is_complex()]:
            raise ValueError(
                f"Complex params at indices {found}: SparseAdam does not support complex parameters"
            )
        if found := [place for place, p in places if p.is_sparse]:
            raise ValueError(
                f"Sparse params at indices {found}: SparseAdam requires dense parameter tensors"
            )

    def step(self, closure=None):
        """One step; returns what `closure`, which computes the loss again, returned."""
        loss = None if closure is None else evaluate(closure)
        for group in self.param_groups:
            params, grads = self._with_grad(group)
            states = []
            for p, grad in zip(params, grads, strict=True):
                if not grad.is_sparse:
                    raise RuntimeError(
                        "SparseAdam does not support dense gradients, please consider Adam instead"
                    )
                state = self.state[p]
                if not state:
                    state["step"] = 0
                    state["exp_avg"], state["exp_avg_sq"] = _C.zeros_like(p), _C.zeros_like(p)
                state["step"] += 1
                states.append(state)
            beta1, beta2 = group["betas"]
            with no_grad():
                sparse_adam(
                    params, grads, [s["exp_avg"] for s in states],
                    [s["exp_avg_sq"] for s in states], [s["step"] for s in states],
                    eps=group["eps"], beta1=beta1, beta2=beta2, lr=_to_scalar(group["lr"]),
                    maximize=group.get("maximize", False),
                )  # fmt: skip
        return loss


def sparse_adam(
    params, grads, exp_avgs, exp_avg_sqs, state_steps, *, eps, beta1, beta2, lr, maximize
):
    """One step of SparseAdam; see there.

    Args:
        params: the parameters, changed in place.
        grads: their sparse gradients.
        exp_avgs, exp_avg_sqs: the moments, changed in place.
        state_steps: which step it is for each, from 1.
        eps, beta1, beta2, lr, maximize: the settings.
    """
    from rushlight._sparse.conversion import at_entries
    from rushlight._sparse.entries import coalesced
    from rushlight._sparse.gradients import add_into
    from rushlight._sparse.tensor import with_values

    for p, grad, mean, square, step in zip(
        params, grads, exp_avgs, exp_avg_sqs, state_steps, strict=True
    ):
        grad = coalesced(-grad if maximize else grad)
        values = grad._v
        if not values.numel():
            continue
        old_mean, old_square = at_entries(mean, grad), at_entries(square, grad)
        change = (values - old_mean).mul_(1 - beta1)
        add_into(mean, with_values(grad, change))
        change_of_square = values.pow(2).sub_(old_square).mul_(1 - beta2)
        add_into(square, with_values(grad, change_of_square))
        root = change_of_square.add_(old_square).sqrt_().add_(eps)
        size = lr * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        add_into(p, with_values(grad, -size * change.add_(old_mean).div_(root)))
