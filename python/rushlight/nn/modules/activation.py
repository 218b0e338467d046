"""Activations: the smooth ones, gates and softmax; the others come from activation_*.py."""

from rushlight import _C
from rushlight.nn import functional as F
from rushlight.nn.modules._class_path import settle
from rushlight.nn.modules._inplace import InPlace
from rushlight.nn.modules.activation_attention import MultiheadAttention
from rushlight.nn.modules.activation_hard import (
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    Softshrink,
)
from rushlight.nn.modules.activation_relu import (
    CELU,
    ELU,
    SELU,
    LeakyReLU,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    Threshold,
)
from rushlight.nn.modules.module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class Sigmoid(Module):
    """1 / (1 + exp(-x)).

    Shape: any; the output has the input's.

    >>> torch.nn.Sigmoid()(torch.zeros(1))
    tensor([0.5000])
    """

    def forward(self, input):
        return _C.sigmoid(input)


class Tanh(Module):
    """tanh(x) = (exp(x) - exp(-x)) / (exp(x) + exp(-x)).

    Shape: any; the output has the input's.

    >>> torch.nn.Tanh()(torch.zeros(1))
    tensor([0.])
    """

    def forward(self, input):
        return _C.tanh(input)


class SiLU(InPlace):
    """x * sigmoid(x), also called swish (Elfwing et al., 2017).

    Args:
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.SiLU()(torch.zeros(1))
    tensor([0.])
    """

    inplace: bool

    function = staticmethod(F.silu)


class GELU(Module):
    """x * Phi(x), Phi the standard normal distribution function (Hendrycks and Gimpel, 2016).

    Args:
        approximate: "none", or "tanh" for 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).

    Shape: any; the output has the input's.

    >>> torch.nn.GELU()(torch.tensor([1.0]))
    tensor([0.8413])
    """

    approximate: str

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class Mish(InPlace):
    """x * tanh(softplus(x)) (Misra, 2019).

    Args:
        inplace: write the result over the input.

    Shape: any; the output has the input's.

    >>> torch.nn.Mish()(torch.zeros(1))
    tensor([0.])
    """

    inplace: bool

    function = staticmethod(F.mish)


class Softplus(Module):
    """log(1 + exp(beta x)) / beta, and x itself where beta x > threshold.

    Args:
        beta: sharpness; a larger one is closer to ReLU.
        threshold: where beta x is above it, the result is x itself.

    Shape: any; the output has the input's.

    >>> torch.nn.Softplus()(torch.zeros(1))
    tensor([0.6931])
    """

    beta: float
    threshold: float

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

    Shape: any; the output has the input's.

    >>> torch.nn.LogSigmoid()(torch.zeros(1))
    tensor([-0.6931])
    """

    def forward(self, input):
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|).

    Shape: any; the output has the input's.

    >>> torch.nn.Softsign()(torch.tensor([1.0]))
    tensor([0.5000])
    """

    def forward(self, input):
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x).

    Shape: any; the output has the input's.

    >>> torch.nn.Tanhshrink()(torch.tensor([1.0]))
    tensor([0.2384])
    """

    def forward(self, input):
        return F.tanhshrink(input)


class GLU(Module):
    """a * sigmoid(b), a and b the halves of x along `dim` (Dauphin et al., 2017).

    Args:
        dim: the dimension that is halved.

    Shape: (*, 2 c, *) to (*, c, *).

    >>> torch.nn.GLU()(torch.tensor([2.0, 0.0]))
    tensor([1.])
    """

    dim: int

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.glu(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class Softmax(Module):
    """exp(x_i) / sum_j exp(x_j) along `dim`: logits to probabilities.

    Args:
        dim: the dimension whose elements sum to 1.

    Shape: any; the output has the input's.

    >>> torch.nn.Softmax(dim=1)(torch.zeros(1, 4))
    tensor([[0.2500, 0.2500, 0.2500, 0.2500]])
    """

    dim: int | None

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

    Args:
        dim: the dimension whose elements sum to 1.

    Shape: any; the output has the input's.

    >>> torch.nn.Softmin(dim=0)(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    dim: int | None

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.softmin(input, self.dim, _stacklevel=5)

    def extra_repr(self):
        return f"dim={self.dim}"


class Softmax2d(Module):
    """Softmax over the channels, at each pixel.

    Shape: (n, c, h, w) or (c, h, w) to the same.

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
    """log(softmax(x)) along `dim`, without overflow.

    Args:
        dim: the dimension whose probabilities sum to 1.

    Shape: any; the output has the input's.

    >>> torch.nn.LogSoftmax(dim=0)(torch.zeros(2))
    tensor([-0.6931, -0.6931])
    """

    dim: int | None

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self):
        return f"dim={self.dim}"


settle(globals())
