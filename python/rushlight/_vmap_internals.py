"""torch._vmap_internals: vmap as it was before torch.func, which libraries call as `_vmap` to take
many vectors through one backward pass.
"""

import functools
import warnings

from rushlight import _C
from rushlight._func.vmap import vmap as _batched

__all__ = ["vmap"]


def _name(func):
    return getattr(func, "__name__", repr(func))


def _checked_dims(out_dims, func):
    ints = isinstance(out_dims, tuple) and all(isinstance(d, int) for d in out_dims)
    if not ints and not isinstance(out_dims, int):
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int or a tuple "
            "of int representing where in the outputs the vmapped dimension should appear."
        )


def _checked_outputs(outputs, func):
    if isinstance(outputs, _C.Tensor):
        return
    says = f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type "
    if not isinstance(outputs, tuple):
        raise ValueError(f"{says}{type(outputs)} as the return.")
    for i, output in enumerate(outputs):
        if not isinstance(output, _C.Tensor):
            raise ValueError(f"{says}{type(output)} for return {i}.")


def _vmap(func, in_dims=0, out_dims=0, allow_none_pass_through=False):
    """The function of a batch; func gives a tensor or a tuple of tensors, and of None if that may
    pass through, as `autograd.grad` gives for what is not used.
    """

    @functools.wraps(func)
    def wrapped(*args):
        _checked_dims(out_dims, func)
        places = []  # of the tensors among what func returns

        def tensors(*elements):
            outputs = func(*elements)
            if not allow_none_pass_through:
                _checked_outputs(outputs, func)
            if isinstance(outputs, _C.Tensor):
                return outputs
            places[:] = [output is not None for output in outputs]
            return tuple(output for output in outputs if output is not None)

        tensors.__name__ = _name(func)
        found = _batched(tensors, in_dims, out_dims)(*args)
        if isinstance(found, _C.Tensor):
            return found
        found = iter(found)
        return tuple(next(found) if there else None for there in places)

    return wrapped


def vmap(func, in_dims=0, out_dims=0):
    """The same, without None; torch.vmap does more.

    Args:
        func: takes tensors and gives a tensor or a tuple of tensors.
        in_dims: the batch's dimension in each argument, or None.
        out_dims: the batch's dimension in each result.
    """
    warnings.warn(
        "Please use `torch.vmap` instead of `torch._vmap_internals.vmap`.",
        FutureWarning,
        stacklevel=2,
    )
    return _vmap(func, in_dims, out_dims)
