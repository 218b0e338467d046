"""Jacobians, Hessians and products with them, from recorded gradients.

Note: `func` is given new tensors, never the caller's own, so that a use of these by another way
does not count. strict=True makes every silent zero an error.
"""

from rushlight import _C
from rushlight._func import checks
from rushlight._grad_mode import enable_grad, set_grad_enabled
from rushlight.autograd import grad
from rushlight.autograd._backward import _rows_of

_STRICT = " This is not allowed in strict mode."
# What is None, or has no history of its own, where strict=True: the error text.
_NONE = {
    "back": "The output of the user-provided function is independent of input {}." + _STRICT,
    "back_trick": "The gradient with respect to the input is independent of entry {} in the "
    "grad_outputs when using the double backward trick to compute forward mode gradients."
    + _STRICT,
    "double_back": "The jacobian of the user-provided function is independent of input {}."
    + _STRICT,
    "double_back_trick": "The hessian of the user-provided function is independent of entry {} in "
    "the grad_jacobian. This is not allowed in strict mode as it prevents from using the double "
    "backward trick to replace forward mode AD.",
}
_CONSTANT = {
    "outputs": "Output {} of the user-provided function does not require gradients. The outputs "
    "must be computed in a differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {} is independent of the inputs of the "
    "user-provided function." + _STRICT,
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided "
    "function with respect to input {} is independent of the input. This is not allowed in strict "
    "mode. You should ensure that your function is twice differentiable and that the jacobian "
    "depends on the inputs (this would be violated by a linear function for example).",
}


def _as_tuple(value, what=None, name=None):
    """Whether it was a tuple, and as a tuple; without names the tuple alone, of anything."""
    values = value if isinstance(value, tuple) else (value,)
    if what is None and name is None:
        return tuple(value) if isinstance(value, list) else values
    for i, each in enumerate(values):
        if not isinstance(each, _C.Tensor):
            which = f"value at index {i}" if isinstance(value, tuple) else f"given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the "
                f"{which} has type {type(each)}."
            )
    return isinstance(value, tuple), values


def _copies(values, create_graph, requires_grad=True):
    if not create_graph and any(x.requires_grad for x in values):
        checks.outside()

    def copy(x):
        if create_graph and x.requires_grad:
            return x.view_as(x)
        return x.detach().requires_grad_(requires_grad)

    return tuple(map(copy, values))


# Names that libraries import.
_grad_preprocess = _copies


def _grad_postprocess(inputs, create_graph):
    if not isinstance(inputs[0], _C.Tensor):
        return tuple(_grad_postprocess(part, create_graph) for part in inputs)
    return inputs if create_graph else tuple(x.detach() for x in inputs)


def _tuple_postprocess(res, to_unpack):
    outer, inner = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    res = res if inner else tuple(part[0] for part in res)
    return res if outer else res[0]


def _call(func, values, name, strict):
    many, outputs = _as_tuple(func(*values), "outputs of the user-provided function", name)
    _check_depends(outputs, "outputs", strict)
    return many, outputs


def _check_depends(values, kind, strict):
    for i, value in enumerate(values if strict else ()):
        if value is None:
            raise RuntimeError(_NONE["back"].format(i))
        if not value.requires_grad:
            raise RuntimeError(_CONSTANT[kind].format(i))


def _gradients(outputs, values, vectors=None, create_graph=False, retain_graph=None):
    """Like grad(), where outputs may be None or constants; None where nothing flows."""
    vectors = (None,) * len(outputs) if vectors is None else vectors
    pairs = [
        (out, v)
        for out, v in zip(outputs, vectors, strict=True)
        if out is not None and out.requires_grad
    ]
    if not pairs:
        return (None,) * len(values)
    return grad(
        [p[0] for p in pairs],
        values,
        [p[1] for p in pairs],
        create_graph=create_graph,
        retain_graph=retain_graph,
        allow_unused=True,
    )


def _filled(found, like, strict, create_graph, stage):
    """Zeros instead of None, which strict=True refuses."""
    for i, g in enumerate(found if strict else ()):
        if g is None:
            raise RuntimeError(_NONE[stage].format(i))
        if create_graph and not g.requires_grad:
            which = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {which} of the user-provided function is independent of input {i}. This is "
                "not allowed in strict mode when create_graph=True."
            )
    return tuple(_C.zeros_like(x) if g is None else g for g, x in zip(found, like, strict=True))


def _result(many, values, create_graph):
    values = tuple(values) if create_graph else tuple(x.detach() for x in values)
    return values if many else values[0]


