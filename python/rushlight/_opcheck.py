"""torch.library.opcheck: whether an operation does what its registrations say."""

import re

from rushlight import _C
from rushlight._ops import operators, tensors
from rushlight.autograd import grad
from rushlight.utils import _pytree

__all__ = ["OpCheckError", "opcheck"]


class OpCheckError(Exception):
    """What opcheck() has found.

    >>> from rushlight._opcheck import OpCheckError
    >>> raise OpCheckError("opcheck(op, ...): test_schema failed")
    Traceback (most recent call last):
    OpCheckError: opcheck(op, ...): test_schema failed
    """


class MetadataMismatchError(RuntimeError):
    """Meta tensors that are not like the results."""


def _name_of(op):
    if hasattr(op, "_qualname"):
        return op._qualname
    return op.name() if hasattr(op, "overloadpacket") else str(op).replace(".", "::", 1)


def _copies(values):
    """The arguments again, each tensor a leaf of its own."""

    def again(value):
        if not isinstance(value, _C.Tensor):
            return value
        return value.detach().clone().requires_grad_(value.requires_grad)

    return _pytree.tree_map(again, values)


def _same(a, b):
    return a.shape == b.shape and _C.equal(a.detach(), b.detach().to(a.device))


def _run(operator, args, kwargs):
    """The results, none of which may share memory with an argument."""
    out = operator(*args, **kwargs)
    inputs = {_C._storage_id(t) for t in tensors((*args, *kwargs.values()))}
    if any(_C._storage_id(made) in inputs for made in tensors([out])):
        raise RuntimeError(
            f"{operator.name.rpartition(':')[2]} (with the name {operator.name}): The output of "
            "this custom operator (1) must not also be an input to this custom operator and (2) "
            "may not alias any inputs to this custom operator\nreturn a clone()"
        )
    return out


def _check_schema(operator, args, kwargs):
    """Only what the schema says is written to, and no result shares memory with an argument."""
    args, kwargs = operator.bind(*_copies((args, kwargs)))
    names = operator.signature.parameters
    before = _copies((args, kwargs))
    _run(operator, args, kwargs)
    given = dict(zip(names, (*args, *kwargs.values()), strict=False))
    kept = dict(zip(names, (*before[0], *before[1].values()), strict=False))
    written = set(re.findall(r"!\)\S*\s+(\w+)", operator.schema))
    for name, value in given.items():
        pairs = zip(tensors([value]), tensors([kept[name]]), strict=True)
        if name not in written and not all(_same(now, then) for now, then in pairs):
            raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")


def _check_registration(operator, args, kwargs):
    """Gradients pass through every operation here by its formula, or say that there is none."""


def _on_meta(operator, args, kwargs):
    def moved(value):
        return value.detach().to("meta") if isinstance(value, _C.Tensor) else value

    return operator(*_pytree.tree_map(moved, args), **_pytree.tree_map(moved, kwargs))


def _check_fake(operator, args, kwargs):
    """The function for meta tensors gives what is like the results."""
    fake = list(tensors([_on_meta(operator, args, kwargs)]))
    args, kwargs = _copies((args, kwargs))
    real = list(tensors([_run(operator, args, kwargs)]))
    head = (
        f"When comparing the output of {operator.dotted}.default on FakeTensor and concrete "
        "Tensors, found mismatched tensor metadata: "
    )
    if len(real) != len(fake):
        raise MetadataMismatchError(f"{head}{len(real)} and {len(fake)} tensors")
    for a, b in zip(real, fake, strict=True):
        if a.shape != b.shape:
            raise MetadataMismatchError(f"{head}Shapes {a.shape} and {b.shape} are not equal!")
        if a.dtype is not b.dtype:
            raise MetadataMismatchError(f"{head}Dtypes {a.dtype} and {b.dtype} are not equal!")
        if a.stride() != b.stride():
            raise MetadataMismatchError(
                f"{head}Strides {a.stride()} and {b.stride()} are not equal!"
            )


def _check_gradients(operator, args, kwargs):
    """It runs for meta tensors and, where arguments require grad, backward."""
    _on_meta(operator, args, kwargs)
    args, kwargs = _copies((args, kwargs))
    leaves = [t for t in tensors((*args, *kwargs.values())) if t.requires_grad]
    results = [t for t in tensors([_run(operator, args, kwargs)]) if t.requires_grad]
    if leaves and results:
        ones = [_C.ones_like(t) for t in results]
        grad(results, leaves, ones, allow_unused=True)


_CHECKS = {
    "test_schema": _check_schema,
    "test_autograd_registration": _check_registration,
    "test_faketensor": _check_fake,
    "test_aot_dispatch_dynamic": _check_gradients,
}


def opcheck(
    op,
    args,
    kwargs=None,
    *,
    test_utils=tuple(_CHECKS),
    raise_exception=True,
    atol=None,
    rtol=None,
):
    """Whether an operation does what its registrations say: its schema, its function for meta
    tensors, its formula of gradients.

    Args:
        op: what custom_op() made, or torch.ops.namespace.name.
        args, kwargs: arguments to call it with.
        test_utils: the names of the tests.
        raise_exception: raise for the first that fails.
        atol, rtol: not read, as nothing is compiled whose results could differ.

    Returns: "SUCCESS" or the error, by the name of the test.

    Raises:
        OpCheckError: a test that fails.
        RuntimeError: an operation that is none of torch.library's, or another name of a test.

    >>> @torch.library.custom_op("docs::halved", mutates_args=())
    ... def halved(x: torch.Tensor) -> torch.Tensor:
    ...     return x / 2
    >>> torch.library.opcheck(halved, (torch.ones(2),), test_utils="test_schema")
    {'test_schema': 'SUCCESS'}
    """
    name = _name_of(op).removesuffix(".default")
    if name not in operators:
        raise RuntimeError(f"opcheck(): {name} is none of torch.library's operations")
    wanted = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    if unknown := [test for test in wanted if test not in _CHECKS]:
        raise RuntimeError(
            f"opcheck(): expected tests among {', '.join(_CHECKS)}, got {', '.join(unknown)}"
        )
    found = {}
    for test in wanted:
        try:
            _CHECKS[test](operators[name], args, kwargs or {})
            found[test] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {test} failed with {error}") from error
            found[test] = error
    return found
