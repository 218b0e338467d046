"""Gradients, Jacobians and products with them, as functions made from functions.

Note: inputs are aliased, so that the function's own graph reaches no further; a derivative is
itself recorded where another one is being taken around it or an input requires it.
"""

import functools

from rushlight import _C
from rushlight._func import checks
from rushlight._func.batched import spread_over_levels
from rushlight._func.dispatch import Draws
from rushlight._func.trees import is_tensor, leaves, mapped
from rushlight._func.vmap import check_randomness
from rushlight._grad_mode import enable_grad
from rushlight.autograd.function import _Forwards


class _Inside:
    """While a function is differentiated."""

    def __enter__(self):
        self.outer = getattr(checks.state, "depth", 0)
        checks.state.depth = self.outer + 1
        return self.outer > 0

    def __exit__(self, *error):
        checks.state.depth = self.outer


class _ForwardLevel:
    """While a function is called whose product with tangents is wanted: what depends on the marked
    tensors is recorded under no_grad() too.
    """

    def __enter__(self):
        self.outer = _C._set_forward_level(-1)

    def __exit__(self, *error):
        _C._set_forward_level(self.outer)


def _watched(tree, name):
    """The tree with tensors that gradients can reach, and whether those are wanted outside."""
    recorded = any(is_tensor(x) and x.requires_grad for x in leaves(tree)) and _C.is_grad_enabled()

    def watch(x):
        if not is_tensor(x):
            raise ValueError(
                f"Thing passed to transform API must be Tensor, got {type(x)}\n"
                f"{name}(): the arguments that are differentiated hold tensors only"
            )
        x = spread_over_levels(x)  # each element of a vmap() around it has its own gradient
        return x.view_as(x) if x.requires_grad and recorded else x.detach().requires_grad_()

    with enable_grad():
        return mapped(watch, tree), recorded


def _writable(tree):
    """The watched tensors as a function gets them in forward mode: it may write to them, as to any
    result, and writes to the memory of its argument. They have tangents in the open level.
    """

    def writable(x):
        if is_tensor(x) and x.requires_grad:
            _C._mark_tangent(x)
        if type(x) is not _C.Tensor or not x.requires_grad or not x.is_leaf:
            return x
        with enable_grad():
            return _C._edge_tensor(x.view_as(x).grad_fn, 0, x)

    return mapped(writable, tree)


def _gradients(outputs, watched, weights=None, keep=False, record=False):
    """d outputs / d watched in the form of `watched`; zeros where nothing flows."""
    from rushlight.autograd import grad

    inputs = leaves(watched)
    if isinstance(outputs, _C.Tensor):
        outputs, weights = [outputs], [weights]
    pairs = [(o, w) for o, w in zip(outputs, weights, strict=True) if o.requires_grad]
    found = [None] * len(inputs)
    if pairs:
        found = grad(
            [o for o, _ in pairs], inputs, [w for _, w in pairs], retain_graph=keep or record,
            create_graph=record, allow_unused=True,
        )  # fmt: skip
    found = iter([_C.zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)])
    return mapped(lambda _: next(found), watched)


def _plain(tree, record):
    return tree if record else mapped(lambda x: x.detach() if is_tensor(x) else x, tree)


def _call(function, args, kwargs, indices, watched, has_aux, call):
    args = list(args)
    for n, value in zip(indices, watched, strict=True):
        args[n] = value
    with enable_grad():
        return checks.value_and_aux(function(*args, **kwargs), has_aux, call)


def _watched_call(function, args, kwargs, argnums, has_aux, nested, name, call):
    """(value, aux, the watched arguments, whether their derivative is recorded) of one call."""
    indices = checks.positions(args, argnums)
    watched, recorded = _watched(tuple(args[n] for n in indices), name)
    value, aux = _call(function, args, kwargs, indices, watched, has_aux, call)
    return value, aux, watched, nested or recorded