def _vectors(v, like, many, name, create_graph, needed):
    """v as a tuple that fits `like`; None means 1, for a scalar."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if {needed} a single Tensor with a single "
                f"element.\n{name}(): give v"
            )
        return None
    _, v = _as_tuple(v, "v", name)
    v = _copies(v, create_graph, requires_grad=False)
    if len(v) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}."
            if many
            else "The given v should contain a single Tensor."
        )
    for i, (a, b) in enumerate(zip(v, like, strict=True)):
        if a.shape != b.shape:
            entry = f"Entry {i} in " if many else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {b.shape} but got {a.shape}.")
    return v


_OF_INPUT = "the input to the user-provided function is"


def _jacobian_of(output, i, values, create_graph, strict):
    """The derivatives of one output by each of the values."""
    found = [None] * len(values)
    if output.requires_grad:
        found = _rows_of(output, values, create_graph)
    if strict and output.numel():
        for k, g in enumerate(found):
            if g is None:
                raise RuntimeError(
                    f"Output {i} of the user-provided function is independent of input {k}."
                    + _STRICT
                )
            if create_graph and not g.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {i}. "
                    "This is not allowed in strict mode when create_graph=True."
                )
    shapes = [output.shape + x.shape for x in values]
    return tuple(
        x.new_zeros(shape) if g is None else g.reshape(shape)
        for g, x, shape in zip(found, values, shapes, strict=True)
    )


def jacobian(
    func,
    inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
):
    """The derivative of every output element with respect to every input element.

    Args:
        func: a function of tensors that returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        create_graph: record the result, for further derivatives.
        strict: raise where an output does not depend on an input, instead of returning zeros.
        vectorize: the result is the same; not with strict.
        strategy: "reverse-mode", or "forward-mode", which needs vectorize=True; the result is the
            same, and so is the way here.

    Shape:
        (*output.shape, *input.shape), for one input and output; otherwise a tuple over the outputs
        of tuples over the inputs.

    >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    _check_strategy(create_graph, strict, vectorize, strategy)
    return _jacobian(func, inputs, create_graph, strict)


def _construct_standard_basis_for(tensors, tensor_numels):
    """The rows of the identity matrix of all their elements, cut into columns of each tensor: what
    programs give to vmap(vjp).
    """
    total, row, chunks = sum(tensor_numels), 0, []
    for tensor, count in zip(tensors, tensor_numels, strict=True):
        chunks.append(tensor.new_zeros(total, count))
        chunks[-1].diagonal(-row).fill_(1)
        row += count
    return tuple(chunks)


def _check_strategy(create_graph, strict, vectorize, strategy):
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    forward = strategy == "forward-mode"
    if forward and create_graph:
        raise NotImplementedError(
            "torch.autograd.functional.jacobian: `create_graph=True` and "
            '`strategy="forward-mode"` are not supported together (yet). Please either set '
            '`create_graph=False` or `strategy="reverse-mode"`.'
        )
    if strict and (forward or vectorize):
        other = '`strategy="forward-mode"`' if forward else "`vectorized=True`"
        raise RuntimeError(
            f"torch.autograd.functional.jacobian: `strict=True` and {other} are not supported "
            "together. Please set `strict=False`, or leave the other out."
        )
    if forward and not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is"
            "only implemented for `vectorize=True`."
        )


def _jacobian(func, inputs, create_graph, strict):
    with enable_grad():
        many_in, inputs = _as_tuple(inputs, "inputs", "jacobian")
        values = _copies(inputs, create_graph)
        many_out, outputs = _call(func, values, "jacobian", strict)
        rows = [
            _result(many_in, _jacobian_of(out, i, values, create_graph, strict), create_graph)
            for i, out in enumerate(outputs)
        ]
    return tuple(rows) if many_out else rows[0]


def hessian(
    func,
    inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
):
    """The second derivatives of a scalar function.

    Args:
        func: a function of tensors that returns a tensor with one element.
        inputs: a tensor or a tuple of tensors.
        create_graph: record the result, for further derivatives.
        strict: raise where something does not depend on an input, instead of returning zeros.
        vectorize: as in jacobian().
        outer_jacobian_strategy: as `strategy` of jacobian().

    Shape:
        (*input.shape, *input.shape), for one input; otherwise a tuple of tuples.

    >>> torch.autograd.functional.hessian(lambda x: (x * x * x).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    many, inputs = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def single(*values):
        return _single(*_call(func, values, "hessian", strict), "hessian").squeeze()

    def first(*values):
        if outer_jacobian_strategy == "forward-mode":
            values = tuple(x.requires_grad_() for x in values)
        rows = jacobian(single, values, create_graph=True)
        _check_depends(rows, "jacobian", strict)
        return rows

    _check_strategy(create_graph, strict, vectorize, outer_jacobian_strategy)
    forward = outer_jacobian_strategy == "forward-mode"
    if forward:  # as in torch, the result requires grad
        inputs, create_graph = _copies(inputs, False), True
    rows = _jacobian(first, inputs, create_graph, strict)
    for x in (x for row in rows for x in row if forward):
        x.requires_grad_()
    return rows if many else rows[0][0]


def _single(many, outputs, name):
    if many:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )
    return outputs[0]


def vjp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """The value of `func`, and the product of v with its Jacobian.

    Args:
        func: a function of tensors that returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        v: of the outputs' shapes; may be left out for a scalar output.
        create_graph: record the results, for further derivatives.
        strict: raise where an output does not depend on an input, instead of returning zeros.

    Shape: v has the shapes of func's outputs, the product those of inputs.

    >>> torch.autograd.functional.vjp(torch.sin, torch.zeros(2), torch.ones(2))
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    with enable_grad():
        many_in, inputs = _as_tuple(inputs, "inputs", "vjp")
        values = _copies(inputs, create_graph)
        many_out, outputs = _call(func, values, "vjp", strict)
        needed = "the user-provided function returns"
        v = _vectors(v, outputs, many_out, "vjp", create_graph, needed)
    with set_grad_enabled(create_graph or _C.is_grad_enabled()):
        found = _gradients(outputs, values, v, create_graph)
        found = _filled(found, values, strict, create_graph, "back")
    return _result(many_out, outputs, create_graph), _result(many_in, found, create_graph)


