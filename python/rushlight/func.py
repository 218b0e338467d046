"""torch.func: functions made from functions - gradients, Jacobians, batches - and modules called
with other parameters.

Gradients come from the recorded graph. vmap() calls the function once, with tensors that carry the
batch through each operation (_func/batched.py).
"""

import functools

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
from rushlight._func.rearrange import rearrange
from rushlight._func.vmap import stack_module_state, vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
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
    if isinstance(dicts, dict):  # which gets the tensors that the module assigns
        return stateless.functional_call(
            module, dicts, args, kwargs, tie_weights=tie_weights, strict=strict
        )
    if not isinstance(dicts, list | tuple):
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


def functionalize(func, *, remove="mutations"):
    """A function with the results of `func`, and with the writes to its arguments. In torch it
    is traced without operations in place; here no tracer needs that, so it is `func` itself.

    Args:
        func: a function of tensors.
        remove: "mutations" or "mutations_and_views".

    Shape: of the results, that of func's.

    Raises:
        RuntimeError: for another word.

    >>> torch.func.functionalize(lambda x: x.clone().add_(1))(torch.zeros(2))
    tensor([1., 1.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for remove="
            f"{remove}. Valid options are:\n     remove='mutations': all inplace and out= "
            "operators will be removed from the program, and replaced with their out-of-place "
            "equivalents.\n     remove='mutations_and_views': In addition to the above, all "
            "aliasing operators {view} will be replaced with their non-aliasing counterparts, "
            "{view}_copy."
        )
    return functools.wraps(func, updated=())(lambda *args, **kwargs: func(*args, **kwargs))


def replace_all_batch_norm_modules_(root):
    """Makes each BatchNorm within a module keep no running statistics, in place, so that vmap()
    can call it.

    Args:
        root: the module.

    Returns:
        root.

    >>> torch.func.replace_all_batch_norm_modules_(torch.nn.BatchNorm1d(2)).running_mean is None
    True
    """
    from rushlight.nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def debug_unwrap(tensor, *, recurse=True):
    """The tensor within one that a transform has made; any other tensor is returned as it is.

    Args:
        tensor: a tensor.
        recurse: through every transform, not one.

    Shape: tensor (*) with the dimensions of the batches of vmap() in front.

    >>> torch.func.debug_unwrap(torch.ones(1))
    tensor([1.])
    """
    from rushlight._func.batched import Batched

    while isinstance(tensor, Batched):
        tensor = tensor._value
        if not recurse:
            break
    return tensor


def __getattr__(name):
    raise AttributeError(_table.absent(f"torch.func.{name}"), name=name)
