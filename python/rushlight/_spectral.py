"""Short-time Fourier transforms: those of frames of a signal that overlap."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._checks import _assert_async
from rushlight._table import op
from rushlight._warn_once import warn_once
from rushlight.nn._functional.padding import pad

__all__ = ["istft", "stft"]

_NO_WINDOW = "A window was not provided. A rectangular window will be applied"
_RECTANGULAR = (
    "To suppress this warning and use a rectangular window, explicitly set "
    "`window=torch.ones(n_fft, device=<device>)`."
)


def _described(window):
    return "None" if window is None else f"{window.type()}{{{list(window.shape)}}}"


def _in_parts(function, x):
    """function(x), of the real and the imaginary parts where x is complex."""
    return _C.complex(function(x.real), function(x.imag)) if x.is_complex() else function(x)


def _padded(x, left, right, mode):
    """The last dimension of (batch, signal) or (signal), longer on both sides."""
    rank = x.dim()
    x = x.reshape(*[1] * (3 - rank), *x.shape)
    x = _in_parts(lambda part: pad(part, (left, right), mode), x)
    return x.reshape(x.shape[3 - rank :])


def _long_window(window, win_length, n_fft, like):
    """The window with zeros around it, n_fft values; None for a rectangle of that length."""
    left = (n_fft - win_length) // 2
    if win_length == n_fft:
        return window
    if window is None:
        window = _C.ones(win_length, dtype=like.dtype, device=like.device)
    return _in_parts(lambda part: pad(part, (left, n_fft - win_length - left)), window)


@op("torch", "Tensor", autocast=("full", "full"))
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The short-time Fourier transform: fft() of frames of a signal, each times a window.

    Args:
        input: the signal, or a batch of signals.
        n_fft: the length of a frame.
        hop_length: from the start of a frame to that of the next; None for n_fft // 4.
        win_length: the length of the window, in the middle of a frame; None for n_fft.
        window: its values; None for ones.
        center: the signal is made longer by n_fft // 2 on both sides, so that frame t has its
            middle at t * hop_length.
        pad_mode: how, as torch.nn.functional.pad() has it.
        normalized: the transforms are divided by sqrt(n_fft).
        onesided: the first half of each spectrum; None for that of real numbers alone.
        return_complex: False gives real and imaginary parts in a last dimension, which torch means
            to remove. It must be given unless something is complex.
        align_to_window: without center, the first frame begins so that its window begins with the
            signal, and the last one ends so; else frames lie inside the signal.

    Shape:
        input (length) or (batch, length) gives (frequencies, frames), a batch before them.

    Raises:
        RuntimeError: if a length is out of range, or no return_complex given for real numbers.

    >>> torch.stft(torch.ones(8), 4, window=torch.ones(4), return_complex=True).shape
    torch.Size([3, 9])
    """
    if center:
        if align_to_window is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false")
        input = _padded(input, n_fft // 2, n_fft // 2, pad_mode) if input.dim() < 3 else input
    if window is None:
        warn_once(
            f"{_NO_WINDOW},which is known to cause spectral leakage. Other windows such as "
            "torch.hann_window or torch.hamming_window are recommended to reduce spectral "
            f"leakage.{_RECTANGULAR}"
        )
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    is_complex = input.is_complex() or (window is not None and window.is_complex())
    call = (
        f"stft({input.type()}{list(input.shape)}, n_fft={n_fft}, hop_length={hop_length}, "
        f"win_length={win_length}, window={_described(window)}, normalized={int(normalized)}, "
        f"onesided={_flag(onesided)}, return_complex={_flag(return_complex)}, "
        f"align_to_window={_flag(align_to_window)}) "
    )
    if not (is_complex if return_complex is None else return_complex):
        if return_complex is None:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will "
                "further require that return_complex=True in a future PyTorch release."
            )
        warn_once(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will "
            "return complex tensors for all inputs, and return_complex=False will raise an error.\n"
            "Note: you can still call torch.view_as_real on the complex output to recover the old "
            "return format."
        )
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(f"{call}: expected a tensor of floating point or complex values")
    if not 1 <= input.dim() <= 2:
        raise RuntimeError(f"{call}: expected a 1D or 2D tensor")
    length = input.shape[-1]
    if not 0 < n_fft <= length:
        raise RuntimeError(f"{call}: expected 0 < n_fft < {length}, but got n_fft={win_length}")
    if hop_length <= 0:
        raise RuntimeError(f"{call}: expected hop_length > 0, but got hop_length={hop_length}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(
            f"{call}: expected 0 < win_length <= n_fft, but got win_length={win_length}"
        )
    if window is not None and tuple(window.shape) != (win_length,):
        raise RuntimeError(
            f"{call}: expected a 1D window tensor of size equal to win_length={win_length}, but "
            f"got window with size {list(window.shape)}"
        )
    if align_to_window:
        left = (n_fft - win_length) // 2
        input = _padded(input, left, n_fft - win_length - left, "constant")
    frames = input.unfold(-1, n_fft, hop_length)
    window = _long_window(window, win_length, n_fft, input)
    frames = frames if window is None else frames * window
    norm = "ortho" if normalized else "backward"
    if frames.is_complex():
        if onesided:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        found = _C._fft.fft(frames, norm=norm)
    else:
        whole = onesided is not None and not onesided
        found = (_C._fft.fft if whole else _C._fft.rfft)(frames, norm=norm)
    found = found.transpose(-1, -2)
    return found if return_complex is None or return_complex else _C.view_as_real(found)


