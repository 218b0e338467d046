"""Casts by the names of older dtypes, which libraries still call: torch._cast_Long(x)."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor

from ._table import op


@op("torch")
def _cast_Byte(input: Tensor, non_blocking: bool = False) -> Tensor:
    """The numbers in uint8; the tensor itself if they are.

    Args:
        non_blocking: let a copy to a GPU run beside the host.

    >>> torch._cast_Byte(torch.tensor([2.5])).dtype
    torch.uint8
    """
    return input.to(_C.uint8, non_blocking)


@op("torch")
def _cast_Char(input: Tensor, non_blocking: bool = False) -> Tensor:
    """The numbers in int8; the tensor itself if they are.

    Args:
        non_blocking: let a copy to a GPU run beside the host.

    >>> torch._cast_Char(torch.tensor([2.5])).dtype
    torch.int8
    """
    return input.to(_C.int8, non_blocking)


@op("torch")
def _cast_Double(input: Tensor, non_blocking: bool = False) -> Tensor:
    """The numbers in float64; the tensor itself if they are.

    Args:
        non_blocking: let a copy to a GPU run beside the host.

    >>> torch._cast_Double(torch.tensor([2.5])).dtype
    torch.float64
    """
    return input.to(_C.float64, non_blocking)


@op("torch")
def _cast_Float(input: Tensor, non_blocking: bool = False) -> Tensor:
    """The numbers in float32; the tensor itself if they are.

    Args:
        non_blocking: let a copy to a GPU run beside the host.

    >>> torch._cast_Float(torch.tensor([2.5])).dtype
    torch.float32
    """
    return input.to(_C.float32, non_blocking)


@op("torch")
def _cast_Half(input: Tensor, non_blocking: bool = False) -> Tensor:
    """The numbers in float16; the tensor itself if they are.

    Args:
        non_blocking: let a copy to a GPU run beside the host.

    >>> torch._cast_Half(torch.tensor([2.5])).dtype
    torch.float16
    """
    return input.to(_C.float16, non_blocking)


@op("torch")
def _cast_Int(input: Tensor, non_blocking: bool = False) -> Tensor:
    """The numbers in int32; the tensor itself if they are.

    Args:
        non_blocking: let a copy to a GPU run beside the host.

    >>> torch._cast_Int(torch.tensor([2.5])).dtype
    torch.int32
    """
    return input.to(_C.int32, non_blocking)


@op("torch")
def _cast_Long(input: Tensor, non_blocking: bool = False) -> Tensor:
    """The numbers in int64; the tensor itself if they are.

    Args:
        non_blocking: let a copy to a GPU run beside the host.

    >>> torch._cast_Long(torch.tensor([2.5])).dtype
    torch.int64
    """
    return input.to(_C.int64, non_blocking)


@op("torch")
def _cast_Short(input: Tensor, non_blocking: bool = False) -> Tensor:
    """The numbers in int16; the tensor itself if they are.

    Args:
        non_blocking: let a copy to a GPU run beside the host.

    >>> torch._cast_Short(torch.tensor([2.5])).dtype
    torch.int16
    """
    return input.to(_C.int16, non_blocking)
