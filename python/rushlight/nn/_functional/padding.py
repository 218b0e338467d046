"""Padding: constants, reflections, edges and periods."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op


@op("nn.functional")
def pad(
    input: Tensor, pad: tuple[int, ...], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Extends the last dimensions.

    Args:
        pad: (left, right) of the last dimension, then of the one before, and so on; negative ones
            crop.
        mode: "constant", "reflect", "replicate" or "circular".
        value: the new elements with "constant"; 0 if None.

    Shape: (*, w) to (*, left + w + right), the other dimensions in the same way.

    >>> torch.nn.functional.pad(torch.ones(1, 2), (1, 0))
    tensor([[0., 1., 1.]])
    """
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if mode == "constant":
        return _C.constant_pad_nd(input, pad, 0.0 if value is None else float(value))
    if value:  # 0, the default of libraries, is taken
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pad) // 2 not in (input.dim() - 1, input.dim() - 2) or len(pad) > 6:
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now"
        )
    if mode == "circular":
        return _C._pad_circular(input, pad)
    return _C._pad_mirrored(input, pad, mode == "replicate")
