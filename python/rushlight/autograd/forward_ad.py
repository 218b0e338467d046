"""Forward-mode differentiation: tensors with tangents.

Note: tangents are not carried along. Operations on a dual tensor are recorded, under no_grad() too,
and unpack_dual() computes the product with the Jacobian from two backward passes.
"""

import threading
from typing import NamedTuple

from rushlight import _C
from rushlight._func import checks
from rushlight._func.derivatives import _forward_product, _writable
from rushlight.autograd.function import _Forwards

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
    "unpack_dual",
]  # fmt: skip

_levels = threading.local()


class UnpackedDualTensor(NamedTuple):
    """A tensor and its tangent: what unpack_dual() returns.

    Args:
        primal: the tensor.
        tangent: its tangent, or None.

    Shape: both have one shape.

    >>> torch.autograd.forward_ad.UnpackedDualTensor(torch.ones(1), None).tangent is None
    True
    """

    primal: "_C.Tensor"
    tangent: "_C.Tensor | None"


class _Dual(NamedTuple):
    """A dual tensor: `watched`, of the same memory, is what its tangent is of, and `version` that
    of the memory when it was made.
    """

    dual: "_C.Tensor"
    watched: "_C.Tensor"
    tangent: "_C.Tensor"
    version: int


def _open():
    """The dual tensors of the level that is on; None outside of one."""
    return getattr(_levels, "duals", None)


def enter_dual_level():
    """Begins a level; returns its number, 0.

    Raises:
        RuntimeError: within another level.

    >>> torch.autograd.forward_ad.enter_dual_level()
    0
    >>> torch.autograd.forward_ad.exit_dual_level()
    """
    if _open() is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.duals, _levels.outer = [], _C._set_forward_level(-1)
    return 0


def exit_dual_level(*, level=None):
    """Ends the level: tensors made in it lose their tangents.

    Args:
        level: the number that enter_dual_level() returned.

    >>> level = torch.autograd.forward_ad.enter_dual_level()
    >>> torch.autograd.forward_ad.exit_dual_level(level=level)
    """
    if _open() is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            "not supported."
        )
    _levels.duals = None
    _C._set_forward_level(_levels.outer)


class dual_level:
    """A level for a block.

    >>> fw = torch.autograd.forward_ad
    >>> with fw.dual_level():
    ...     x = fw.make_dual(torch.tensor(3.0), torch.tensor(1.0))
    ...     fw.unpack_dual(x * x).tangent
    tensor(6.)
    """

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *error):
        exit_dual_level()


def make_dual(tensor, tangent, *, level=None):
    """A tensor like `tensor` that has a tangent.

    Args:
        tensor: the primal, floating-point.
        tangent: of its shape.
        level: the number of the level, 0; None for it.

    Shape: tangent has the shape of tensor, which is that of the result.

    Raises:
        RuntimeError: outside of the level, for a tangent of another shape, or a dual tensor.
        ValueError: if one of them is not floating.

    >>> fw = torch.autograd.forward_ad
    >>> with fw.dual_level():
    ...     fw.unpack_dual(fw.make_dual(torch.ones(2), torch.zeros(2))).tangent
    tensor([0., 0.])
    """
    duals = _open()
    if duals is None or (level is not None and level < 0):
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    if level:
        raise RuntimeError("Invalid level given to _make_dual")
    for name, given in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(given, _C.Tensor):
            raise TypeError(f"make_dual(): {name} must be Tensor, not {type(given).__name__}")
        checks.floating(name, given)
    checks.same_size(tensor, tangent)
    if any(known.dual is tensor for known in duals):
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            "same level 0 is not supported."
        )
    recorded = tensor.requires_grad and _C.is_grad_enabled()
    watched = tensor.view_as(tensor) if recorded else tensor.detach().requires_grad_()
    dual = _writable(watched)
    duals.append(_Dual(dual, watched, tangent, dual._version))
    return dual


def unpack_dual(tensor, *, level=None):
    """The tensor without its tangent, and the tangent: None if it depends on no dual tensor.

    Args:
        tensor: a tensor.
        level: the number of the level, 0; None for it.

    Shape: both have the shape of tensor.

    Raises:
        RuntimeError: for another level.

    >>> fw = torch.autograd.forward_ad
    >>> with fw.dual_level():
    ...     x = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
    ...     fw.unpack_dual(x.exp().sum()).tangent
    tensor(2.7183)
    """
    if not isinstance(tensor, _C.Tensor):
        raise TypeError(f"unpack_dual(): argument must be Tensor, not {type(tensor).__name__}")
    if level is not None and level > 0:
        raise RuntimeError("Invalid level given to _fw_primal")
    duals = None if level is not None and level < 0 else _open()
    if not duals or not tensor.requires_grad:
        return UnpackedDualTensor(tensor, None)
    for known in duals:
        if known.dual is tensor and known.version == tensor._version:
            return UnpackedDualTensor(tensor.detach(), known.tangent)
    from rushlight.autograd import grad

    weight = _C.zeros_like(tensor)
    inputs = [known.watched for known in duals]
    with _Forwards():
        reached = grad(tensor, inputs, weight, retain_graph=True, allow_unused=True)
    used = [known for known, g in zip(duals, reached, strict=True) if g is not None]
    if not used:
        return UnpackedDualTensor(tensor, None)
    record = any(not known.watched.is_leaf or known.tangent.requires_grad for known in used)
    watched = tuple(known.watched for known in used)
    tangents = tuple(known.tangent.to(known.watched.dtype) for known in used)
    product = _forward_product(tensor, watched, tangents, record)
    if record:
        return UnpackedDualTensor(tensor.view_as(tensor), product)
    return UnpackedDualTensor(tensor.detach(), product.detach())
