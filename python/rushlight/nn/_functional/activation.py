"""Activations: the functions of nn.functional that have an `inplace` or a `dim` of their own."""

from rushlight import _C

__all__ = [
    "celu", "elu", "glu", "gumbel_softmax", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
    "mish", "relu", "relu6", "rrelu", "selu", "sigmoid", "silu", "softshrink",
    "softsign", "tanh", "tanhshrink", "threshold",
]  # fmt: skip


def _choose(name, input, inplace, *args):
    """The op, or its in-place form."""
    return getattr(_C._nn, name + "_" if inplace else name)(input, *args)


def relu(input, inplace=False):
    """max(x, 0).

    >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return _C.relu_(input) if inplace else _C.relu(input)


def relu6(input, inplace=False):
    """min(max(x, 0), 6).

    >>> torch.nn.functional.relu6(torch.tensor([-1.0, 7.0]))
    tensor([0., 6.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


def elu(input, alpha=1.0, inplace=False):
    """x where x > 0, else alpha * (exp(x) - 1).

    >>> torch.nn.functional.elu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return _choose("elu", input, inplace, alpha)


def selu(input, inplace=False):
    """scale * elu(x, alpha), with the two constants of Klambauer et al., 2017.

    >>> torch.nn.functional.selu(torch.tensor([1.0]))
    tensor([1.0507])
    """
    return _choose("selu", input, inplace)


def celu(input, alpha=1.0, inplace=False):
    """max(x, 0) + min(0, alpha * (exp(x / alpha) - 1)).

    >>> torch.nn.functional.celu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return _choose("celu", input, inplace, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where x > 0, else negative_slope * x.

    >>> torch.nn.functional.leaky_relu(torch.tensor([-1.0, 2.0]), 0.5)
    tensor([-0.5000,  2.0000])
    """
    return _choose("leaky_relu", input, inplace, negative_slope)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """leaky_relu with a slope drawn from U(lower, upper); without `training`, their mean.

    >>> torch.nn.functional.rrelu(torch.tensor([-1.0]), 0.5, 0.5)
    tensor([-0.5000])
    """
    if lower > upper:
        raise RuntimeError(
            "Lower bound should be less than or equal to the upper bound, but got lower "
            f"{lower} and upper {upper}"
        )
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    # A slope is drawn for each element that needs one, in their order.
    bent = input <= 0
    drawn = _C.empty(int(bent.sum()), dtype=_C.float64, device=input.device)
    drawn.uniform_(lower, upper)
    slope = _C.ones_like(input, requires_grad=False)
    slope = slope.masked_scatter(bent, drawn.to(input.dtype))
    return input.mul_(slope) if inplace else input * slope


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x, kept between min_val and max_val.

    >>> torch.nn.functional.hardtanh(torch.tensor([-4.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _choose("hardtanh", input, inplace, min_val, max_val)


def threshold(input, threshold, value, inplace=False):
    """x where x > threshold, else value.

    >>> torch.nn.functional.threshold(torch.tensor([0.0, 1.0]), 0.5, 9.0)
    tensor([9., 1.])
    """
    return _choose("threshold", input, inplace, threshold, value)


def silu(input, inplace=False):
    """x * sigmoid(x).

    >>> torch.nn.functional.silu(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7311])
    """
    return _choose("silu", input, inplace)


def mish(input, inplace=False):
    """x * tanh(softplus(x)).

    >>> torch.nn.functional.mish(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8651])
    """
    return _choose("mish", input, inplace)


def hardswish(input, inplace=False):
    """x * relu6(x + 3) / 6.

    >>> torch.nn.functional.hardswish(torch.tensor([-4.0, 3.0]))
    tensor([-0., 3.])
    """
    return _choose("hardswish", input, inplace)


def hardsigmoid(input, inplace=False):
    """relu6(x + 3) / 6.

    >>> torch.nn.functional.hardsigmoid(torch.tensor([-4.0, 0.0]))
    tensor([0.0000, 0.5000])
    """
    return _choose("hardsigmoid", input, inplace)


def sigmoid(input):
    """1 / (1 + exp(-x)).

    >>> torch.nn.functional.sigmoid(torch.zeros(1))
    tensor([0.5000])
    """
    return _C.sigmoid(input)


def tanh(input):
    """The hyperbolic tangent.

    >>> torch.nn.functional.tanh(torch.tensor([0.0]))
    tensor([0.])
    """
    return _C.tanh(input)


def softsign(input):
    """x / (1 + |x|).

    >>> torch.nn.functional.softsign(torch.tensor([1.0]))
    tensor([0.5000])
    """
    return input / (1 + input.abs())


def softshrink(input, lambd=0.5, *, out=None):
    """x moved towards 0 by lambd, and 0 within lambd of it.

    >>> torch.nn.functional.softshrink(torch.tensor([-1.0, 0.5, 4.0]))
    tensor([-0.5000,  0.0000,  3.5000])
    """
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return (
        _C._nn.softshrink(input, lambd) if out is None else _C._nn.softshrink(input, lambd, out=out)
    )


def tanhshrink(input):
    """x - tanh(x).

    >>> torch.nn.functional.tanhshrink(torch.tensor([1.0]))
    tensor([0.2384])
    """
    return input - input.tanh()


def glu(input, dim=-1):
    """a * sigmoid(b), a and b the halves of x along `dim`.

    >>> torch.nn.functional.glu(torch.tensor([2.0, 0.0]))
    tensor([1.])
    """
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    size = input.size(dim)
    if size % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim % input.dim()} is size {size}"
        )
    a, b = input.chunk(2, dim)
    return a * _C.sigmoid(b)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A sample of the Gumbel-softmax distribution (Jang et al., 2017).

    Args:
        tau: temperature.
        hard: one-hot in the forward, the soft sample's gradient in the backward.

    >>> torch.nn.functional.gumbel_softmax(torch.zeros(1, 3), hard=True).sum()
    tensor(1.)
    """
    gumbels = -_C.empty_like(logits).exponential_().log()
    soft = _C.softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return _C.zeros_like(logits).scatter_(dim, index, 1.0) - soft.detach() + soft