def grad_and_value(func, argnums=0, has_aux=False):
    """The function that gives func's gradient and its value.

    Args:
        func: returns a scalar.
        argnums: the argument or arguments to differentiate by.
        has_aux: func returns (scalar, anything else), and the result is (gradient, (scalar, that)).

    Shape: func gives one element; a gradient has the shape of its argument.

    Raises:
        RuntimeError: if func does not give a tensor of one element.

    >>> torch.func.grad_and_value(lambda x: x * x)(torch.tensor(3.0))
    (tensor(6.), tensor(9.))
    """

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with _Inside() as nested:
            value, aux, watched, record = _watched_call(
                func, args, kwargs, argnums, has_aux, nested, "grad", checks.OF_GRAD
            )
            if not is_tensor(value):
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got "
                    f"{type(value)}"
                )
            if value.dim() != 0:
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got "
                    f"tensor with {value.dim()} dims. Maybe you wanted to use the vjp or jacrev "
                    "APIs instead?"
                )
            found = _gradients(value, watched, record=record)
        found = found[0] if isinstance(argnums, int) else found
        found, value = _plain(found, record), _plain(value, record)
        return (found, (value, _plain(aux, record))) if has_aux else (found, value)

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """The function that gives func's gradient.

    Args:
        func: returns a scalar.
        argnums: the argument or arguments to differentiate by.
        has_aux: func returns (scalar, anything else), and the result is (gradient, that).

    Shape: func gives one element; a gradient has the shape of its argument.

    Raises:
        RuntimeError: if func does not give a tensor of one element.

    >>> torch.func.grad(torch.func.grad(lambda x: x**3))(torch.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


def vjp(func, *primals, has_aux=False):
    """func's value, and the function of a tensor like it that gives the product with the Jacobian.

    Args:
        func: a function of tensors.
        primals: its arguments.
        has_aux: func gives (value, anything else), which comes third.

    Shape: the function takes a tensor of the value's shape and returns one of each primal's.

    >>> value, pull = torch.func.vjp(torch.sin, torch.zeros(2))
    >>> pull(torch.tensor([1.0, 2.0]))
    (tensor([1., 2.]),)
    """
    with _Inside() as nested:
        watched, recorded = _watched(primals, "vjp")
        record = nested or recorded
        value, aux = _call(func, primals, {}, range(len(primals)), watched, has_aux, checks.OF_VJP)

    def pull(cotangents, retain_graph=True, create_graph=None):
        outputs, weights = leaves(value), leaves(cotangents)
        checks.alike(cotangents, value)
        for w in weights:
            if not is_tensor(w):
                raise TypeError(
                    f"gradients can be either Tensors or None, but got {type(w).__name__}"
                )
        deeper = record or any(w.requires_grad for w in weights)
        deeper = (deeper and _C.is_grad_enabled()) or getattr(checks.state, "depth", 0) > 0
        return _plain(_gradients(outputs, watched, weights, keep=True, record=deeper), deeper)

    shown = _plain(value, record)
    return (shown, pull, _plain(aux, record)) if has_aux else (shown, pull)


def _forward_product(value, watched, tangents, record):
    # The product with the Jacobian from the left is linear in its weights: the gradient by those
    # weights is the product from the right.
    every = leaves(value)
    outputs = [o for o in every if o.is_floating_point() or o.is_complex()]
    with enable_grad(), _Forwards():
        weights = [_C.zeros_like(o).requires_grad_() for o in outputs]
        left = leaves(_gradients(outputs, watched, weights, record=True))
        used = [(g, t) for g, t in zip(left, leaves(tangents), strict=True) if g.requires_grad]
    found = [_C.zeros_like(w) for w in weights]
    if used:
        found = leaves(_gradients([g for g, _ in used], weights, [t for _, t in used],
                                  record=record))  # fmt: skip
    found = iter(found)
    flows = {id(o) for o in outputs}
    return mapped(lambda o: next(found) if id(o) in flows else _C.zeros_like(o), value)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """func's value, and the product of its Jacobian with the tangents.

    Args:
        func: a function of tensors.
        primals: its arguments, a tuple.
        tangents: a tensor for each of them.
        strict: RuntimeError if an output does not depend on the primals; else its product is 0.
        has_aux: func returns (value, anything else), which is returned too.

    Shape: tangents have the shapes of primals; the product has that of the value.

    >>> torch.func.jvp(lambda x: x * x, (torch.tensor(3.0),), (torch.tensor(1.0),))
    (tensor(9.), tensor(6.))
    """
    checks.tangents_of(primals, tangents)
    with _Inside() as nested:
        watched, recorded = _watched(primals, "jvp")
        record = nested or recorded or any(t.requires_grad for t in leaves(tangents))
        with _ForwardLevel():
            value, aux = _call(
                func, primals, {}, range(len(primals)), _writable(watched), has_aux, checks.OF_JVP
            )
        if strict and not all(output.requires_grad for output in leaves(value)):
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
                "inputs. This is not allowed with strict=True."
            )
        found = _plain(_forward_product(value, watched, tangents, record), record)
    shown = _plain(value, record)
    return (shown, found, _plain(aux, record)) if has_aux else (shown, found)


def linearize(func, *primals):
    """func's value, and the function of tangents that gives the product with its Jacobian there.

    Args:
        func: a function of tensors; it is called once.
        primals: its arguments.

    Shape: the function takes a tensor like each primal and returns one of the value's shape.

    >>> value, push = torch.func.linearize(torch.sin, torch.zeros(2))
    >>> push(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """
    with _Inside() as nested:
        watched, recorded = _watched(primals, "linearize")
        record = nested or recorded
        with _ForwardLevel():
            value, _ = _call(
                func, primals, {}, range(len(primals)), _writable(watched), False, checks.OF_JVP
            )

    def push(*tangents):
        given, wanted = leaves(tangents), leaves(watched)
        if len(given) != len(wanted):
            raise RuntimeError(
                f"Expected the tangents {len(given)} to have the same argspec as the primals "
                f"{len(wanted)}: one tensor for each of them"
            )
        for i, (t, x) in enumerate(zip(given, wanted, strict=True)):
            for what in ("shape", "device", "dtype"):
                if (a := getattr(t, what)) != (b := getattr(x, what)):
                    raise RuntimeError(
                        f"tangent:{i} with {what} {a} in flattened pytree doesn't match the "
                        f"{what} {b} of the corresponding primal."
                    )
        deeper = (
            record or any(t.requires_grad for t in given) or getattr(checks.state, "depth", 0) > 0
        )
        return _plain(_forward_product(value, watched, tangents, deeper), deeper)

    return _plain(value, record), push


def _rows(output, watched, record, chunk_size):
    """The Jacobian of one tensor, in the form of `watched`."""
    from rushlight.autograd._backward import _rows_of

    inputs = leaves(watched)
    found = [None] * len(inputs)
    if output.requires_grad:
        found = _rows_of(output, inputs, record, chunk_size)
    shapes = [tuple(output.shape) + tuple(x.shape) for x in inputs]
    columns = iter([
        x.new_zeros(shape) if rows is None else rows.reshape(shape)
        for rows, x, shape in zip(found, inputs, shapes, strict=True)
    ])  # fmt: skip
    return mapped(lambda _: next(columns), watched)


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """The function that computes func's Jacobian.

    Args:
        func: a function of tensors.
        argnums: the argument or arguments to differentiate by.
        has_aux: func returns (value, anything else), and the result is (Jacobian, that).
        chunk_size: how many rows are computed at once; None for all.

    Raises:
        ValueError: if chunk_size is not positive.

    Shape: (*output, *input).

    >>> torch.func.jacrev(torch.sin)(torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    return _jacobian(func, argnums, has_aux, chunk_size, "jacrev", checks.OF_VJP)


def _jacobian(func, argnums, has_aux, chunk_size, name, call):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with _Inside() as nested:
            value, aux, watched, record = _watched_call(
                func, args, kwargs, argnums, has_aux, nested, name, call
            )
            checks.real(watched, name, "inputs")
            checks.real(value, name, "outputs")
            with enable_grad():
                found = mapped(lambda output: _rows(output, watched, record, chunk_size), value)
        if isinstance(argnums, int):
            found = mapped(lambda output, made: made[0], value, found)
        found = _plain(found, record)
        return (found, _plain(aux, record)) if has_aux else found

    return wrapper


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """The same Jacobian as jacrev()'s, which torch computes forwards.

    Args:
        func, argnums, has_aux: as of jacrev().
        randomness: "error" refuses functions that draw random numbers from a default generator;
            with "same" all columns see the same numbers, as func is called once.

    Shape: of an argument (*) and a result (**) it is (**, *).

    Raises:
        RuntimeError: if func draws random numbers and randomness is "error".
        NotImplementedError: for "different".

    >>> torch.func.jacfwd(torch.sin)(torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    check_randomness(randomness)
    if randomness == "different":
        raise NotImplementedError(
            'jacfwd(randomness="different") is not in rushlight: func is called once, so that all '
            'columns see the same random numbers\nuse randomness="same"'
        )

    @functools.wraps(func)
    def guarded(*args, **kwargs):
        picked = checks.positions(args, argnums)
        with _ForwardLevel(), Draws(randomness):
            args = [_writable(x) if n in picked else x for n, x in enumerate(args)]
            return func(*args, **kwargs)

    backwards = _jacobian(guarded, argnums, has_aux, None, "jacfwd", checks.OF_JVP)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with _Forwards():
            return backwards(*args, **kwargs)

    return wrapper


def hessian(func, argnums=0):
    """The function that computes the second derivatives of func.

    Args:
        func: a function of tensors.
        argnums: the argument or arguments to differentiate by.

    Shape: of an argument (*) and a result (**) it is (**, *, *).

    >>> torch.func.hessian(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacrev(jacrev(func, argnums), argnums)
