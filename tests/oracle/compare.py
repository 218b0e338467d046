"""Two outcomes held against each other: count, shape, dtype, history, values."""

import torch

import rushlight
from tests.oracle.transfer import BACK, leaves, to_torch

# rtol, atol: those of torch.testing.assert_close; integers and bools are exact.
TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
}
# A complex number is one number: its error is relative to its magnitude.
TOLERANCES[torch.complex64] = TOLERANCES[torch.float32]
TOLERANCES[torch.complex128] = TOLERANCES[torch.float64]


class Difference(Exception):
    """Our outcome is not torch's; the text says where."""


def wide(t):
    return t.to(torch.complex128 if t.is_complex() else torch.float64)


def relative_error(ours, theirs):
    """The largest |a - b| / (|b| + atol / rtol); inf where only one is finite or NaN."""
    if theirs.dtype not in TOLERANCES:
        return float((ours != theirs).any()) * float("inf") if ours.ne(theirs).any() else 0.0
    rtol, atol = TOLERANCES[theirs.dtype]
    a, b = wide(ours), wide(theirs)
    error = (a - b).abs() / (b.abs() + atol / rtol)
    error[(a == b) | (a.isnan() & b.isnan())] = 0
    error[error.isnan()] = float("inf")
    return float(error.max()) if error.numel() else 0.0


def same_values(ours, theirs, what, slack=1.0, exact=None):
    """Raises Difference, or returns the relative error. `exact()`, if given, computes the result
    in float64: where torch itself is far from that, we may be as far."""
    error = relative_error(ours, theirs)
    if theirs.dtype not in TOLERANCES:
        if error:
            at = (ours != theirs).nonzero()[0].tolist()
            raise Difference(f"{what}{at}: {ours[tuple(at)]} for torch's {theirs[tuple(at)]}")
        return 0.0
    limit = slack * TOLERANCES[theirs.dtype][0]
    if error <= limit:
        return error
    if exact is not None and theirs.dtype not in (torch.float64, torch.complex128):
        truth = exact()
        if truth is not None and truth.shape == theirs.shape:
            truth = wide(truth)
            if relative_error(wide(ours), truth.to(theirs.dtype)) <= limit:
                return limit  # torch overflowed on its way
            mine, yours = (wide(x) - truth for x in (ours, theirs))
            if torch.equal(mine.isfinite(), yours.isfinite()):
                mine, yours = (x[x.isfinite()].abs().max() for x in (mine, yours))
                if (
                    mine <= 2 * yours
                    or mine <= 2 * TOLERANCES[theirs.dtype][0] * truth[truth.isfinite()].abs().max()
                ):
                    return limit
    a, b = wide(ours), wide(theirs)
    wrong = ~((a == b) | (a.isnan() & b.isnan()))
    rtol, atol = TOLERANCES[theirs.dtype]
    distance = (a - b).abs() / (b.abs() + atol / rtol)
    distance[distance.isnan()] = float("inf")
    distance[~wrong] = -1
    at = distance.flatten().argmax()
    raise Difference(
        f"{what}: {a.flatten()[at]:.9g} for torch's {b.flatten()[at]:.9g} at {int(at)}"
        f" of {tuple(theirs.shape)}, error {error:.2g}"
    )


def differ(a, b):
    """Whether two tensors of one shape differ in strides; those of dimensions of size 1, and of
    tensors without elements, say nothing."""
    pairs = zip(a.shape, a.stride(), b.stride(), strict=True)
    return b.numel() and any(n > 1 and s != t for n, s, t in pairs)


def same_outcome(
    ours, theirs, what="", values=True, history=True, exact=None, strides=True, slack=1.0
):
    """Raises Difference at the first one; returns the worst relative error. Without `strides`, only
    what is contiguous in torch must be so here: a view() would fail here alone. `slack`: how many
    of torch's tolerances values may be apart."""
    mine, yours = leaves(ours), leaves(theirs)
    if len(mine) != len(yours):
        raise Difference(f"{what}{len(mine)} results for torch's {len(yours)}")
    worst = 0.0
    for i, (a, b) in enumerate(zip(mine, yours, strict=False)):
        name = f"{what}result {i}" if len(mine) > 1 else f"{what}result"
        if isinstance(b, torch.Tensor):
            if not isinstance(a, rushlight.Tensor):
                raise Difference(f"{name} is {type(a).__name__}, not a tensor")
            if str(a.layout) != str(b.layout):
                raise Difference(f"{name} has the layout {a.layout}, torch's {b.layout}")
            if b.layout is not torch.strided:
                a, b = a.to_dense(), b.to_dense()
            if tuple(a.shape) != tuple(b.shape):
                raise Difference(f"{name} has shape {tuple(a.shape)}, torch's {tuple(b.shape)}")
            if BACK[str(a.dtype)] != b.dtype:
                raise Difference(f"{name} is {a.dtype}, torch's {b.dtype}")
            if history and a.requires_grad != b.requires_grad:
                raise Difference(f"{name} has requires_grad={a.requires_grad}, unlike torch's")
            if differ(a, b) and (strides or b.is_contiguous()):
                raise Difference(f"{name} has strides {a.stride()}, torch's {b.stride()}")
            if values:
                truth = None if exact is None else lambda i=i: exact(i)
                worst = max(worst, same_values(to_torch(a), b.detach(), name, slack, truth))
        elif isinstance(b, float):
            if not isinstance(a, float) or not (a == b or (a != a and b != b)):
                raise Difference(f"{name} is {a!r}, torch's {b!r}")
        elif isinstance(b, (torch.dtype, torch.device, torch.Size)):
            if str(a) != str(b):
                raise Difference(f"{name} is {a}, torch's {b}")
        elif type(b).__module__.startswith("torch"):
            raise Difference(f"{name} is a {type(b).__name__}")
        elif a != b or type(a) is not type(b):
            raise Difference(f"{name} is {a!r}, torch's {b!r}")
    return worst