def jvp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """The value of `func`, and the product of its Jacobian with v.

    Args:
        func: a function of tensors that returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        v: of the inputs' shapes; may be left out for a scalar input.
        create_graph: record the results, for further derivatives.
        strict: raise where an output does not depend on an input, instead of returning zeros.

    Shape: v has the shapes of inputs, the product those of func's outputs.

    >>> torch.autograd.functional.jvp(torch.sin, torch.zeros(2), torch.ones(2))
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    with enable_grad():
        many_in, inputs = _as_tuple(inputs, "inputs", "jvp")
        values = _copies(inputs, create_graph)
        v = _vectors(v, values, many_in, "jvp", create_graph, _OF_INPUT)
        many_out, outputs = _call(func, values, "jvp", strict)
        # The product from the left is linear in its weights; its gradient by them is the product
        # from the right.
        weights = tuple(_C.zeros_like(out).requires_grad_() for out in outputs)
        left = _gradients(outputs, values, weights, create_graph=True)
        _check_depends(left, "grad_inputs", strict)
    with set_grad_enabled(create_graph or _C.is_grad_enabled()):
        found = _gradients(left, weights, v, create_graph)
        found = _filled(found, outputs, strict, create_graph, "back_trick")
    return _result(many_out, outputs, create_graph), _result(many_out, found, create_graph)


def _second(func, inputs, v, create_graph, strict, name):
    """What vhp and hvp begin with: the value, its gradient, and all that both need."""
    with enable_grad():
        many, inputs = _as_tuple(inputs, "inputs", name)
        values = _copies(inputs, create_graph)
        v = _vectors(v, values, many, name, create_graph, _OF_INPUT)
        output = _single(*_call(func, values, name, strict), name)
        first = _gradients((output,), values, None, create_graph=True)
        _check_depends(first, "jacobian", strict)
    return many, values, v, output, first


def vhp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """The value of `func`, and the product of v with its Hessian.

    Args:
        func: a function of tensors that returns a tensor with one element.
        inputs: a tensor or a tuple of tensors.
        v: of the inputs' shapes; may be left out for a scalar input.
        create_graph: record the results, for further derivatives.
        strict: raise where something does not depend on an input, instead of returning zeros.

    Shape: func gives one element; the product has the shapes of inputs.

    >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), torch.ones(2), torch.ones(2))
    (tensor(2.), tensor([6., 6.]))
    """
    many, values, v, output, first = _second(func, inputs, v, create_graph, strict, "vhp")
    with set_grad_enabled(create_graph or _C.is_grad_enabled()):
        found = _gradients(first, values, v, create_graph)
        found = _filled(found, values, strict, create_graph, "double_back")
    return _result(False, (output,), create_graph), _result(many, found, create_graph)


def hvp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """The value of `func`, and the product of its Hessian with v.

    Args: as of vhp(), whose result is the same, since a Hessian is symmetric; vhp() is faster.

    Shape: func gives one element; the product has the shapes of inputs.

    >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), torch.ones(2), torch.ones(2))
    (tensor(2.), tensor([6., 6.]))
    """
    many, values, v, output, first = _second(func, inputs, v, create_graph, strict, "hvp")
    with enable_grad():
        weights = tuple(_C.zeros_like(x).requires_grad_() for x in values)
        twice = _gradients(first, values, weights, create_graph=True)
    with set_grad_enabled(create_graph or _C.is_grad_enabled()):
        found = _gradients(twice, weights, v, create_graph)
        found = _filled(found, values, strict, create_graph, "double_back_trick")
    return _result(False, (output,), create_graph), _result(many, found, create_graph)
