"""Padding layers: 4 modes for 1, 2 and 3 dimensions."""

from rushlight.nn import functional as F
from rushlight.nn.modules.module import Module

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d",
    "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d",
    "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip


class _Pad(Module):
    rank = 0
    mode = "constant"

    def __init__(self, padding):
        super().__init__()
        count = 2 * self.rank
        self.padding = tuple(padding) if hasattr(padding, "__iter__") else (padding,) * count

    def forward(self, input):
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPadNd):
    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class _ReflectionPadNd(_Pad):
    mode = "reflect"


class _ReplicationPadNd(_Pad):
    mode = "replicate"


class _CircularPadNd(_Pad):
    mode = "circular"

    def forward(self, input):
        if input.dim() not in (self.rank + 1, self.rank + 2):
            raise ValueError(
                f"expected {self.rank + 1}D or {self.rank + 2}D input (got {input.dim()}D input)"
            )
        return super().forward(input)


class ConstantPad1d(_ConstantPadNd):
    """Extends the last dimension with a value.

    Args:
        padding: an int, or (left, right).
        value: what the new elements are.

    Shape: (n, c, l) or (c, l) to the same with l' = l + left + right.

    >>> torch.nn.ConstantPad1d(1, 3.5)(torch.ones(1, 2))
    tensor([[3.5000, 1.0000, 1.0000, 3.5000]])
    """

    padding: tuple[int, int]

    rank = 1


class ConstantPad2d(_ConstantPadNd):
    """Extends the last two dimensions with a value.

    Args:
        padding: an int, or (left, right, top, bottom).
        value: what the new elements are.

    Shape: (n, c, h, w) or (c, h, w) to the same with w' = w + left + right, h' = h + top + bottom.

    >>> torch.nn.ConstantPad2d((1, 0, 0, 0), 2.0)(torch.ones(1, 1, 2))
    tensor([[[2., 1., 1.]]])
    """

    padding: tuple[int, int, int, int]

    rank = 2


class ConstantPad3d(_ConstantPadNd):
    """Extends the last three dimensions with a value.

    Args:
        padding: an int, or (left, right, top, bottom, front, back).
        value: what the new elements are.

    Shape: (n, c, d, h, w) or (c, d, h, w) to the same with w' = w + left + right and so on.

    >>> torch.nn.ConstantPad3d(1, 0.0)(torch.ones(1, 1, 1, 1)).shape
    torch.Size([1, 3, 3, 3])
    """

    padding: tuple[int, int, int, int, int, int]

    rank = 3


class ZeroPad1d(_ZeroPad):
    """Extends the last dimension with zeros.

    Args:
        padding: an int, or (left, right).

    Shape: (n, c, l) or (c, l) to the same with l' = l + left + right.

    >>> torch.nn.ZeroPad1d(1)(torch.ones(1, 2))
    tensor([[0., 1., 1., 0.]])
    """

    padding: tuple[int, int]

    rank = 1


class ZeroPad2d(_ZeroPad):
    """Extends the last two dimensions with zeros.

    Args:
        padding: an int, or (left, right, top, bottom).

    Shape: (n, c, h, w) or (c, h, w) to the same with w' = w + left + right, h' = h + top + bottom.

    >>> torch.nn.ZeroPad2d(1)(torch.ones(1, 1, 1))
    tensor([[[0., 0., 0.],
             [0., 1., 0.],
             [0., 0., 0.]]])
    """

    padding: tuple[int, int, int, int]

    rank = 2


class ZeroPad3d(_ZeroPad):
    """Extends the last three dimensions with zeros.

    Args:
        padding: an int, or (left, right, top, bottom, front, back).

    Shape: (n, c, d, h, w) or (c, d, h, w) to the same with w' = w + left + right and so on.

    >>> torch.nn.ZeroPad3d(1)(torch.ones(1, 1, 1, 1)).shape
    torch.Size([1, 3, 3, 3])
    """

    padding: tuple[int, int, int, int, int, int]

    rank = 3


