"""torch.signal.windows: weights that fade a stretch of samples in and out."""

import math

from rushlight import _C

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _samples(name, M, sym, dtype, layout, device, requires_grad, formula):
    """formula(k, n) of the positions k of a window of n samples; a periodic one lacks its last."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    dtype = _C.get_default_dtype() if dtype is None else dtype
    if dtype not in (_C.float32, _C.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if layout is not None and layout is not _C.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    n = M if sym else M + 1
    k = _C.arange(M, dtype=_C.float64)
    window = formula(k, n) if M > 1 else _C.ones(M, dtype=_C.float64)
    return window.to(dtype).to(device or "cpu").requires_grad_(requires_grad)


def general_cosine(M, *, a, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The sum of (-1)^i a[i] cos(2 pi i k / (M - 1)), k being 0 to M - 1.

    Args:
        M: the number of samples.
        a: the coefficients.
        sym: a symmetric window; else one of M + 1 samples without the last, for spectra.
        dtype, device, requires_grad: of the result.

    Shape: (M).

    >>> torch.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")

    def formula(k, n):
        return sum((-1) ** i * c * (2 * math.pi * i / (n - 1) * k).cos() for i, c in enumerate(a))

    return _samples("general_cosine", M, sym, dtype, layout, device, requires_grad, formula)


def general_hamming(
    M, *, alpha=0.54, sym=True, dtype=None, layout=None, device=None, requires_grad=False
):
    """alpha - (1 - alpha) * cos(2 pi k / (M - 1)), k being 0 to M - 1.

    Args:
        M: the number of samples.
        alpha: of the formula.
        sym: a symmetric window; else one of M + 1 samples without the last, for spectra.
        dtype, device, requires_grad: of the result.

    Shape: (M).

    >>> torch.signal.windows.general_hamming(3, alpha=0.5)
    tensor([0., 1., 0.])
    """
    return general_cosine(
        M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device,
        requires_grad=requires_grad,
    )  # fmt: skip


def hamming(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """general_hamming() with alpha = 0.54.

    >>> torch.signal.windows.hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return general_hamming(
        M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def hann(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """general_hamming() with alpha = 0.5.

    >>> torch.signal.windows.hann(3)
    tensor([0., 1., 0.])
    """
    return general_hamming(
        M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device,
        requires_grad=requires_grad,
    )  # fmt: skip


def blackman(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """general_cosine() with 0.42, 0.5, 0.08.

    >>> torch.signal.windows.blackman(3).round(decimals=4).abs()
    tensor([0., 1., 0.])
    """
    return general_cosine(
        M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device,
        requires_grad=requires_grad,
    )  # fmt: skip


def nuttall(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """general_cosine() with Nuttall's four coefficients.

    >>> torch.signal.windows.nuttall(3)[1]
    tensor(1.)
    """
    return general_cosine(
        M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype, layout=layout,
        device=device, requires_grad=requires_grad,
    )  # fmt: skip


def bartlett(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The Bartlett window, a triangle: 1 - |2 k / (M - 1) - 1|.

    Args:
        M: the number of samples.
        sym: a symmetric window; else one of M + 1 samples without the last, for spectra.
        dtype, device, requires_grad: of the result.

    Shape: (M).

    >>> torch.signal.windows.bartlett(3)
    tensor([0., 1., 0.])
    """

    def formula(k, n):
        return 1 - (2 * k / (n - 1) - 1).abs()

    return _samples("bartlett", M, sym, dtype, layout, device, requires_grad, formula)


def cosine(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The cosine window, half a wave: sin(pi (k + 0.5) / M).

    Args: as of bartlett.

    Shape: (M).

    >>> torch.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """

    def formula(k, n):
        return (math.pi * (k + 0.5) / n).sin()

    if M == 1:
        return _C.ones(1, dtype=dtype, device=device, requires_grad=requires_grad)
    return _samples("cosine", M, sym, dtype, layout, device, requires_grad, formula)


def exponential(
    M, *, center=None, tau=1.0, sym=True, dtype=None, layout=None, device=None,
    requires_grad=False,
):  # fmt: skip
    """The exponential window: exp(-|k - center| / tau).

    Args: as of bartlett.
        center: the sample of value 1; the middle if None.
        tau: the decay.

    Shape: (M).

    >>> torch.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def formula(k, n):
        middle = (n - 1) / 2 if center is None else center
        return (-(k - middle).abs() / tau).exp()

    return _samples("exponential", M, sym, dtype, layout, device, requires_grad, formula)


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The Gaussian window: exp(-(k - (M - 1) / 2)^2 / (2 std^2)).

    Args: as of bartlett.
        std: the standard deviation, in samples.

    Shape: (M).

    >>> torch.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")

    def formula(k, n):
        return (-0.5 * ((k - (n - 1) / 2) / std).square()).exp()

    return _samples("gaussian", M, sym, dtype, layout, device, requires_grad, formula)


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The Kaiser window: I0(beta sqrt(1 - (2 k / (M - 1) - 1)^2)) / I0(beta).

    Args: as of bartlett.
        beta: a larger one lowers the side lobes and widens the main one.

    Shape: (M).

    >>> torch.signal.windows.kaiser(3, beta=3.0)
    tensor([0.2049, 1.0000, 0.2049])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    from rushlight.special import i0e

    def formula(k, n):
        middle = (n - 1) / 2
        inner = beta * (1 - ((k - middle) / middle).square()).clamp(min=0).sqrt()
        whole = _C.tensor(float(beta), dtype=_C.float64)
        return i0e(inner) / i0e(whole) * (inner - whole).exp()

    return _samples("kaiser", M, sym, dtype, layout, device, requires_grad, formula)
