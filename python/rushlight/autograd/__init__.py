"""Gradients of recorded operations: backward, grad, Function, and checks against differences."""

from rushlight import _C
from rushlight._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]


def backward(
    tensors,
    grad_tensors=None,
    retain_graph=None,
    create_graph=False,
    grad_variables=None,
    inputs=None,
):
    """Computes the gradients of the leaves that `tensors` were made from, and adds them to .grad.

    Args:
        tensors: a tensor or a sequence of tensors.
        grad_tensors: a gradient for each; may be left out for single numbers.
        retain_graph: keep what backward needs, to run again.
        create_graph: record the backward itself.
        inputs: only these leaves get gradients.

    Raises:
        RuntimeError: if nothing was recorded.

    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> torch.autograd.backward(x * x)
    >>> x.grad
    tensor(4.)
    """
    if grad_tensors is None:
        grad_tensors = grad_variables
    keep = create_graph if retain_graph is None else retain_graph
    _C._backward(tensors, grad_tensors, keep, create_graph, inputs)


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
):
    """The gradients of `outputs` with respect to `inputs`, without touching .grad.

    Args:
        outputs: a tensor or a sequence of tensors.
        inputs: what to differentiate with respect to.
        grad_outputs: a gradient for each output; may be left out for single numbers.
        retain_graph: keep what backward needs, to run again.
        create_graph: record the backward itself, for second derivatives.
        allow_unused: None instead of an error for inputs that were not used.
        materialize_grads: zeros instead of None for them.

    Raises:
        RuntimeError: if nothing was recorded, or an input was not used.

    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> torch.autograd.grad(x * x, x)
    (tensor(4.),)
    """
    if is_grads_batched:
        raise NotImplementedError("grad(is_grads_batched=True) is not in rushlight")
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    keep = create_graph if retain_graph is None else retain_graph
    return _C._grad(
        outputs, inputs, grad_outputs, keep, create_graph, bool(allow_unused), materialize_grads
    )


_SUBMODULES = (
    "anomaly_mode", "forward_ad", "function", "functional", "grad_mode", "graph", "profiler",
    "profiler_util",
    "variable",
)  # fmt: skip
_LAZY = {
    "Function": "function",
    "FunctionCtx": "function",
    "Variable": "variable",
    "gradcheck": "gradcheck",
    "gradgradcheck": "gradcheck",
    "detect_anomaly": "anomaly_mode",
    "set_detect_anomaly": "anomaly_mode",
}


def __getattr__(name):
    import importlib

    if name in _SUBMODULES:
        return importlib.import_module("rushlight.autograd." + name)
    if name in _LAZY:
        module = importlib.import_module("rushlight.autograd." + _LAZY[name])
        value = getattr(module, name)
        globals()[name] = value
        return value
    raise AttributeError(f"torch.autograd.{name} is not in rushlight", name=name)
