"""Casts by the names of older dtypes, which libraries still call: torch._cast_Long(x)."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor

from ._table import op


def _cast(name, wanted):
    """torch._cast_<name>, to the dtype `wanted`."""

    def cast(input: Tensor, non_blocking: bool = False) -> Tensor:
        return input.to(wanted, non_blocking)

    cast.__name__ = cast.__qualname__ = f"_cast_{name}"
    words = str(wanted).rpartition(".")[2]
    cast.__doc__ = f"""The numbers in {words}; the tensor itself if they are.

    Args:
        non_blocking: let a copy to a GPU run beside the host.

    >>> torch._cast_{name}(torch.tensor([2.5])).dtype
    {wanted}
    """
    return op("torch")(cast)


_cast_Byte = _cast("Byte", _C.uint8)
_cast_Char = _cast("Char", _C.int8)
_cast_Double = _cast("Double", _C.float64)
_cast_Float = _cast("Float", _C.float32)
_cast_Half = _cast("Half", _C.float16)
_cast_Int = _cast("Int", _C.int32)
_cast_Long = _cast("Long", _C.int64)
_cast_Short = _cast("Short", _C.int16)
