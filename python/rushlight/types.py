"""Names for annotations: a number, a device, a size."""

import builtins
import os
from typing import IO

from rushlight import _C

__all__ = ["Device", "Number"]

Number = builtins.int | builtins.float | builtins.bool
Device = _C.device | str | builtins.int | None
_dtype, _device, _layout = _C.dtype, _C.device, _C.layout
_int, _float, _bool = builtins.int, builtins.float, builtins.bool
_complex = builtins.complex
IntLikeType = builtins.int
FileLike = str | os.PathLike[str] | IO[bytes]
_size = _C.Size | list[builtins.int] | tuple[builtins.int, ...]
_TensorOrTensors = _C.Tensor | tuple[_C.Tensor, ...]
