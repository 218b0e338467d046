"""The less common activations. torch keeps them in activation.py, and so do their class paths."""

from rushlight.nn import functional as F
from rushlight.nn.modules import activation
from rushlight.nn.modules.module import Module

__all__ = [
    "CELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "Mish", "RReLU",
    "Softshrink", "Softsign", "Tanhshrink", "Threshold",
]  # fmt: skip


class Threshold(Module):
    """x where x > threshold, else value.

    >>> torch.nn.Threshold(0.1, 20.0)(torch.tensor([0.0, 1.0]))
    tensor([20.,  1.])
    """

    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input):
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self):
        text = f"threshold={self.threshold}, value={self.value}"
        return text + (", inplace=True" if self.inplace else "")


class RReLU(Module):
    """leaky_relu with a slope drawn from U(lower, upper) in training (Xu et al., 2015).

    >>> torch.nn.RReLU(0.5, 0.5)(torch.tensor([-1.0])).item()
    -0.5
    """

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self):
        text = f"lower={self.lower}, upper={self.upper}"
        return text + (", inplace=True" if self.inplace else "")


class Hardtanh(Module):
    """x, kept between min_val and max_val.

    >>> torch.nn.Hardtanh(-2, 2)(torch.tensor([-3.0, 1.0]))
    tensor([-2.,  1.])
    """

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val must be larger than min_val, got {self.max_val} and {self.min_val}"
            )

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self):
        text = f"min_val={self.min_val}, max_val={self.max_val}"
        return text + (", inplace=True" if self.inplace else "")


class Hardsigmoid(Module):
    """relu6(x + 3) / 6.

    >>> torch.nn.Hardsigmoid()(torch.zeros(1))
    tensor([0.5000])
    """

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Module):
    """x * relu6(x + 3) / 6 (Howard et al., 2019).

    >>> torch.nn.Hardswish()(torch.tensor([3.0]))
    tensor([3.])
    """

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.hardswish(input, self.inplace)


class Mish(Module):
    """x * tanh(softplus(x)) (Misra, 2019).

    >>> torch.nn.Mish()(torch.zeros(1))
    tensor([0.])
    """

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.mish(input, self.inplace)

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


class CELU(Module):
    """max(x, 0) + min(0, alpha * (exp(x / alpha) - 1)) (Barron, 2017).

    >>> torch.nn.CELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input):
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self):
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class GLU(Module):
    """a * sigmoid(b), a and b the halves of x along `dim` (Dauphin et al., 2017).

    >>> torch.nn.GLU()(torch.tensor([2.0, 0.0]))
    tensor([1.])
    """

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.glu(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class Hardshrink(Module):
    """x where |x| > lambd, else 0.

    >>> torch.nn.Hardshrink()(torch.tensor([0.4, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input):
        return F.hardshrink(input, self.lambd)

    def extra_repr(self):
        return f"{self.lambd}"


class Softshrink(Module):
    """x moved by lambd towards 0, and 0 where |x| <= lambd.

    >>> torch.nn.Softshrink()(torch.tensor([0.4, 2.0]))
    tensor([0.0000, 1.5000])
    """

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input):
        return F.softshrink(input, self.lambd)

    def extra_repr(self):
        return str(self.lambd)


class Softsign(Module):
    """x / (1 + |x|).

    >>> torch.nn.Softsign()(torch.tensor([1.0]))
    tensor([0.5000])
    """

    def forward(self, input):
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x).

    >>> torch.nn.Tanhshrink()(torch.tensor([1.0]))
    tensor([0.2384])
    """

    def forward(self, input):
        return F.tanhshrink(input)


def _settle(home, names, classes):
    """Gives classes the module path under which torch, and its pickles, know them."""
    for name in names:
        classes[name].__module__ = home.__name__
        setattr(home, name, classes[name])


_settle(activation, __all__, globals())
