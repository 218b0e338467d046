"""gradcheck and gradgradcheck: recorded gradients against central differences, in float64."""

import itertools
import warnings

from rushlight import _C
from rushlight.autograd import _batched_checks
from rushlight.autograd._backward import grad
from rushlight.autograd.function import Function, _Forwards


class GradcheckError(RuntimeError):
    """A gradient differs from the difference quotient."""


def _tensors(values):
    values = values if isinstance(values, tuple | list) else (values,)
    return [v for v in values if isinstance(v, _C.Tensor)]


def _floating(outputs):
    return [out for out in _tensors(outputs) if out.is_floating_point()]


def _differentiable(outputs):
    return [out for out in _floating(outputs) if out.requires_grad]


def _of_the_recorded(func, inputs):
    """The same function without those outputs that have no history, if another has one."""
    kept = [out.requires_grad for out in _floating(func(*inputs))]
    if all(kept) or not any(kept):
        return func
    return lambda *x: tuple(itertools.compress(_floating(func(*x)), kept))


def _is_complex(x):
    return isinstance(x, _C.Tensor) and x.is_complex()


def _parts(x):
    return _C.view_as_real(x) if _is_complex(x) else x


def _in_real_numbers(func, inputs):
    """The same function of the real and imaginary parts, in pairs, and the pairs of inputs."""
    complex_at = [_is_complex(x) for x in inputs]

    def of_parts(*pairs):
        numbers = [
            _C.view_as_complex(x.contiguous()) if at else x
            for x, at in zip(pairs, complex_at, strict=True)
        ]
        return tuple(_parts(out) for out in _tensors(func(*numbers)))

    pairs = [
        _parts(x.detach()).clone().requires_grad_(x.requires_grad) if at else x
        for x, at in zip(inputs, complex_at, strict=True)
    ]
    return of_parts, tuple(pairs)


def _difference(function, inputs, move, eps):
    """(f(x + eps) - f(x - eps)) / (2 eps) of each floating output; move(step) changes x."""
    sides = []
    for step in (eps, -eps):
        move(step)
        sides.append([out.detach().clone() for out in _floating(function(*inputs))])
    return [(a - b) / (2 * eps) for a, b in zip(*sides, strict=True)]


def _numerical(function, inputs, x, eps):
    """One row per element of x: how each output element changes with it."""
    rows = []
    data = x.data
    for index in itertools.product(*map(range, x.shape)):
        value = data[index].clone()

        def move(step, index=index, value=value):
            data[index] = value + step

        try:
            rows.append(_difference(function, inputs, move, eps))
        finally:
            data[index] = value
    return rows


def _gradient(output, inputs, seed):
    found = grad(output, inputs, seed, retain_graph=True, allow_unused=True)
    for x, g in zip(inputs, found, strict=True):
        if g is not None and g.shape != x.shape:
            raise GradcheckError("Analytical gradient has incorrect size")
    return found


def _analytical(output, x, nondet_tol, check_grad_dtypes):
    """For each element of the output, the gradient of x."""
    rows = []
    for i in range(output.numel()):
        seed = _C.zeros(tuple(output.shape), dtype=output.dtype, device=output.device)
        seed.view(-1)[i] = 1.0
        first, second = (_gradient(output, (x,), seed)[0] for _ in range(2))
        _check_repeats(first, second, nondet_tol)
        if check_grad_dtypes and first is not None and first.dtype != x.dtype:
            raise GradcheckError("Gradient has dtype mismatch")
        rows.append(_C.zeros_like(x) if first is None else first.contiguous())
    return rows


def _check_repeats(first, second, nondet_tol):
    if first is None and second is None:
        return
    if first is None or second is None or bool(((first - second).abs() > nondet_tol).any()):
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output "
            "multiple times gives different values, although analytical gradient matches "
            f"numerical gradient.The tolerance for nondeterminism was {nondet_tol}."
        )


def _direction(shape_of):
    """A tensor of the same shape with uneven elements and norm 1."""
    values = _C.arange(shape_of.numel(), dtype=_C.float64).add(1).mul(0.7).sin().add(1.3)
    values = values.div(values.square().sum().sqrt().clamp(min=1e-30))
    return values.reshape(tuple(shape_of.shape)).to(shape_of.device).to(shape_of.dtype)


def _check_directions(func, inputs, wanted, eps, atol, rtol, nondet_tol, check_grad_dtypes):
    """fast_mode: the derivative along one direction, of one combination of an output's elements."""
    for k, x in enumerate(wanted):
        along, value = _direction(x), x.detach().clone()
        data = x.data
        try:
            move = lambda step: data.copy_(value + along * step)  # noqa: B023, E731
            changes = _difference(func, inputs, move, eps)
        finally:
            data.copy_(value)
        for j, output in enumerate(_floating(func(*inputs))):
            weights = _direction(output)
            want = float((changes[j] * weights).sum())
            got = 0.0
            if output.requires_grad:
                first, second = (_gradient(output, (x,), weights)[0] for _ in range(2))
                _check_repeats(first, second, nondet_tol)
                if check_grad_dtypes and first is not None and first.dtype != x.dtype:
                    raise GradcheckError("Gradient has dtype mismatch")
                got = 0.0 if first is None else float((first * along).sum())
            scale = max(1.0, float(weights.abs().sum()) * float(along.abs().sum()))
            if not abs(got - want) <= atol * scale + rtol * abs(want):
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input {k},\n"
                    f"numerical: {want}\nanalytical: {got}\n"
                    "(fast_mode=True: along one direction; fast_mode=False tells which elements)"
                )


