"""gradcheck and gradgradcheck: recorded gradients against central differences, in float64."""

from rushlight import _C
from rushlight.autograd import grad


class GradcheckError(RuntimeError):
    """A gradient differs from the difference quotient."""


def _tensors(values):
    values = values if isinstance(values, tuple | list) else (values,)
    return [v for v in values if isinstance(v, _C.Tensor)]


def _differentiable(outputs):
    return [out for out in _tensors(outputs) if out.is_floating_point() and out.requires_grad]


def _numerical(function, inputs, x, eps):
    """One row per element of x: how each output element changes with it."""
    rows = []
    flat = x.data.view(-1) if x.data.is_contiguous() else None
    if flat is None:
        raise ValueError("gradcheck expects contiguous inputs")
    for i in range(flat.numel()):
        value = flat[i].item()
        sides = []
        for step in (eps, -eps):
            flat[i] = value + step
            outputs = [out for out in _tensors(function(*inputs)) if out.is_floating_point()]
            sides.append([out.detach().clone() for out in outputs])
        flat[i] = value
        rows.append([(a - b) / (2 * eps) for a, b in zip(*sides, strict=True)])
    return rows


def _analytical(output, x):
    """For each element of the output, the gradient of x."""
    rows = []
    for i in range(output.numel()):
        seed = _C.zeros(tuple(output.shape), dtype=output.dtype, device=output.device)
        seed.view(-1)[i] = 1.0
        found = grad(output, x, seed, retain_graph=True, allow_unused=True)[0]
        rows.append(_C.zeros_like(x) if found is None else found.contiguous())
    return rows


def gradcheck(
    func,
    inputs,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    fast_mode=False,
    masked=None,
):
    """Compares the gradients of `func` with central differences, element by element.

    Args:
        func: a function of tensors that returns tensors.
        inputs: a tensor or a tuple; those that require grad should be float64.
        eps: the step of the differences.
        atol: the absolute tolerance.
        rtol: the relative tolerance.
        raise_exception: raise instead of returning False.

    Returns:
        True if all gradients agree.

    Raises:
        GradcheckError: which input, which output, and both values.

    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(lambda x: x * x, x)
    True
    """
    inputs = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    wanted = [x for x in _tensors(inputs) if x.requires_grad]
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )
    try:
        for k, x in enumerate(wanted):
            numerical = _numerical(func, inputs, x, eps)
            floating = [o for o in _tensors(func(*inputs)) if o.is_floating_point()]
            for j, output in enumerate(floating):
                if not output.requires_grad:
                    rows = [_C.zeros_like(x)] * output.numel()
                else:
                    rows = _analytical(output, x)
                _compare(numerical, rows, j, k, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _compare(numerical, rows, j, k, atol, rtol):
    for element, changes in enumerate(numerical):
        change = changes[j].reshape(-1).tolist()
        for i, row in enumerate(rows):
            got, want = row.view(-1)[element].item(), change[i]
            if not abs(got - want) <= atol + rtol * abs(want):
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input {k},\n"
                    f"numerical: {want}\nanalytical: {got}\n"
                    f"(output element {i}, input element {element})"
                )


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    gen_non_contig_grad_outputs=False,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_fwd_over_rev=False,
    check_rev_over_rev=True,
    fast_mode=False,
    masked=False,
):
    """gradcheck of the gradient itself.

    Args:
        func: a function of tensors that returns tensors.
        inputs: a tensor or a tuple; those that require grad should be float64.
        grad_outputs: what to start backward with; by default fixed, uneven numbers.

    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(lambda x: x * x * x, x)
    True
    """
    inputs = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    outputs = _differentiable(func(*inputs))
    if grad_outputs is None:
        seeds = []
        for out in outputs:
            steps = _C.arange(out.numel(), dtype=out.dtype, device=out.device)
            ones = _C.ones_like(steps)
            seeds.append((steps / (ones * (out.numel() + 1)) + ones).reshape(tuple(out.shape)))
    else:
        seeds = _tensors(grad_outputs)
    seeds = [seed.detach().requires_grad_() for seed in seeds]
    count = len(inputs)

    def gradient(*arguments):
        values, given = arguments[:count], arguments[count:]
        wanted = [x for x in _tensors(values) if x.requires_grad]
        found = grad(
            _differentiable(func(*values)),
            wanted,
            list(given),
            create_graph=True,
            allow_unused=True,
        )
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradient,
        inputs + tuple(seeds),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
    )
