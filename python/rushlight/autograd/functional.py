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
        _C.stack(row).view(*shape, *x.shape) if row else x.new_zeros(*shape, *x.shape)
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
            rows.append(tuple(y.new_zeros(*x.shape, *y.shape) for y in values))
    return rows[0][0] if single else tuple(rows)


def _products(name, func, inputs, v, create_graph):
    single, values = _as_leaves(inputs, create_graph)
    outputs = func(*values)
    if v is None and (not isinstance(outputs, _C.Tensor) or outputs.numel() != 1):
        raise RuntimeError(
            "The vector v can only be None if the user-provided function returns a single Tensor "
            f"with a single element.\n{name}(): give v, of the function's shape"
        )
    return single, values, outputs


def _shown(value, create_graph):
    if isinstance(value, _C.Tensor):
        return value if create_graph else value.detach()
    return tuple(_shown(each, create_graph) for each in value)


def _filled(found, like):
    return tuple(_C.zeros_like(x) if g is None else g for g, x in zip(found, like, strict=True))


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The value of `func`, and the product of v with its Jacobian.

    >>> torch.autograd.functional.vjp(torch.sin, torch.zeros(2), torch.ones(2))
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    single, values, outputs = _products("vjp", func, inputs, v, create_graph)
    found = _filled(grad(outputs, values, v, create_graph=create_graph, allow_unused=True), values)
    return _shown(outputs, create_graph), found[0] if single else found


def _vectors_for(values, v):
    """v as a tuple; where it is None, the 1 that belongs to a single number."""
    if v is not None:
        return (v,) if isinstance(v, _C.Tensor) else tuple(v)
    if sum(x.numel() for x in values) != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a "
            "single Tensor with a single element."
        )
    return tuple(_C.ones_like(x) for x in values)


def _again(first, vectors, by, create_graph):
    """The gradients by `by` of gradients times vectors; None where nothing flows."""
    used = [
        (g, t) for g, t in zip(first, vectors, strict=True) if g is not None and g.requires_grad
    ]
    if not used:
        return [None] * len(by)
    return grad([g for g, _ in used], by, [t for _, t in used],
                create_graph=create_graph, allow_unused=True)  # fmt: skip


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The value of `func`, and the product of its Jacobian with v.

    >>> torch.autograd.functional.jvp(torch.sin, torch.zeros(2), torch.ones(2))
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    _, values = _as_leaves(inputs, create_graph)
    vectors = _vectors_for(values, v)
    outputs = func(*values)
    one = isinstance(outputs, _C.Tensor)
    each = (outputs,) if one else tuple(outputs)
    # The product from the left is linear in its weights; its gradient by them is that from the
    # right.
    weights = tuple(_C.zeros_like(o).requires_grad_() for o in each)
    left = grad(each, values, weights, create_graph=True, allow_unused=True)
    found = _filled(_again(left, vectors, weights, create_graph), each)
    return _shown(outputs, create_graph), found[0] if one else found


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """The value of `func`, and the product of v with its Hessian.

    >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), torch.ones(2), torch.ones(2))
    (tensor(2.), tensor([6., 6.]))
    """
    single, values = _as_leaves(inputs, create_graph)
    vectors = _vectors_for(values, v)
    output = func(*values)
    if not isinstance(output, _C.Tensor) or output.numel() != 1:
        raise RuntimeError(
            "The Tensor returned by the function given to hvp should contain a single element"
        )
    first = _filled(grad(output, values, create_graph=True, allow_unused=True), values)
    found = _filled(_again(first, vectors, values, create_graph), values)
    return _shown(output, create_graph), found[0] if single else found


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """The value of `func`, and the product of its Hessian, which is symmetric, with v.

    >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), torch.ones(2), torch.ones(2))
    (tensor(2.), tensor([6., 6.]))
    """
    return vhp(func, inputs, v, create_graph, strict)
