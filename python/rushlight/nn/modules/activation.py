"""Activations as modules: the ones used most. The others are in activation_more.py."""

from rushlight import _C
from rushlight.nn import functional as F
from rushlight.nn.init import constant_
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter

__all__ = [
    "ELU",
    "GELU",
    "SELU",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Tanh",
]  # fmt: skip


def _flag(inplace, before=""):
    return f"{before}inplace=True" if inplace else ""


class ReLU(Module):
    """max(x, 0).

    Args:
        inplace: write the result over the input.

    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return _C.relu_(input) if self.inplace else _C.relu(input)

    def extra_repr(self):
        return _flag(self.inplace)


class Sigmoid(Module):
    """1 / (1 + exp(-x)).

    >>> torch.nn.Sigmoid()(torch.zeros(1))
    tensor([0.5000])
    """

    def forward(self, input):
        return _C.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent.

    >>> torch.nn.Tanh()(torch.zeros(1))
    tensor([0.])
    """

    def forward(self, input):
        return _C.tanh(input)


class SiLU(Module):
    """x * sigmoid(x), also called swish.

    >>> torch.nn.SiLU()(torch.zeros(1))
    tensor([0.])
    """

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.silu(input, self.inplace)

    def extra_repr(self):
        return _flag(self.inplace)


class ELU(Module):
    """x where x > 0, else alpha * (exp(x) - 1).

    >>> torch.nn.ELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input):
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self):
        return f"alpha={self.alpha}" + _flag(self.inplace, ", ")


class SELU(Module):
    """The ELU whose two constants keep mean 0 and variance 1 (Klambauer et al., 2017).

    >>> torch.nn.SELU()(torch.tensor([1.0]))
    tensor([1.0507])
    """

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.selu(input, self.inplace)

    def extra_repr(self):
        return _flag(self.inplace)


class GELU(Module):
    """x * Phi(x), Phi the normal distribution function (Hendrycks and Gimpel, 2016).

    Args:
        approximate: "none", or "tanh" for the approximation by tanh.

    >>> torch.nn.GELU()(torch.tensor([1.0]))
    tensor([0.8413])
    """

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class ReLU6(Module):
    """min(max(x, 0), 6).

    >>> torch.nn.ReLU6()(torch.tensor([-1.0, 7.0]))
    tensor([0., 6.])
    """

    def __init__(self, inplace=False):
        super().__init__()
        self.min_val = 0.0
        self.max_val = 6.0
        self.inplace = inplace

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self):
        return _flag(self.inplace)


class LeakyReLU(Module):
    """x where x > 0, else negative_slope * x.

    >>> torch.nn.LeakyReLU(0.5)(torch.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self):
        return f"negative_slope={self.negative_slope}" + _flag(self.inplace, ", ")


class PReLU(Module):
    """x where x > 0, else weight * x, the weight being learned (He et al., 2015).

    Args:
        num_parameters: 1, or the number of channels (dimension 1).
        init: the weight's first value.

    >>> torch.nn.PReLU()(torch.tensor([-4.0])).item()
    -1.0
    """

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


class Softplus(Module):
    """log(1 + exp(beta x)) / beta, and x itself where beta x > threshold.

    >>> torch.nn.Softplus()(torch.zeros(1))
    tensor([0.6931])
    """

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self):
        return f"beta={self.beta}, threshold={self.threshold}"


class LogSigmoid(Module):
    """log(1 / (1 + exp(-x))), without overflow.

    >>> torch.nn.LogSigmoid()(torch.zeros(1))
    tensor([-0.6931])
    """

    def forward(self, input):
        return F.logsigmoid(input)


class Softmax(Module):
    """exp(x) / sum(exp(x)) along `dim`.

    >>> torch.nn.Softmax(dim=1)(torch.zeros(1, 4))
    tensor([[0.2500, 0.2500, 0.2500, 0.2500]])
    """

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def __setstate__(self, state):
        super().__setstate__(state)
        if not hasattr(self, "dim"):
            self.dim = None

    def forward(self, input):
        return F.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self):
        return f"dim={self.dim}"


class Softmin(Module):
    """softmax(-x) along `dim`.

    >>> torch.nn.Softmin(dim=0)(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.softmin(input, self.dim, _stacklevel=5)

    def extra_repr(self):
        return f"dim={self.dim}"


class Softmax2d(Module):
    """Softmax over the channels of a (n, c, h, w) or (c, h, w) input.

    >>> torch.nn.Softmax2d()(torch.zeros(1, 2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return F.softmax(input, -3)


class LogSoftmax(Module):
    """log(softmax(x)) along `dim`.

    >>> torch.nn.LogSoftmax(dim=0)(torch.zeros(2))
    tensor([-0.6931, -0.6931])
    """

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self):
        return f"dim={self.dim}"
