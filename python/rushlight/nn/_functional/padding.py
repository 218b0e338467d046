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
    if value is not None:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pad) // 2 not in (input.dim() - 1, input.dim() - 2) or len(pad) > 6:
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now"
        )
    return _wrapped(input, pad) if mode == "circular" else _mirrored(input, pad, mode)


@op(autocast=("full", "none"))
def _mirrored(input: Tensor, pad: tuple[int, ...], mode: str) -> Tensor:
    form = {4: _C.channels_last, 5: _C.channels_last_3d}.get(input.dim())
    inside = form and not input.is_contiguous() and input.is_contiguous(memory_format=form)
    for i in range(len(pad) // 2):
        left, right = pad[2 * i], pad[2 * i + 1]
        if left or right:
            dim = input.dim() - 1 - i
            source = _sources(input.size(dim), left, right, mode, pad, dim, input)
            if inside:  # as rows of channels, so that it stays channels_last
                rows = _C.index_select(input.movedim(1, -1), dim - 1, source)
                input = rows.movedim(-1, 1)
            else:
                input = _C.index_select(input, dim, source)
    return input


def _wrapped(input, pad):
    for i in range(len(pad) // 2):
        dim = input.dim() - 1 - i
        left, right = pad[2 * i], pad[2 * i + 1]
        if left < 0 or right < 0:  # what is cut off does not come around
            cut = max(-left, 0)
            kept = input.size(dim) - cut - max(-right, 0)
            if kept < 0:
                raise RuntimeError(
                    "Negative padding value is resulting in an empty dimension: padding "
                    f"({left}, {right}) at dimension {dim} of input {list(input.shape)}"
                )
            input = input.narrow(dim, cut, kept)
            left, right = max(left, 0), max(right, 0)
        if left or right:
            source = _sources(input.size(dim), left, right, "circular", pad, dim, input)
            input = _C.index_select(input, dim, source)
    return input


def _sources(size, left, right, mode, padding, dim, input):
    """For each index of a padded dimension, the index of the input that it copies."""
    if mode == "replicate":
        if size + left + right < 0 or size == 0:
            shape = list(input.shape)
            shape[dim] += left + right
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {shape[dim]}: {shape}\n"
                f"pad(): {padding} takes more than input {list(input.shape)} has"
                if size
                else "Expected a tensor with possibly 0 batch size and other non-zero dimensions "
                f"for input, but got: {shape}"
            )
        return _C.arange(-left, size + right, device=input.device).clamp_(0, size - 1)
    if mode == "circular":
        if left > size or right > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        return _C.arange(-left, size + right, device=input.device).remainder_(size)
    if left >= size or right >= size:
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, "
            f"but got: padding ({left}, {right}) at dimension {dim} of input {list(input.shape)}"
        )
    indices = _C.arange(-left, size + right, device=input.device)
    return (size - 1) - ((size - 1) - indices.abs()).abs()
