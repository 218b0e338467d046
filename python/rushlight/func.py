"""torch.func: functions made from functions - gradients, Jacobians, batches - and modules called
with other parameters.

Gradients come from the recorded graph. vmap() calls the function once, with tensors that carry the
batch through each operation (_func/batched.py).
"""

from rushlight import _table
from rushlight._func.derivatives import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)
from rushlight._func.vmap import stack_module_state, vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]


def functional_call(
    module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """Calls a module with the given tensors instead of its parameters and buffers.

    Args:
        module: what is called.
        parameter_and_buffer_dicts: tensors by name, in one dict or a list of several.
        args: the arguments of the call, a tuple or one argument.
        kwargs: the keyword arguments of the call.
        tie_weights: a tensor given for one name of a shared parameter serves its other names too.
        strict: refuse missing and unexpected names.

    Shape: each tensor has the shape of the parameter or buffer that it replaces.

    >>> layer = torch.nn.Linear(1, 1)
    >>> torch.func.functional_call(layer, {"bias": torch.ones(1)}, torch.zeros(1))
    tensor([1.], grad_fn=<ViewBackward0>)
    """
    from rushlight.nn.utils import stateless

    dicts = parameter_and_buffer_dicts
    if isinstance(dicts, dict):
        dicts = [dicts]
    elif not isinstance(dicts, list | tuple):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    names = [name for given in dicts for name in given]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    merged = {name: tensor for given in dicts for name, tensor in given.items()}
    return stateless.functional_call(
        module, merged, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def __getattr__(name):
    raise AttributeError(_table.absent(f"torch.func.{name}"), name=name)
