"""torch.fft: discrete Fourier transforms, their order and their frequencies."""

from rushlight import _C

_COMPILED = [name for name in vars(_C._fft) if not name.startswith("_")]
globals().update({name: getattr(_C._fft, name) for name in _COMPILED})
__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq", *_COMPILED]


def _shift(input, dim, sign):
    dims = range(input.dim()) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    sizes = [input.size(d) for d in dims]
    return _C.roll(input, [n // 2 if sign > 0 else (n + 1) // 2 for n in sizes], list(dims))


def fftshift(input, dim=None):
    """Moves the zero frequency from the start of each dimension to its middle.

    Args:
        input: the values of a transform.
        dim: the dimension or dimensions; all if None.

    >>> torch.fft.fftshift(torch.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return _shift(input, dim, 1)


def ifftshift(input, dim=None):
    """Moves the middle of each dimension to its start: the reverse of fftshift.

    Args: as of fftshift.

    >>> torch.fft.ifftshift(torch.tensor([-2, -1, 0, 1, 2]))
    tensor([ 0,  1,  2, -2, -1])
    """
    return _shift(input, dim, -1)


def _frequencies(name, n, d, count, out, dtype, layout, device, requires_grad):
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"fft_{name}(): argument 'n' must be int, not {type(n).__name__}")
    if dtype is not None and not dtype.is_floating_point:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    steps = _C.arange(count, dtype=dtype or _C.get_default_dtype(), device=device, layout=layout)
    steps = steps - n * (steps > (n - 1) // 2) if name == "fftfreq" else steps
    made = steps / _C.full((), n * d, dtype=steps.dtype, device=steps.device) if n else steps
    if out is not None:
        made = out.resize_(made.shape).copy_(made)
    return made.requires_grad_() if requires_grad else made


def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=_C.strided, device=None, requires_grad=False):
    """The frequencies of a transform's n values: 0, 1, ..., -2, -1, divided by n d.

    Args:
        n: how many values.
        d: the distance between two of them.

    Shape:
        result (n).

    >>> torch.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return _frequencies("fftfreq", n, d, n, out, dtype, layout, device, requires_grad)


def rfftfreq(
    n, d=1.0, *, out=None, dtype=None, layout=_C.strided, device=None, requires_grad=False
):
    """The frequencies of a transform of n real values: 0, 1, ..., n // 2, divided by n d.

    Args: as of fftfreq.

    Shape:
        result (n // 2 + 1).

    >>> torch.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    count = n // 2 + 1 if isinstance(n, int) else n
    return _frequencies("rfftfreq", n, d, count, out, dtype, layout, device, requires_grad)