class ReflectionPad1d(_ReflectionPadNd):
    """Extends the last dimension with its mirror image, the edge elements not repeated.

    Args:
        padding: an int, or (left, right), each less than the dimension's size.

    Shape: (n, c, l) or (c, l) to the same with l' = l + left + right.

    >>> torch.nn.ReflectionPad1d(2)(torch.tensor([[0.0, 1.0, 2.0]]))
    tensor([[2., 1., 0., 1., 2., 1., 0.]])
    """

    padding: tuple[int, int]

    rank = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Extends the last two dimensions with their mirror image, the edge elements not repeated.

    Args:
        padding: an int, or (left, right, top, bottom), each less than the dimension's size.

    Shape: (n, c, h, w) or (c, h, w) to the same with w' = w + left + right, h' = h + top + bottom.

    >>> torch.nn.ReflectionPad2d(1)(torch.ones(1, 2, 2)).shape
    torch.Size([1, 4, 4])
    """

    padding: tuple[int, int, int, int]

    rank = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Extends the last three dimensions with their mirror image, the edge elements not repeated.

    Args:
        padding: an int, or (left, right, top, bottom, front, back), each less than the
            dimension's size.

    Shape: (n, c, d, h, w) or (c, d, h, w) to the same with w' = w + left + right and so on.

    >>> torch.nn.ReflectionPad3d(1)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    padding: tuple[int, int, int, int, int, int]

    rank = 3


class ReplicationPad1d(_ReplicationPadNd):
    """Extends the last dimension with its edge elements.

    Args:
        padding: an int, or (left, right).

    Shape: (n, c, l) or (c, l) to the same with l' = l + left + right.

    >>> torch.nn.ReplicationPad1d(1)(torch.tensor([[0.0, 1.0]]))
    tensor([[0., 0., 1., 1.]])
    """

    padding: tuple[int, int]

    rank = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Extends the last two dimensions with their edge elements.

    Args:
        padding: an int, or (left, right, top, bottom).

    Shape: (n, c, h, w) or (c, h, w) to the same with w' = w + left + right, h' = h + top + bottom.

    >>> torch.nn.ReplicationPad2d(1)(torch.ones(1, 2, 2)).shape
    torch.Size([1, 4, 4])
    """

    padding: tuple[int, int, int, int]

    rank = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Extends the last three dimensions with their edge elements.

    Args:
        padding: an int, or (left, right, top, bottom, front, back).

    Shape: (n, c, d, h, w) or (c, d, h, w) to the same with w' = w + left + right and so on.

    >>> torch.nn.ReplicationPad3d(1)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    padding: tuple[int, int, int, int, int, int]

    rank = 3


class CircularPad1d(_CircularPadNd):
    """Extends the last dimension as if it were a ring.

    Args:
        padding: an int, or (left, right), each at most the dimension's size.

    Shape: (n, c, l) or (c, l) to the same with l' = l + left + right.

    >>> torch.nn.CircularPad1d(1)(torch.tensor([[0.0, 1.0, 2.0]]))
    tensor([[2., 0., 1., 2., 0.]])
    """

    padding: tuple[int, int]

    rank = 1


class CircularPad2d(_CircularPadNd):
    """Extends the last two dimensions as if they were rings.

    Args:
        padding: an int, or (left, right, top, bottom), each at most the dimension's size.

    Shape: (n, c, h, w) or (c, h, w) to the same with w' = w + left + right, h' = h + top + bottom.

    >>> torch.nn.CircularPad2d(1)(torch.ones(1, 2, 2)).shape
    torch.Size([1, 4, 4])
    """

    padding: tuple[int, int, int, int]

    rank = 2


class CircularPad3d(_CircularPadNd):
    """Extends the last three dimensions as if they were rings.

    Args:
        padding: an int, or (left, right, top, bottom, front, back), each at most the dimension's
            size.

    Shape: (n, c, d, h, w) or (c, d, h, w) to the same with w' = w + left + right and so on.

    >>> torch.nn.CircularPad3d(1)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    padding: tuple[int, int, int, int, int, int]

    rank = 3
