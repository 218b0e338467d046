"""Gradient clipping, by norm and by value."""

import math
import warnings

from rushlight import _C
from rushlight._grad_mode import no_grad

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "get_total_norm",
]  # fmt: skip


def _as_list(parameters):
    return [parameters] if isinstance(parameters, _C.Tensor) else list(parameters)


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all tensors together, as if they were one vector.

    Args:
        tensors: one or several.
        norm_type: the norm's exponent.
        error_if_nonfinite: raise a RuntimeError if the norm is nan or infinite.
        foreach: a hint, which changes nothing.

    Shape: tensors of any shapes give ().

    >>> torch.nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
    tensor(5.)
    """
    tensors = _as_list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return _C.tensor(0.0)
    if any(t.layout is not _C.strided for t in tensors):
        raise NotImplementedError(
            "Could not run 'aten::linalg_vector_norm' with arguments from the 'SparseCPU' backend."
            "\nthe norm of sparse gradients: clip the dense ones, or use sparse=False"
        )
    first = tensors[0].device
    with no_grad():
        whole = [t for t in tensors if not hasattr(t, "_local_tensor")]
        norms = [_C.norm(t.detach().reshape(-1), norm_type).to(first) for t in whole]
        if len(whole) < len(tensors):
            from rushlight.distributed.tensor._norm import total_norm

            shards = [t for t in tensors if hasattr(t, "_local_tensor")]
            total = shards[0]._replicated(total_norm(shards, norms, norm_type))
        else:
            total = _C.norm(_C.stack(norms), norm_type)
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales the gradients, in place, by max_norm / total_norm where that is below 1.

    Args:
        parameters: one or several, whose `grad` is scaled.
        max_norm: the wanted norm.
        total_norm: the norm now, from get_total_norm().
        foreach: a hint, which changes nothing.

    >>> w = torch.nn.Parameter(torch.zeros(2))
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> torch.nn.utils.clip_grads_with_norm_([w], 1.0, torch.tensor(5.0))
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    grads = [p.grad for p in _as_list(parameters) if p.grad is not None]
    if not grads:
        return
    if hasattr(total_norm, "_local_tensor"):  # a DTensor
        total_norm = total_norm.full_tensor()
    with no_grad():
        scale = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for grad in grads:
            grad.mul_(scale.to(grad.device))


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients, in place, so that their total norm is at most max_norm.

    Args:
        parameters: one or several, whose `grad` is scaled.
        max_norm: the largest norm.
        norm_type: the norm's exponent.
        error_if_nonfinite: raise a RuntimeError if the norm is nan or infinite.
        foreach: a hint, which changes nothing.

    Shape: parameters of any shapes give ().

    Returns: the norm before.

    >>> w = torch.nn.Parameter(torch.zeros(2))
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> torch.nn.utils.clip_grad_norm_([w], max_norm=1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    parameters = _as_list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The older name of `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Clamps every gradient element, in place, to [-clip_value, clip_value].

    Args:
        parameters: one or several, whose `grad` is clamped.
        clip_value: the bound.
        foreach: a hint, which changes nothing.

    Shape: any.

    >>> w = torch.nn.Parameter(torch.zeros(2))
    >>> w.grad = torch.tensor([3.0, -0.5])
    >>> torch.nn.utils.clip_grad_value_(w, 1.0)
    >>> w.grad
    tensor([ 1.0000, -0.5000])
    """
    clip_value = float(clip_value)
    with no_grad():
        for p in _as_list(parameters):
            if p.grad is not None:
                p.grad.clamp_(min=-clip_value, max=clip_value)
