"""The windows of the top level: hann_window() and its like, periodic by default."""

from __future__ import annotations

import math

from rushlight._table import op
from rushlight.signal import windows as _windows

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


def _checked(name, length):
    if length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )
    return length


def _finished(window, pin_memory, requires_grad):
    window = window.pin_memory() if pin_memory else window
    return window.requires_grad_(requires_grad)


@op("torch")
def hann_window(window_length: int, periodic: bool = True, *, dtype=None, layout=None, device=None,
                pin_memory=False, requires_grad=False):  # fmt: skip
    """The Hann window: (1 - cos(2 pi n / N)) / 2.

    Args:
        window_length: the number of samples.
        periodic: N is window_length, for spectra; else window_length - 1, a symmetric window.
        dtype, device, pin_memory, requires_grad: of the result.

    Shape: (window_length).

    >>> torch.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    n = _checked("hann_window", window_length)
    window = _windows.hann(n, sym=not periodic, dtype=dtype, layout=layout, device=device)
    return _finished(window, pin_memory, requires_grad)


@op("torch")
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha=0.54,
    beta=0.46,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """The Hamming window: alpha - beta * cos(2 pi n / N).

    Args: as of hann_window.
        alpha, beta: of the formula.

    Shape: (window_length).

    >>> torch.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    n = _checked("hamming_window", window_length)
    window = _windows.general_cosine(
        n, a=[alpha, beta], sym=not periodic, dtype=dtype, layout=layout, device=device
    )  # fmt: skip
    return _finished(window, pin_memory, requires_grad)


@op("torch")
def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """The Blackman window: 0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N).

    Args: as of hann_window.

    Shape: (window_length).

    >>> torch.blackman_window(4)[2]
    tensor(1.)
    """
    n = _checked("blackman_window", window_length)

    def formula(k, count):  # in torch's order, by which the ends are 0
        x = k * (math.pi / (count - 1))
        return (4 * x).cos() * 0.08 - (2 * x).cos() * 0.5 + 0.42

    window = _windows._samples(
        "blackman_window", n, not periodic, dtype, layout, device, False, formula
    )
    return _finished(window, pin_memory, requires_grad)


@op("torch")
def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """The Bartlett window, a triangle: 1 - |2 n / N - 1|.

    Args: as of hann_window.

    Shape: (window_length).

    >>> torch.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    n = _checked("bartlett_window", window_length)
    window = _windows.bartlett(n, sym=not periodic, dtype=dtype, layout=layout, device=device)
    return _finished(window, pin_memory, requires_grad)


@op("torch")
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta=12.0,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """The Kaiser window: I0(beta sqrt(1 - (2 n / N - 1)^2)) / I0(beta).

    Args: as of hann_window.
        beta: a larger one lowers the side lobes and widens the main one.

    Shape: (window_length).

    >>> torch.kaiser_window(3, False, 3.0)
    tensor([0.2049, 1.0000, 0.2049])
    """
    n = _checked("kaiser_window", window_length)
    window = _windows.kaiser(
        n, beta=beta, sym=not periodic, dtype=dtype, layout=layout, device=device
    )  # fmt: skip
    return _finished(window, pin_memory, requires_grad)
