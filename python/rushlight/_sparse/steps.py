"""Steps of SGD and Adagrad for sparse gradients; the other optimizers refuse them."""

from rushlight import _C, no_grad
from rushlight._sparse.conversion import at_entries
from rushlight._sparse.dispatch import rule
from rushlight._sparse.entries import coalesced
from rushlight._sparse.gradients import add_into
from rushlight._sparse.tensor import is_sparse, with_values


@rule("_optimizer_step")
def optimizer_step(name, params, grads, states, group):
    """A step of all parameters, of which some have a sparse gradient."""
    step = _STEPS.get(name)
    if step is None:
        more = ", please consider SparseAdam instead" if name == "Adam" else ""
        raise RuntimeError(f"{name} does not support sparse gradients{more}")
    states = states or [{} for _ in params]
    sparse = [is_sparse(grad) for grad in grads]
    with no_grad():
        for p, grad, state, is_one in zip(params, grads, states, sparse, strict=True):
            if is_one:
                step(p, grad, state, group)
    dense = [i for i, is_one in enumerate(sparse) if not is_one]
    if dense:
        params, grads, states = ([each[i] for i in dense] for each in (params, grads, states))
        _C._optimizer_step(name, params, grads, states if any(states) else [], group)


def _rate(group):
    lr = group["lr"]
    return lr.item() if isinstance(lr, _C.Tensor) else lr


def _sgd(p, grad, state, group):
    if group["maximize"]:
        grad = -grad
    if group["weight_decay"] != 0:
        grad = grad.add(p.detach(), alpha=group["weight_decay"])  # which torch refuses too
    momentum = group["momentum"]
    if momentum != 0:
        kept = state.get("momentum_buffer")
        if kept is None:
            kept = state["momentum_buffer"] = grad.detach().clone()
        else:
            kept.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
        grad = grad.add(kept, alpha=momentum) if group["nesterov"] else kept
    change = grad * -_rate(group)
    p.add_(change) if is_sparse(p) else add_into(p, change)


def _adagrad(p, grad, state, group):
    if group["weight_decay"] != 0:
        raise RuntimeError("weight_decay option is not compatible with sparse gradients")
    state["step"] += 1
    rate = _rate(group) / (1 + (state["step"].item() - 1) * group["lr_decay"])
    grad = coalesced(-grad if group["maximize"] else grad)
    add_into(state["sum"], with_values(grad, grad._v.pow(2)))
    root = at_entries(state["sum"], grad).sqrt_().add_(group["eps"])
    add_into(p, with_values(grad, grad._v / root * -rate))


_STEPS = {"SGD": _sgd, "Adagrad": _adagrad}
