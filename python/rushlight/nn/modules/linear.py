"""Linear layers: y = x A^T + b and its relatives."""

import math

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.nn import init
from rushlight.nn.modules.lazy import LazyModuleMixin
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter, UninitializedParameter

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]

linear = _C._nn.linear


class Identity(Module):
    """Returns its input.

    Args:
        *args, **kwargs: ignored.

    Shape: any; the output has the input's.

    >>> torch.nn.Identity(54)(torch.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Linear(Module):
    """y = x A^T + b.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        bias: whether there is a b.
        device, dtype: of the parameters.

    Shape: (*, in_features) to (*, out_features); weight (out_features, in_features). Weight and
    bias are drawn from U(-k, k), k = 1 / sqrt(in_features).

    >>> layer = torch.nn.Linear(20, 30)
    >>> layer(torch.ones(128, 20)).shape
    torch.Size([128, 30])
    """

    in_features: int
    out_features: int
    weight: _C.Tensor

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(_C.empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_C.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws weight and bias again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        return linear(input, self.weight, self.bias)

    def extra_repr(self):
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear, under the name that torch's attention has for its output projection.

    Args: as of Linear.

    Shape: (*, in_features) to (*, out_features).

    >>> torch.nn.modules.linear.NonDynamicallyQuantizableLinear(3, 2)(torch.ones(3)).shape
    torch.Size([2])
    """


class Bilinear(Module):
    """y = x1^T A x2 + b.

    Args:
        in1_features, in2_features: sizes of the last dimensions of the inputs.
        out_features: size of the last dimension of the output.
        bias: whether there is a b.
        device, dtype: of the parameters.

    Shape: input1 (*, in1_features), input2 (*, in2_features) to (*, out_features).

    >>> layer = torch.nn.Bilinear(2, 3, 4)
    >>> layer(torch.ones(5, 2), torch.ones(5, 3)).shape
    torch.Size([5, 4])
    """

    in1_features: int
    in2_features: int
    out_features: int
    weight: _C.Tensor

    def __init__(
        self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None
    ):
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(_C.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_C.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws weight and bias again."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1, input2):
        from rushlight.nn.functional import bilinear

        return bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self):
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear whose `in_features` is taken from the first input.

    Args: as of Linear.

    Shape: (*, in_features) to (*, out_features).

    >>> layer = torch.nn.LazyLinear(3)
    >>> layer(torch.ones(2, 7)).shape, layer
    (torch.Size([2, 3]), Linear(in_features=7, out_features=3, bias=True))
    """

    cls_to_become = Linear

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, False)
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        """Draws weight and bias, if they have a shape."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Takes the shape from an input."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