def _flag(value):
    return value if value is None else int(value)


def _added(frames, length, hop_length):
    """(batch, frame, value) added up where they lie in signals of that length."""
    n_fft = frames.shape[-1]
    found = _in_parts(
        lambda part: _C._nn.fold(
            part.transpose(1, 2), (1, length), (1, n_fft), stride=(1, hop_length)
        ),
        frames,
    )
    return found.reshape(frames.shape[0], length)


@op("torch", "Tensor", waits=True)
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal that stft() was given: of all, the one whose frames differ least from these.

    Args:
        input: what stft() returned.
        n_fft: the length of a frame.
        hop_length: from the start of a frame to that of the next; None for n_fft // 4.
        win_length: the length of the window, in the middle of a frame; None for n_fft.
        window: its values; None for ones.
        center: whether stft() made the signal longer on both sides.
        normalized: whether the transforms were divided by sqrt(n_fft).
        onesided: whether there is only the first half of each spectrum; None: if it is shorter.
        length: of the signal; None for what frames cover, without what center added.
        return_complex: the signal is complex.

    Shape:
        input (frequencies, frames), a batch before them, gives (length), the same batch before it.

    Raises:
        RuntimeError: if the input is not complex, a length is out of range, or the windows leave a
            part of the signal out.

    >>> frames = torch.stft(torch.arange(8.0), 4, window=torch.ones(4), return_complex=True)
    >>> torch.istft(frames, 4, window=torch.ones(4))
    tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    if window is None:
        warn_once(
            f"{_NO_WINDOW}.Please provide the same window used by stft to make the inversion "
            f"lossless.{_RECTANGULAR}"
        )
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    kind = input.type().replace("torch.cuda.", "CUDA").replace("torch.", "CPU")
    call = (
        f"istft({kind.removesuffix('Tensor')}Type{list(input.shape)}, n_fft={n_fft}, "
        f"hop_length={hop_length}, win_length={win_length}, window={_described(window)}, "
        f"center={int(center)}, normalized={int(normalized)}, onesided={_flag(onesided)}, "
        f"length={length}, return_complex={int(return_complex)}) "
    )
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    n_frames, size = input.size(-1), input.size(-2)
    if input.numel() == 0:
        raise RuntimeError(f"{call}: input tensor cannot be empty.")
    if not 2 <= input.dim() <= 3:
        raise RuntimeError(
            f"{call}: expected a tensor with 3 or 4 dimensions, but got {input.dim() + 1}"
        )
    half = size != n_fft if onesided is None else onesided
    if size != (n_fft // 2 + 1 if half else n_fft):
        raise RuntimeError(
            f"{call}: expected the frequency dimension (3rd to the last) of the input tensor to "
            f"match {'n_fft / 2 + 1' if half else 'n_fft'} when onesided={half}, but got {size}"
        )
    if not 0 < hop_length <= win_length:
        raise RuntimeError(f"{call}: expected 0 < hop_length <= win_length")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{call}: expected 0 < win_length <= n_fft")
    if window is not None and tuple(window.shape) != (win_length,):
        raise RuntimeError(
            f"{call}: Invalid window shape. window has to be 1D and length of `win_length`"
        )
    frames = (input if input.dim() == 3 else input.unsqueeze(0)).transpose(1, 2)
    norm = "ortho" if normalized else "backward"
    if return_complex:
        if half:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        frames = _C._fft.ifft(frames, norm=norm)
    else:
        if window is not None and window.is_complex():
            raise RuntimeError("Complex windows are incompatible with return_complex=False")
        frames = _C._fft.irfft(frames[..., : n_fft // 2 + 1], n_fft, norm=norm)
    window = _long_window(window, win_length, n_fft, frames.real)
    if window is None:
        window = _C.ones(n_fft, dtype=frames.real.dtype, device=frames.device)
    reach = n_fft + hop_length * (n_frames - 1)
    start = n_fft // 2 if center else 0
    end = -(n_fft // 2) if center else reach
    end = end if length is None else start + length
    signal = _added(frames * window, reach, hop_length)[:, start:end]
    weight = _added((window * window).expand(1, n_frames, n_fft), reach, hop_length)[:, start:end]
    _assert_async(weight.detach().abs().min() >= 1e-11, f"{call}window overlap add min: 1")
    signal = signal / weight
    if end > reach:
        warn_once(
            "The length of signal is shorter than the length parameter. Result is being padded "
            "with zeros in the tail. Please check your center and hop_length settings."
        )
        signal = _padded(signal, 0, end - reach, "constant")
    return signal if input.dim() == 3 else signal.squeeze(0)
