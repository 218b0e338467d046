"""Layer, group, root-mean-square and local response normalisation."""

from rushlight import _C
from rushlight.nn import functional as F
from rushlight.nn import init
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


def _shape(normalized_shape):
    if isinstance(normalized_shape, int):
        return (normalized_shape,)
    return tuple(normalized_shape)


class LocalResponseNorm(Module):
    """x / (k + alpha * mean of x^2 over `size` neighbouring channels)^beta (Krizhevsky et al.,
    2012).

    Args:
        size: number of channels in the mean.
        alpha: factor of the mean.
        beta: exponent.
        k: added to the mean.

    Shape: (n, c, *) to the same.

    >>> torch.nn.LocalResponseNorm(2)(torch.ones(1, 2, 3)).shape
    torch.Size([1, 2, 3])
    """

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size, alpha=0.0001, beta=0.75, k=1.0):
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """torch's older LocalResponseNorm of images: from channel (size + 1) // 2 on, the first
    channel is in every sum, and the gradient is not that of the result. Use LocalResponseNorm.

    Args:
        size: number of channels in a sum.
        alpha: factor of the mean.
        beta: exponent.
        k: added to the mean.

    Shape: (n, c, h, w) to the same.

    >>> torch.nn.CrossMapLRN2d(3)(torch.ones(1, 2, 1, 1)).shape
    torch.Size([1, 2, 1, 1])
    """

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size, alpha=0.0001, beta=0.75, k=1):
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input):
        from rushlight.nn.modules._functions import CrossMapLRN2d as function

        return function.apply(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LayerNorm(Module):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions (Ba et al., 2016).

    Args:
        normalized_shape: sizes of the last dimensions, over which mean and variance are taken; or
            one int.
        eps: added to the variance.
        elementwise_affine: whether there are weight and bias.
        bias: whether there is a bias, if there is a weight.
        device, dtype: of the parameters.

    Shape: (*, normalized_shape) to the same; weight and bias normalized_shape.

    >>> torch.nn.LayerNorm(2, elementwise_affine=False)(torch.tensor([[-1.0, 1.0]]))
    tensor([[-1.0000,  1.0000]])
    """

    normalized_shape: tuple[int, ...]
    eps: float
    elementwise_affine: bool

    def __init__(
        self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", True), ("bias", bias)):
            value = None
            if elementwise_affine and wanted:
                value = Parameter(_C.empty(self.normalized_shape, device=device, dtype=dtype))
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self):
        """Sets weight 1 and bias 0."""
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input):
        return _C.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions (Zhang and Sennrich, 2019).

    Args:
        normalized_shape: sizes of those dimensions; or one int.
        eps: the dtype's machine epsilon if None.
        elementwise_affine: whether there is a weight.
        device, dtype: of the parameters.

    Shape: (*, normalized_shape) to the same; weight normalized_shape.

    >>> torch.nn.RMSNorm(2)(torch.tensor([[3.0, 3.0]])).detach()
    tensor([[1., 1.]])
    """

    normalized_shape: tuple[int, ...]
    eps: float | None
    elementwise_affine: bool

    def __init__(
        self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None
    ):
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        value = None
        if elementwise_affine:
            value = Parameter(_C.empty(self.normalized_shape, device=device, dtype=dtype))
        self.register_parameter("weight", value)
        self.reset_parameters()

    def reset_parameters(self):
        """Sets the weight to 1."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, input):
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """(x - mean) / sqrt(var + eps) * weight + bias over groups of channels (Wu and He, 2018).

    Args:
        num_groups: must divide num_channels.
        num_channels: number of channels c.
        eps: added to the variance.
        affine: whether there are weight and bias, one value for each channel.
        device, dtype: of the parameters.
        bias: whether there is a bias, if affine.

    Shape: (n, c, *) to the same.

    >>> torch.nn.GroupNorm(3, 6)(torch.ones(2, 6, 4)).shape
    torch.Size([2, 6, 4])
    """

    num_groups: int
    num_channels: int
    eps: float
    affine: bool

    def __init__(
        self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *,
        bias=True,
    ):  # fmt: skip
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, wanted in (("weight", True), ("bias", bias)):
            value = None
            if affine and wanted:
                value = Parameter(_C.empty(num_channels, device=device, dtype=dtype))
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self):
        """Sets weight 1 and bias 0."""
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )
