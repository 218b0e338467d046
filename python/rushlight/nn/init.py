"""Filling parameters: the functions of torch.nn.init, with torch's draws for the same seed."""

import math
import warnings

from rushlight import _C, _table
from rushlight._grad_mode import no_grad


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps the variance through a nonlinearity: 5/3 for tanh, sqrt(2) for relu.

    Args:
        nonlinearity: the name of the function in nn.functional.
        param: the negative slope, for leaky_relu.

    >>> torch.nn.init.calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity in (
        "linear", "conv1d", "conv2d", "conv3d",
        "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid",
    ):  # fmt: skip
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Fills with draws from U(a, b).

    Args:
        tensor: what is filled, in place; returned.
        a, b: bounds.
        generator: the source of random numbers; the device's own if None.

    >>> bool(torch.nn.init.uniform_(torch.empty(3, 5), 2.0, 3.0).min() >= 2)
    True
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Fills with draws from N(mean, std^2).

    Args:
        tensor: what is filled, in place; returned.
        mean, std: of the distribution.
        generator: the source of random numbers; the device's own if None.

    Shape: any, which is that of the result.

    >>> torch.nn.init.normal_(torch.empty(2), 3.0, 0.0)
    tensor([3., 3.])
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _normal_cdf(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


_TURNS = 500


def _draw_until(tensor, draw, rejected, rest):
    """Draws the whole tensor, then the rejected elements again, until none is rejected; after many
    turns, which only parameters far apart need, those left are rest()'s.
    """
    draw(tensor)
    bad = rejected(tensor)
    for _ in range(_TURNS):
        if not bool(bad.any()):
            return tensor
        fresh = draw(_C.empty_like(tensor))
        tensor.copy_(_C.where(bad, fresh, tensor))
        bad = bad.logical_and(rejected(fresh))
    return tensor.copy_(_C.where(bad, rest(_C.empty_like(tensor)), tensor))


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Fills with draws from N(mean, std^2) restricted to [a, b].

    By rejection: what falls outside is drawn again; where most would, uniform draws are accepted
    with a probability in proportion to the density.

    Args:
        tensor: what is filled, in place; returned.
        mean, std: of the distribution before it is cut.
        a, b: bounds.
        generator: the source of random numbers; the device's own if None.

    >>> bool(torch.nn.init.trunc_normal_(torch.empty(100)).abs().max() <= 2)
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    if tensor.is_meta:  # has no values
        return tensor
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    with no_grad():
        if inside > 0.3:
            low, high = (_C.tensor(x, dtype=tensor.dtype, device="cpu").item() for x in (a, b))
            return _draw_until(
                tensor,
                lambda t: t.normal_(mean, std, generator=generator),
                lambda t: (t < low).logical_or(t > high),
                lambda t: t.uniform_(a, b, generator=generator),
            )
        nearest = max(a, min(mean, b))
        peak = -0.5 * ((nearest - mean) / std) ** 2

        def rejected(t):
            density = t.sub(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
            return _C.empty_like(t).uniform_(generator=generator).log_() > density

        def tail(t):  # far out the density falls like an exponential
            scale = std * std / (mean - nearest)
            all_of_it = math.expm1((a - b) / max(abs(scale), 5e-324))
            t.uniform_(generator=generator).mul_(all_of_it).log1p_().mul_(scale)
            return t.add_(nearest).clamp_(a, b)

        def uniform(t):
            return t.uniform_(a, b, generator=generator)

        return _draw_until(tensor, uniform, rejected, uniform if nearest == mean else tail)


def constant_(tensor, val):
    """Fills with one value.

    Args:
        tensor: what is filled, in place; returned.
        val: the value.

    Shape: any, which is that of the result.

    >>> torch.nn.init.constant_(torch.empty(2), 0.3)
    tensor([0.3000, 0.3000])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    """Fills with 1.

    Args:
        tensor: what is filled, in place; returned.

    Shape: any, which is that of the result.

    >>> torch.nn.init.ones_(torch.empty(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor):
    """Fills with 0.

    Args:
        tensor: what is filled, in place; returned.

    Shape: any, which is that of the result.

    >>> torch.nn.init.zeros_(torch.empty(2))
    tensor([0., 0.])
    """
    with no_grad():
        return tensor.zero_()


def eye_(tensor):
    """Fills a matrix with the identity.

    Args:
        tensor: what is filled, in place; returned.

    Shape: (m, n), which is that of the result.

    >>> torch.nn.init.eye_(torch.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.zero_()
        for i in range(min(tensor.shape)):
            tensor[i, i] = 1
    return tensor


def dirac_(tensor, groups=1):
    """Fills the weight of a convolution so that it copies its input, channel by channel.

    Args:
        tensor: the weight, of 3 to 5 dimensions; returned.
        groups: each group's output channels get an identity of their own.

    Shape: (out channels, in channels, *kernel) with one to three kernel dimensions.

    >>> torch.nn.init.dirac_(torch.empty(2, 2, 1)).squeeze(-1)
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    size = tensor.size()
    if size[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = size[0] // groups
    middle = tuple(n // 2 for n in size[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for d in range(min(per_group, size[1])):
                tensor[(group * per_group + d, d, *middle)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Fills from U(-a, a), a = gain * sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010).

    Args:
        tensor: what is filled, in place, of at least 2 dimensions; returned.
        gain: a factor, see calculate_gain().
        generator: the source of random numbers; the device's own if None.

    >>> bool(torch.nn.init.xavier_uniform_(torch.empty(2, 4)).abs().max() <= 1)
    True
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    a = math.sqrt(3.0) * std
    return uniform_(tensor, -a, a, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Fills from N(0, std^2), std = gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010).

    Args:
        tensor: what is filled, in place, of at least 2 dimensions; returned.
        gain: a factor, see calculate_gain().
        generator: the source of random numbers; the device's own if None.

    >>> torch.nn.init.xavier_normal_(torch.empty(2, 4), gain=0.0).sum()
    tensor(0.)
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fills from U(-b, b), b = gain * sqrt(3 / fan) (He et al., 2015).

    Args:
        tensor: what is filled, in place, of at least 2 dimensions; returned.
        a: the negative slope of leaky_relu.
        mode: "fan_in" keeps the variance in the forward pass, "fan_out" in the backward pass.
        nonlinearity: the function after the layer, see calculate_gain().
        generator: the source of random numbers; the device's own if None.

    >>> bool(torch.nn.init.kaiming_uniform_(torch.empty(3, 6), nonlinearity="relu").max() <= 1)
    True
    """
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(fan))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fills from N(0, std^2), std = gain / sqrt(fan) (He et al., 2015).

    Args: as of kaiming_uniform_.

    Shape: (out, in, *) of two dimensions or more, which is that of the result.

    >>> torch.nn.init.kaiming_normal_(torch.empty(3, 6)).shape
    torch.Size([3, 6])
    """
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    return normal_(tensor, 0, calculate_gain(nonlinearity, a) / math.sqrt(fan), generator)


def orthogonal_(tensor, gain=1, generator=None):
    """Fills with a matrix whose rows or columns, whichever are fewer, are orthonormal (Saxe et al.,
    2013).

    Args:
        tensor: what is filled, in place; the dimensions after the first count as one. Returned.
        gain: a factor.
        generator: the source of random numbers; the device's own if None.

    Shape: (m, *) of two dimensions or more, which is that of the result.

    >>> q = torch.nn.init.orthogonal_(torch.empty(3, 2))
    >>> torch.allclose(q.T @ q, torch.eye(2), atol=1e-6)
    True
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    cols = tensor.numel() // rows
    with no_grad():
        flat = _C.empty((rows, cols), dtype=tensor.dtype, device=tensor.device)
        flat.normal_(0, 1, generator=generator)
        if rows < cols:
            flat = flat.t()
        q, r = _C._linalg_qr("linalg.qr", flat, "reduced")
        q = q * r.diagonal().sign()
        if rows < cols:
            q = q.t()
        tensor.view_as(q).copy_(q)
        return tensor.mul_(gain)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Fills a matrix from N(0, std^2), then zeroes a part of each column (Martens, 2010).

    Args:
        tensor: what is filled, in place; returned.
        sparsity: the part of each column that is 0.
        std: of the distribution.
        generator: the source of random numbers; the device's own if None.

    Shape: (m, n), which is that of the result.

    >>> (torch.nn.init.sparse_(torch.empty(4, 2), sparsity=0.5) == 0).sum(0)
    tensor([2, 2])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(cols):
            order = _C.randperm(rows)
            tensor[order[:zeros], column] = 0
    return tensor


def _old_name(new):
    old = new.__name__[:-1]

    def renamed(*args, **kwargs):
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new.__name__}`.",
            FutureWarning,
            stacklevel=2,
        )
        return new(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = old
    renamed.__doc__ = f"The older name of `{new.__name__}`."
    return renamed


uniform = _old_name(uniform_)
normal = _old_name(normal_)
constant = _old_name(constant_)
eye = _old_name(eye_)
dirac = _old_name(dirac_)
xavier_uniform = _old_name(xavier_uniform_)
xavier_normal = _old_name(xavier_normal_)
kaiming_uniform = _old_name(kaiming_uniform_)
kaiming_normal = _old_name(kaiming_normal_)
orthogonal = _old_name(orthogonal_)
sparse = _old_name(sparse_)


def __getattr__(name):
    raise AttributeError(_table.absent(f"torch.nn.init.{name}"), name=name)


# Names that torch has for the same without the checks; copies of its code use them.
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_
