"""ReLU and its relatives: attributes of activation.py, as in torch."""

from rushlight import _C
from rushlight.nn import functional as F
from rushlight.nn.init import constant_
from rushlight.nn.modules._inplace import InPlace, OneParameter
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter

__all__ = [
    "CELU",
    "ELU",
    "SELU",
    "LeakyReLU",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "Threshold",
]


class ReLU(InPlace):
    """max(x, 0).

    Args:
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    inplace: bool

    def forward(self, input):
        return _C.relu_(input) if self.inplace else _C.relu(input)


class ReLU6(InPlace):
    """min(max(x, 0), 6).

    Args:
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.ReLU6()(torch.tensor([-1.0, 7.0]))
    tensor([0., 6.])
    """

    def __init__(self, inplace=False):
        super().__init__(inplace)
        self.min_val = 0.0
        self.max_val = 6.0

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class LeakyReLU(OneParameter):
    """x where x > 0, else negative_slope * x.

    Args:
        negative_slope: the factor of negative elements.
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.LeakyReLU(0.5)(torch.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    inplace: bool
    negative_slope: float

    function = staticmethod(F.leaky_relu)
    parameter = "negative_slope"

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__(negative_slope, inplace)


class PReLU(Module):
    """x where x > 0, else weight * x, the weight being learned (He et al., 2015).

    Args:
        num_parameters: 1, or the number of channels (dimension 1).
        init: the weight's first value.
        device, dtype: of the weight.

    Shape: any, with the channels in dimension 1; the output has the input's.

    >>> torch.nn.PReLU()(torch.tensor([-4.0])).item()
    -1.0
    """

    num_parameters: int

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(_C.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        """Sets the weight to its first value."""
        constant_(self.weight, self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """LeakyReLU whose slope is drawn from U(lower, upper) for each element in training, and is
    their mean in evaluation (Xu et al., 2015).

    Args:
        lower, upper: bounds of the slope.
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.RReLU(0.5, 0.5)(torch.tensor([-1.0])).item()
    -0.5
    """

    lower: float
    upper: float
    inplace: bool

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


class Threshold(Module):
    """x where x > threshold, else value.

    Args:
        threshold: elements up to it are replaced.
        value: what replaces them.
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.Threshold(0.1, 20.0)(torch.tensor([0.0, 1.0]))
    tensor([20.,  1.])
    """

    threshold: float
    value: float
    inplace: bool

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


class ELU(OneParameter):
    """x where x > 0, else alpha * (exp(x) - 1) (Clevert et al., 2015).

    Args:
        alpha: the result tends to -alpha for negative x.
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.ELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    alpha: float
    inplace: bool

    function = staticmethod(F.elu)
    parameter = "alpha"

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__(alpha, inplace)


class SELU(InPlace):
    """scale * (max(x, 0) + min(0, alpha * (exp(x) - 1))), with constants that keep mean 0 and
    variance 1 (Klambauer et al., 2017): alpha = 1.6733, scale = 1.0507.

    Args:
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.SELU()(torch.tensor([1.0]))
    tensor([1.0507])
    """

    inplace: bool

    function = staticmethod(F.selu)


class CELU(OneParameter):
    """max(x, 0) + min(0, alpha * (exp(x / alpha) - 1)) (Barron, 2017).

    Args:
        alpha: the result tends to -alpha for negative x.
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.CELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    alpha: float
    inplace: bool

    function = staticmethod(F.celu)
    parameter = "alpha"

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__(alpha, inplace)
