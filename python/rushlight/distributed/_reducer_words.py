"""The errors and warnings of DistributedDataParallel that need more than a line."""

from __future__ import annotations

NONE_UNUSED = (
    "find_unused_parameters=True was specified in DDP constructor, but did not find any unused "
    "parameters in the forward pass. This flag results in an extra traversal of the autograd graph "
    "every iteration, which can adversely affect performance. If your model indeed never has any "
    "unused parameters in the forward pass, consider turning this flag off."
)
ONLY_GRAD = (
    "torch.autograd.grad() went through the outputs of DistributedDataParallel: what it returns is "
    "of this rank alone. Only backward(), which adds to .grad, averages gradients over the ranks"
)
_UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This "
    "error indicates that "
)
_UNUSED = (
    "your module has parameters that were not used in producing loss. You can enable unused "
    "parameter detection by passing the keyword argument `find_unused_parameters=True` to "
    "`torch.nn.parallel.DistributedDataParallel`, and by making sure all `forward` function "
    "outputs participate in calculating loss."
)
_CHANGED = (
    "your training graph has changed in this iteration, e.g., one parameter is used in first "
    "iteration, but then got unused in the second iteration. this is not compatible with "
    "static_graph set to True."
)


def unfinished(names, rank, static):
    why = _CHANGED if static else _UNUSED
    return (
        f"{_UNFINISHED}{why}\nparameters without a gradient in the last backward, on rank {rank}: "
        f"{', '.join(names)}"
    )


def grown(name):
    return (
        "Your training graph has changed in this iteration, e.g., one parameter is unused in first "
        "iteration, but then got used in the second iteration. this is not compatible with "
        f"static_graph set to True.\nthe parameter is {name}"
    )


def ready_twice(name):
    return (
        "Expected to mark a variable ready only once. This error is caused by one of the following "
        "reasons: 1) Use of a module parameter outside the `forward` function. 2) Reused "
        "parameters in multiple reentrant backward passes, for example several `checkpoint` "
        f"functions around the same part of your model.\nparameter {name} got a gradient twice in "
        "one backward: checkpoint(..., use_reentrant=False), or, if the graph stays the same, "
        "DistributedDataParallel(..., static_graph=True)"
    )


def second_backward(name):
    return (
        f"the gradient of {name} grows after the gradients of this forward were averaged over the "
        "ranks, so that now it is this rank's alone: DistributedDataParallel averages once for "
        "each forward. Add the losses, and call backward() once"
    )


def moved(name, gradient, view):
    return (
        f"the gradient of {name} is {gradient.dtype} on {gradient.device}, and was "
        f"{view.dtype} on {view.device} when the module was wrapped: call .to(...) before "
        "DistributedDataParallel(model)"
    )


def no_future(value):
    return (
        "DDP communication hook's callback must return a torch.futures.Future object, but got "
        f"{type(value).__name__}"
    )


def no_tensor(value, buffer):
    got = type(value).__name__
    if isinstance(value, type(buffer)):
        got = f"one of shape {list(value.shape)}"
    hint = ", as of get_future().then(lambda f: f.value()[0])" if isinstance(value, list) else ""
    return (
        f"the future of a DDP communication hook must hold a tensor of {buffer.numel()} elements, "
        f"not {got}{hint}"
    )
