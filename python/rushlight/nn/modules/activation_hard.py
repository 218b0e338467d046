"""Piecewise linear or quadratic activations: attributes of activation.py, as in torch."""

import warnings

from rushlight.nn import functional as F
from rushlight.nn.modules._inplace import InPlace
from rushlight.nn.modules.module import Module

__all__ = [
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "Softshrink",
]


class Hardtanh(Module):
    """x, clamped to [min_val, max_val].

    Args:
        min_val, max_val: bounds of the result.
        inplace: write the result over the input.
        min_value, max_value: older names of the bounds.

    Shape: any; the output has the input's.

    >>> torch.nn.Hardtanh(-2, 2)(torch.tensor([-3.0, 1.0]))
    tensor([-2.,  1.])
    """

    min_val: float
    max_val: float
    inplace: bool

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__()
        for old, new in (("min_val", min_value), ("max_val", max_value)):
            if new is not None:
                warnings.warn(
                    f"keyword argument `{old}ue` is deprecated and renamed to `{old}`",
                    FutureWarning,
                    stacklevel=2,
                )
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self):
        text = f"min_val={self.min_val}, max_val={self.max_val}"
        return text + (", inplace=True" if self.inplace else "")


class Hardsigmoid(InPlace):
    """relu6(x + 3) / 6.

    Args:
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.Hardsigmoid()(torch.zeros(1))
    tensor([0.5000])
    """

    inplace: bool

    function = staticmethod(F.hardsigmoid)

    def extra_repr(self):
        return ""


class Hardswish(InPlace):
    """x * relu6(x + 3) / 6 (Howard et al., 2019).

    Args:
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.Hardswish()(torch.tensor([3.0]))
    tensor([3.])
    """

    inplace: bool

    function = staticmethod(F.hardswish)

    def extra_repr(self):
        return ""


class _Shrink(Module):
    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def extra_repr(self):
        return str(self.lambd)


class Hardshrink(_Shrink):
    """x where |x| > lambd, else 0.

    Args:
        lambd: half the width of the interval around 0 that becomes 0.

    Shape: any; the output has the input's.

    >>> torch.nn.Hardshrink()(torch.tensor([0.4, 2.0]))
    tensor([0., 2.])
    """

    lambd: float

    def forward(self, input):
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x - lambd where x > lambd, x + lambd where x < -lambd, else 0.

    Args:
        lambd: half the width of the interval around 0 that becomes 0.

    Shape: any; the output has the input's.

    >>> torch.nn.Softshrink()(torch.tensor([0.4, 2.0]))
    tensor([0.0000, 1.5000])
    """

    lambd: float

    def forward(self, input):
        return F.softshrink(input, self.lambd)
