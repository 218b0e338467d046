"""Jacobians, Hessians and products with them, from recorded gradients."""

from rushlight import _C
from rushlight.autograd import grad


def _as_leaves(inputs, create_graph):
    single = isinstance(inputs, _C.Tensor)
    values = (inputs,) if single else tuple(inputs)
    if create_graph:
        return single, tuple(x.view_as(x) if x.requires_grad else x.detach() for x in values)
    return single, tuple(x.detach().requires_grad_() for x in values)


def _jacobian_of(output, values, create_graph):
    rows = [[] for _ in values]
    flat = output.reshape(-1)
    for i in range(flat.numel()):
        found = grad(
            flat[i], values, retain_graph=True, create_graph=create_graph, allow_unused=True
        )
        for row, g, x in zip(rows, found, values, strict=True):
            row.append(_C.zeros_like(x) if g is None else g)
    shape = tuple(output.shape)
    return tuple(
        _C.stack(row).view(*shape, *x.shape) if row else _C.zeros(*shape, *x.shape)
        for row, x in zip(rows, values, strict=True)
    )


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy=None):
    """The derivative of every output element with respect to every input element.

    Args:
        func: a function of tensors that returns a tensor or a tuple.
        inputs: a tensor or a tuple.
        create_graph: record the result, for further derivatives.

    >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    single, values = _as_leaves(inputs, create_graph)
    outputs = func(*values)
    one = isinstance(outputs, _C.Tensor)
    rows = [_jacobian_of(out, values, create_graph) for out in ((outputs,) if one else outputs)]
    rows = [row[0] if single else row for row in rows]
    return rows[0] if one else tuple(rows)


def hessian(
    func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy=None
):
    """The second derivatives of a function with one number as its value.

    >>> torch.autograd.functional.hessian(lambda x: (x * x * x).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    single, values = _as_leaves(inputs, create_graph)
    output = func(*values)
    first = grad(output, values, create_graph=True, allow_unused=True)
    rows = []
    for g, x in zip(first, values, strict=True):
        g = _C.zeros_like(x) if g is None else g
        if g.requires_grad:
            rows.append(_jacobian_of(g, values, create_graph))
        else:
            rows.append(tuple(_C.zeros(*x.shape, *y.shape) for y in values))
    return rows[0][0] if single else tuple(rows)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The value of `func`, and the product of v with its Jacobian."""
    single, values = _as_leaves(inputs, create_graph)
    outputs = func(*values)
    found = grad(outputs, values, v, create_graph=create_graph, allow_unused=True)
    found = tuple(_C.zeros_like(x) if g is None else g for g, x in zip(found, values, strict=True))
    return outputs, found[0] if single else found