def _check_elements(func, inputs, wanted, eps, atol, rtol, nondet_tol, check_grad_dtypes):
    for k, x in enumerate(wanted):
        numerical = _numerical(func, inputs, x, eps)
        for j, output in enumerate(_floating(func(*inputs))):
            if output.requires_grad:
                rows = _analytical(output, x, nondet_tol, check_grad_dtypes)
            else:
                rows = [_C.zeros_like(x)] * output.numel()
            _compare(numerical, rows, j, k, atol, rtol)


def _compare(numerical, rows, j, k, atol, rtol):
    rows = [row.view(-1).tolist() for row in rows]
    for element, changes in enumerate(numerical):
        change = changes[j].reshape(-1).tolist()
        for i, row in enumerate(rows):
            got, want = row[element], change[i]
            if not abs(got - want) <= atol + rtol * abs(want):
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input {k},\n"
                    f"numerical: {want}\nanalytical: {got}\n"
                    f"(output element {i}, input element {element})"
                )


class _NoGradient(Function):
    """The identity, whose backward gives no gradient at all."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return None


def _check_zero(outputs, wanted, message):
    seeds = [_C.zeros_like(out) for out in outputs]
    for g in grad(outputs, wanted, seeds, retain_graph=True, allow_unused=True):
        if g is not None and bool((g != 0).any()):
            raise GradcheckError(message)


def _check_undefined(func, inputs, wanted):
    """Backward must take gradients that are undefined: of all outputs, and of each."""
    count = len(_differentiable(func(*inputs)))
    for chosen in [range(count), *([i] for i in range(count) if count > 1)]:
        outputs = _differentiable(func(*inputs))
        outputs = [_NoGradient.apply(o) if i in chosen else o for i, o in enumerate(outputs)]
        try:
            _check_zero(
                outputs,
                wanted,
                "Expected all input grads to be undefined or zero when all output grads are "
                "undefined or zero.",
            )
        except GradcheckError:
            raise
        except RuntimeError as error:
            raise GradcheckError(
                f"Expected backward function to handle undefined output grads.\n{error}"
            ) from error


def _check_batched(outputs, wanted):
    for output in outputs:
        if text := _batched_checks.backward_difference(output, wanted):
            raise GradcheckError(text)


def _check_batched_forward(func, inputs):
    for at, x in enumerate(inputs):
        if isinstance(x, _C.Tensor) and x.requires_grad:
            if text := _batched_checks.forward_difference(func, inputs, at):
                raise GradcheckError(text)


def gradcheck(
    func,
    inputs,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
):
    """Compares the gradients of `func` with central differences, element by element.

    Args:
        func: a function of tensors that returns tensors.
        inputs: a tensor or a tuple; those that require grad should be float64.
        eps: the step of the differences.
        atol: the absolute tolerance.
        rtol: the relative tolerance.
        raise_exception: raise instead of returning False.
        nondet_tol: how far two runs of backward may differ.
        check_undefined_grad: also run backward with undefined gradients.
        check_grad_dtypes: also compare the dtypes of gradients with those of the inputs.
        fast_mode: compare along one direction only, instead of each element.
        masked: of sparse tensors, which are not here.
        check_backward_ad: check backward.
        check_forward_ad: check jvp() of the Functions that have one, backward of all else.
        check_batched_grad: also compare vmap over backward with backward, one by one.
        check_batched_forward_grad: the same of forward-mode products.

    Shape: func takes inputs of any shapes.

    Returns:
        True if all gradients agree.

    Raises:
        GradcheckError: which input, which output, and both values.

    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(lambda x: x * x, x)
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )
    inputs = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    _check_inputs(inputs)
    func, inputs = _in_real_numbers(func, inputs)
    func = _of_the_recorded(func, inputs)
    wanted = [x for x in _tensors(inputs) if x.requires_grad]
    check = _check_directions if fast_mode else _check_elements
    try:
        if check_forward_ad:
            with _Forwards():
                check(func, inputs, wanted, eps, atol, rtol, nondet_tol, check_grad_dtypes)
        if check_batched_forward_grad:
            _check_batched_forward(func, inputs)
        if not check_backward_ad:
            return True
        check(func, inputs, wanted, eps, atol, rtol, nondet_tol, check_grad_dtypes)
        outputs = _differentiable(func(*inputs))
        if outputs:
            _check_zero(outputs, wanted, "backward not multiplied by grad_output")
            if check_batched_grad:
                _check_batched(outputs, wanted)
            if check_undefined_grad:
                _check_undefined(func, inputs, wanted)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_inputs(inputs):
    wanted = False
    for i, x in enumerate(inputs):
        if not isinstance(x, _C.Tensor) or not x.requires_grad:
            continue
        wanted = True
        if x.dtype not in (_C.float64, _C.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
                stacklevel=3,
            )
        if any(step == 0 and size > 1 for step, size in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs "
                "that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
):
    """gradcheck of the gradient itself.

    Args: as of gradcheck.
        grad_outputs: the gradients of the outputs, watched too if they require grad; random if
            None.
        gen_non_contig_grad_outputs: make these not contiguous.
        check_fwd_over_rev, check_rev_over_rev: check forward over backward, backward over backward.
        check_batched_grad: as of gradcheck.

    Shape: as of gradcheck().

    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(lambda x: x * x * x, x)
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    inputs = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    func, inputs = _in_real_numbers(func, inputs)
    outputs = _differentiable(func(*inputs))
    given = None if grad_outputs is None else _tensors(grad_outputs)
    watched = [given is None or seed.requires_grad for seed in given or outputs]
    seeds = [_direction(out) for out in outputs] if given is None else given
    seeds = [_parts(seed.detach()).clone() for seed in seeds]
    if gen_non_contig_grad_outputs:
        seeds = [_C.stack([seed, seed], -1)[..., 0] for seed in seeds]
    seeds = [seed.requires_grad_(x) for seed, x in zip(seeds, watched, strict=True)]
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
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )
