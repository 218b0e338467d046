"""Padding, windows as columns, and moving between channels and space."""

from __future__ import annotations

from rushlight import _C
from rushlight._results import check_tensors, ints
from rushlight._table import op

__all__ = ["channel_shuffle", "fold", "pad", "pixel_shuffle", "pixel_unshuffle", "unfold"]


def pad(input, pad, mode="constant", value=None):
    """Extends the last dimensions: `pad` is (left, right) of the last, then of the one before.

    Args:
        mode: "constant", "reflect", "replicate" or "circular".
        value: what "constant" fills in; 0 when not given.

    >>> torch.nn.functional.pad(torch.ones(1, 2), (1, 0))
    tensor([[0., 1., 1.]])
    """
    if not isinstance(pad, list | tuple):
        raise TypeError(
            "pad(): argument 'pad' (position 2) must be tuple of ints, not " + type(pad).__name__
        )
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if mode == "constant":
        return _C.constant_pad_nd(input, pad, 0.0 if value is None else value)
    check_tensors("pad", input=input)
    if value is not None:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        if not isinstance(mode, str):
            raise TypeError(
                f"pad(): argument 'mode' (position 3) must be str, not {type(mode).__name__}"
            )
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    pad = ints("pad", "pad", pad, len(pad), spread=False)
    if len(pad) // 2 not in (input.dim() - 1, input.dim() - 2) or len(pad) > 6:
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now"
        )
    if mode != "circular" and _C._autocast_is_on():
        input = _C._recast(input, "full", "none")
    for i in range(len(pad) // 2):
        dim = input.dim() - 1 - i
        left, right = pad[2 * i], pad[2 * i + 1]
        if mode == "circular" and (left < 0 or right < 0):
            # What is cut off does not come around.
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
            source = _sources(input.size(dim), left, right, mode, pad, dim, input)
            input = _C.index_select(input, dim, source)
    return input


def _sources(size, left, right, mode, padding, dim, input):
    """For each place of a padded dimension, the place in the input that it copies."""
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
    places = _C.arange(-left, size + right, device=input.device)
    return (size - 1) - ((size - 1) - places.abs()).abs()


@op("torch", "nn.functional")
def pixel_shuffle(input, upscale_factor):
    """(*, c r^2, h, w) to (*, c, h r, w r): channels become space (Shi et al., 2016).

    >>> torch.nn.functional.pixel_shuffle(torch.ones(1, 4, 2, 2), 2).shape
    torch.Size([1, 1, 4, 4])
    """
    check_tensors("pixel_shuffle", input=input)
    r = upscale_factor
    if input.dim() < 3:
        raise RuntimeError(
            "pixel_shuffle expects input to have at least 3 dimensions, but got input with "
            f"{input.dim()} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *batch, c, h, w = input.shape
    if c % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={c} is not divisible by {r * r}"
        )
    n = len(batch)
    x = input.reshape(*batch, c // (r * r), r, r, h, w)
    x = x.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return x.reshape(*batch, c // (r * r), h * r, w * r)


@op("torch", "nn.functional")
def pixel_unshuffle(input, downscale_factor):
    """(*, c, h r, w r) to (*, c r^2, h, w): the inverse of pixel_shuffle.

    >>> torch.nn.functional.pixel_unshuffle(torch.ones(1, 1, 4, 4), 2).shape
    torch.Size([1, 4, 2, 2])
    """
    check_tensors("pixel_unshuffle", input=input)
    r = downscale_factor
    if input.dim() < 3:
        raise RuntimeError(
            "pixel_unshuffle expects input to have at least 3 dimensions, but got input with "
            f"{input.dim()} dimension(s)"
        )
    if not isinstance(r, int):
        raise TypeError(
            "pixel_unshuffle(): argument 'downscale_factor' must be int, not " + type(r).__name__
        )
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *batch, c, h, w = input.shape
    for name, size, place in (("height", h, -2), ("width", w, -1)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({place})={size} is not divisible by {r}"
            )
    n = len(batch)
    x = input.reshape(*batch, c, h // r, r, w // r, r)
    x = x.permute(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return x.reshape(*batch, c * r * r, h // r, w // r)


@op("torch", "nn.functional")
def channel_shuffle(input, groups):
    """(n, g * k, *): channel i of group j becomes channel j of group i (Zhang et al., 2018).

    >>> torch.nn.functional.channel_shuffle(torch.arange(4.0).reshape(1, 4, 1, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    check_tensors("channel_shuffle", input=input)
    if not isinstance(groups, int):
        raise TypeError(
            "channel_shuffle(): argument 'groups' (position 2) must be int, not "
            + type(groups).__name__
        )
    if input.dim() < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(input.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    n, c = input.shape[:2]
    if c % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {c} channels and {groups} groups."
        )
    return input.reshape(n, groups, c // groups, *input.shape[2:]).transpose(1, 2).reshape_as(input)


def _window_index(size, kernel, dilation, padding, stride, device):
    """(kernel, windows): the padded place that each element of each window takes."""
    for name, value in (("kernel size", kernel), ("dilation", dilation), ("stride", stride)):
        if value <= 0:
            raise RuntimeError(f"{name} should be greater than zero, but got {value}")
    if padding < 0:
        raise RuntimeError(f"padding should be non-negative, but got {padding}")
    count = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    if count < 1:
        raise RuntimeError(
            f"a window of {kernel} with dilation {dilation} does not fit into {size} elements "
            f"padded by {padding}: its components must be at least one"
        )
    starts = _C.arange(0, count * stride, stride, device=device)
    return _C.arange(kernel, device=device).unsqueeze(1) * dilation + starts, count


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """(n, c, h, w) to (n, c * kh * kw, windows): every window as a column.

    >>> torch.nn.functional.unfold(torch.ones(1, 3, 3, 3), 2).shape
    torch.Size([1, 12, 4])
    """
    check_tensors("unfold", input=input)
    kh, kw = ints("unfold", "kernel_size", kernel_size, 2, spread=False)
    dh, dw = ints("unfold", "dilation", dilation, 2, spread=False)
    ph, pw = ints("unfold", "padding", padding, 2, spread=False)
    sh, sw = ints("unfold", "stride", stride, 2, spread=False)
    if input.dim() == 3:
        return unfold(input.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0)
    if input.dim() != 4:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    n, c, h, w = input.shape
    rows, count_h = _window_index(h, kh, dh, ph, sh, input.device)
    cols, count_w = _window_index(w, kw, dw, pw, sw, input.device)
    x = _C.constant_pad_nd(input, (pw, pw, ph, ph), 0.0)
    rows, cols = rows.reshape(kh, 1, count_h, 1), cols.reshape(1, kw, 1, count_w)
    return x[:, :, rows, cols].reshape(n, c * kh * kw, count_h * count_w)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """(n, c * kh * kw, windows) to (n, c, h, w): adds every column back into its window.

    >>> torch.nn.functional.fold(torch.ones(1, 4, 4), (3, 3), 2).sum()
    tensor(16.)
    """
    check_tensors("fold", input=input)
    oh, ow = ints("fold", "output_size", output_size, 2, spread=False)
    kh, kw = ints("fold", "kernel_size", kernel_size, 2, spread=False)
    dh, dw = ints("fold", "dilation", dilation, 2, spread=False)
    ph, pw = ints("fold", "padding", padding, 2, spread=False)
    sh, sw = ints("fold", "stride", stride, 2, spread=False)
    if input.dim() == 2:
        args = (output_size, kernel_size, dilation, padding, stride)
        return fold(input.unsqueeze(0), *args).squeeze(0)
    if input.dim() != 3:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    rows, count_h = _window_index(oh, kh, dh, ph, sh, input.device)
    cols, count_w = _window_index(ow, kw, dw, pw, sw, input.device)
    n, ckk, windows = input.shape
    if windows != count_h * count_w:
        raise RuntimeError(
            f"Given output_size=({oh}, {ow}), kernel_size=({kh}, {kw}), dilation=({dh}, {dw}), "
            f"padding=({ph}, {pw}), stride=({sh}, {sw}), expected size of input's dimension 2 to "
            f"match the calculated number of sliding blocks {count_h} * {count_w} = "
            f"{count_h * count_w}, but got input.size(2)={windows}."
        )
    c, wide, high = ckk // (kh * kw), ow + 2 * pw, oh + 2 * ph
    rows, cols = rows.reshape(kh, 1, count_h, 1), cols.reshape(1, kw, 1, count_w)
    place = (rows * wide + cols).reshape(-1)
    flat = _C.zeros((n, c, high * wide), dtype=input.dtype, device=input.device)
    x = flat.index_add(2, place, input.reshape(n, c, kh * kw * windows))
    return x.reshape(n, c, high, wide)[:, :, ph : ph + oh, pw : pw + ow].contiguous()
