"""backward() and grad(): the gradients of what was recorded."""

import warnings

from rushlight import _C


def _taken_over(*arguments):
    """What of the tensors given has `__torch_function__`, or a mode may take over; else ()."""
    given = []
    for each in arguments:
        each = list(each.values()) if type(each) is dict else each
        given.extend(each if isinstance(each, (list, tuple)) else (each,))
    return tuple(given) if _C._has_torch_function_variadic(*given) else ()


def backward(
    tensors,
    grad_tensors=None,
    retain_graph=None,
    create_graph=False,
    grad_variables=None,
    inputs=None,
):
    """Computes the gradients of the leaves of the graph of `tensors`, and adds them to their .grad.

    Args:
        tensors: a tensor or a sequence of tensors.
        grad_tensors: a gradient for each; None for scalars.
        retain_graph: keep what backward needs, to run again; create_graph if None.
        create_graph: record the backward itself, for second derivatives.
        grad_variables: older name of grad_tensors.
        inputs: only these tensors get gradients, and keep them, leaves or not.

    Raises:
        RuntimeError: if nothing was recorded.

    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> torch.autograd.backward(x * x)
    >>> x.grad
    tensor(4.)
    """
    if grad_tensors is None:
        grad_tensors = grad_variables
    if relevant := _taken_over(tensors):
        from rushlight.overrides import handle_torch_function

        return handle_torch_function(
            backward, relevant, tensors, grad_tensors=grad_tensors, retain_graph=retain_graph,
            create_graph=create_graph, inputs=inputs,
        )  # fmt: skip
    keep = create_graph if retain_graph is None else retain_graph
    return _C._backward(tensors, grad_tensors, keep, create_graph, inputs)


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
        inputs: what to differentiate with respect to; a dict names them, and the results.
        grad_outputs: a gradient for each output; None for scalars.
        retain_graph: keep what backward needs, to run again; create_graph if None.
        create_graph: record the backward itself, for second derivatives.
        only_inputs: deprecated; False warns and changes nothing.
        allow_unused: None instead of an error for inputs that were not used.
        is_grads_batched: each of grad_outputs holds several gradients in a first dimension more,
            and so do the results.
        materialize_grads: zeros instead of None for inputs that were not used.

    Shape: a gradient has the shape of its input, with the batch's size in front if
        is_grads_batched.

    Raises:
        RuntimeError: if nothing was recorded, or an input was not used.

    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> torch.autograd.grad(x * x, x)
    (tensor(4.),)
    """
    if relevant := _taken_over(outputs, inputs):
        from rushlight.overrides import handle_torch_function

        return handle_torch_function(
            grad, relevant, outputs, inputs, grad_outputs=grad_outputs, retain_graph=retain_graph,
            create_graph=create_graph, only_inputs=only_inputs, allow_unused=allow_unused,
            is_grads_batched=is_grads_batched, materialize_grads=materialize_grads,
        )  # fmt: skip
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    keep = create_graph if retain_graph is None else retain_graph
    found = _C._grad(
        outputs, inputs, grad_outputs, keep, create_graph, bool(allow_unused), materialize_grads,
        is_grads_batched,
    )  # fmt: skip
    return dict(zip(inputs, found, strict=True)) if type(inputs) is dict else found


def _rows_of(output, inputs, create_graph, chunk_size=None):
    """The gradients of each element of `output`, stacked: one list entry for each input, None
    where nothing flows. The graph stays.
    """
    count = output.numel()
    weights = _C.eye(count, dtype=output.dtype, device=output.device).view(count, *output.shape)
    step = chunk_size or max(count, 1)
    parts = [
        grad(
            output, inputs, weights.narrow(0, i, min(step, count - i)), retain_graph=True,
            create_graph=create_graph, allow_unused=True, is_grads_batched=True,
        )
        for i in range(0, max(count, 1), step)
    ]  # fmt: skip
    if len(parts) == 1:
        return list(parts[0])
    return [None if rows[0] is None else _C.cat(rows) for rows in zip(*parts, strict=True)]
