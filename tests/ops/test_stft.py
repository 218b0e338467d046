"""stft and istft against PyTorch: values, gradients, warnings, and what is refused."""

import math
import re
import warnings

import pytest

import rushlight
from tests.conftest import ask
from tests.ops.test_fft import all_close, compare, flat, numbers

HANN = {"window": 16}
FORWARD = {
    "centred": ((2, 50), 16, HANN),
    "one signal": ((37,), 16, HANN),
    "hops": ((2, 50), 16, {**HANN, "hop_length": 5}),
    "not centred": ((2, 50), 16, {**HANN, "center": False}),
    "constant": ((2, 50), 16, {**HANN, "pad_mode": "constant"}),
    "circular": ((2, 50), 16, {**HANN, "pad_mode": "circular"}),
    "replicate": ((2, 50), 16, {**HANN, "pad_mode": "replicate"}),
    "normalized": ((2, 50), 15, {"window": 15, "normalized": True}),
    "both sides": ((2, 50), 16, {**HANN, "onesided": False}),
    "a short window": ((2, 50), 16, {"window": 9, "win_length": 9}),
    "no window": ((2, 50), 10, {}),
    "no window, short": ((2, 50), 16, {"win_length": 10}),
    "aligned": ((2, 50), 16, {"window": 8, "win_length": 8, "center": False,
                              "align_to_window": True}),
    "not aligned": ((2, 50), 16, {"window": 8, "win_length": 8, "center": False,
                                  "align_to_window": False}),
    "one frame": ((2, 16), 16, {**HANN, "center": False}),
    "a long hop": ((2, 50), 16, {**HANN, "hop_length": 1000}),
}  # fmt: skip


def options_of(torch, options, dtype, device):
    found = dict(options)
    if "window" in found:
        window = torch.hann_window(found["window"], dtype=torch.float64) + 0.1
        found["window"] = window.to(getattr(torch, dtype)).to(device)
    return found


def quietly(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FORWARD)
def test_forward(name, dtype, device):
    shape, n_fft, given = FORWARD[name]

    def run(torch, device="cpu"):
        options = options_of(torch, given, dtype, device)
        x = numbers(torch, shape, False, dtype, device).requires_grad_()
        y = quietly(lambda: torch.stft(x, n_fft, return_complex=True, **options))
        (y.real**2 * 3 + y.imag**3).sum().backward()
        pairs = quietly(lambda: x.stft(n_fft, return_complex=False, **options))
        return [flat(y), flat(x.grad), flat(pairs)]

    compare(run, device, 2e-6 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("mode", ["reflect", "constant"])
def test_of_complex_numbers(mode, device):
    def run(torch, device="cpu"):
        z = numbers(torch, (2, 40), True, device=device)
        window = torch.hann_window(12, dtype=torch.float64).to(device)
        turned = torch.complex(window, -window)
        calls = [
            lambda: torch.stft(z, 12, window=window, pad_mode=mode),
            lambda: torch.stft(z.real, 12, window=turned, pad_mode=mode),
            lambda: torch.stft(z[0], 14, 3, 12, turned, pad_mode=mode, normalized=True),
        ]
        return [flat(call()) for call in calls]

    compare(run, device, 1e-13)


BACKWARD = {
    "centred": ((2, 50), 16, HANN, {}),
    "one signal": ((50,), 16, HANN, {}),
    "cut": ((2, 50), 16, HANN, {"length": 41}),
    "longer": ((2, 50), 16, HANN, {"length": 60}),
    "hops": ((2, 50), 16, {**HANN, "hop_length": 5}, {}),
    "not centred": ((2, 50), 16, {**HANN, "center": False}, {}),
    "normalized": ((2, 50), 15, {"window": 15, "normalized": True}, {}),
    "both sides": ((2, 50), 16, {**HANN, "onesided": False}, {}),
    "a short window": ((2, 50), 16, {"window": 9, "win_length": 9}, {}),
    "no window": ((2, 50), 10, {}, {}),
    "no window, short": ((2, 50), 16, {"win_length": 10}, {}),
    "complex": ((2, 50), 16, {**HANN, "onesided": False}, {"return_complex": True}),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BACKWARD)
def test_backward(name, dtype, device):
    shape, n_fft, given, more = BACKWARD[name]

    def run(torch, device="cpu"):
        options = options_of(torch, given, dtype, device)
        x = numbers(torch, shape, False, dtype, device)
        z = quietly(lambda: torch.stft(x, n_fft, return_complex=True, **options))
        z = z.detach().requires_grad_()
        y = quietly(lambda: z.istft(n_fft, **options, **more))
        (y.real**3).sum().backward()
        return [flat(y), flat(z.grad)]

    compare(run, device, 5e-6 if dtype == "float32" else 1e-12)


def test_there_and_back(device):
    x = numbers(rushlight, (3, 100), device=device)
    window = rushlight.hann_window(20, dtype=rushlight.float64, device=device)
    frames = rushlight.stft(x, 20, window=window, return_complex=True)
    assert (rushlight.istft(frames, 20, window=window) - x).abs().max().item() < 1e-12


def test_complex_window(device):
    def run(torch, device="cpu"):
        x = numbers(torch, (2, 40), True, device=device)
        window = torch.hann_window(12, dtype=torch.float64).to(device) + 0.5
        window = torch.complex(window, window / 3)
        z = torch.stft(x, 12, window=window)
        return [flat(torch.istft(z, 12, window=window, return_complex=True))]

    compare(run, device, 1e-12)


def test_gradcheck(device):
    window = rushlight.hann_window(6, dtype=rushlight.float64, device=device) + 0.2

    def there(x):
        return rushlight.view_as_real(rushlight.stft(x, 6, window=window, return_complex=True))

    def back(pairs):
        return rushlight.istft(rushlight.view_as_complex(pairs), 6, window=window)

    x = numbers(rushlight, (2, 12), device=device).requires_grad_()
    assert rushlight.autograd.gradcheck(there, (x,))
    pairs = there(x).detach().contiguous().requires_grad_()
    assert rushlight.autograd.gradcheck(back, (pairs,))


REFUSED = {
    "no return_complex": lambda t, x, w, z: t.stft(x, 16, window=w),
    "one side of complex": lambda t, x, w, z: t.stft(x, 16, window=t.complex(w, w), onesided=True),
    "integers": lambda t, x, w, z: t.stft((x * 9).int(), 16, window=w, return_complex=True,
                                          center=False),
    "three dimensions": lambda t, x, w, z: t.stft(x[None], 16, window=w, return_complex=True,
                                                  center=False),
    "n_fft = 0": lambda t, x, w, z: t.stft(x, 0, window=w, return_complex=True),
    "n_fft < 0": lambda t, x, w, z: t.stft(x, -2, window=w, return_complex=True),
    "n_fft too long": lambda t, x, w, z: t.stft(x, 60, window=w, return_complex=True,
                                                center=False),
    "no hop": lambda t, x, w, z: t.stft(x, 16, 0, window=w, return_complex=True),
    "a window too long": lambda t, x, w, z: t.stft(x, 16, win_length=20, window=w,
                                                   return_complex=True),
    "no window": lambda t, x, w, z: t.stft(x, 16, win_length=0, window=w, return_complex=True),
    "a window too short": lambda t, x, w, z: t.stft(x, 16, window=w[:8], return_complex=True),
    "centred and aligned": lambda t, x, w, z: t.stft(x, 16, window=w, return_complex=True,
                                                     align_to_window=True),
    "real": lambda t, x, w, z: t.istft(z.real, 16, window=w),
    "empty": lambda t, x, w, z: t.istft(z[:, :, :0], 16, window=w),
    "four dimensions": lambda t, x, w, z: t.istft(z[None], 16, window=w),
    "another n_fft": lambda t, x, w, z: t.istft(z, 14, window=w),
    "not both sides": lambda t, x, w, z: t.istft(z, 16, window=w, onesided=False),
    "istft without hop": lambda t, x, w, z: t.istft(z, 16, 0, window=w),
    "a hop too long": lambda t, x, w, z: t.istft(z, 16, 17, window=w),
    "istft's window too long": lambda t, x, w, z: t.istft(z, 16, win_length=17, window=w),
    "istft's window too short": lambda t, x, w, z: t.istft(z, 16, window=w[:3]),
    "a complex window": lambda t, x, w, z: t.istft(z, 16, window=t.complex(w, w)),
    "complex of one side": lambda t, x, w, z: t.istft(z, 16, window=w, return_complex=True),
    "gaps": lambda t, x, w, z: t.istft(z, 16, window=w, center=False),
    "a window of zeros": lambda t, x, w, z: t.istft(z, 16, window=w * 0),
    "length = 0": lambda t, x, w, z: t.istft(z, 16, window=w, length=0),
    "length < 0": lambda t, x, w, z: t.istft(z, 16, window=w, length=-5),
    "no tensor": lambda t, x, w, z: t.istft([1j], 16),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    def run(torch):
        x = numbers(torch, (2, 50), dtype="float32")
        window = torch.hann_window(16)
        z = torch.stft(x, 16, window=window, return_complex=True)
        with pytest.raises((RuntimeError, TypeError)) as caught:
            REFUSED[name](torch, x, window, z)
        words = str(caught.value).split("\n")[0]
        return [type(caught.value).__name__, re.sub(r" \(position \d\)", "", words)]

    assert run(rushlight) == ask(run)


def test_warnings():
    """Each once in a process, so that they are looked for where they always come."""

    def run(torch):
        before = torch.is_warn_always_enabled()
        torch.set_warn_always(True)
        found = []
        try:
            for call in (
                lambda x, w: torch.stft(x, 16, return_complex=True),
                lambda x, w: torch.stft(x, 16, window=w, return_complex=False),
                lambda x, w: torch.istft(torch.stft(x, 16, window=w, return_complex=True), 16,
                                         window=w, length=70),
                lambda x, w: torch.istft(torch.stft(x, 16, window=w, return_complex=True), 16),
            ):  # fmt: skip
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    call(torch.ones(50), torch.hann_window(16))
                found.append([str(w.message).split(" (Triggered")[0] for w in caught])
        finally:
            torch.set_warn_always(before)
        return found

    assert run(rushlight) == ask(run)


def test_odd_alignment(device):
    """torch reads beyond the signal where n_fft - win_length is odd, and refuses."""
    x = numbers(rushlight, (50,), device=device)
    window = rushlight.ones(9, dtype=rushlight.float64, device=device)
    found = rushlight.stft(x, 16, 3, 9, window, center=False, align_to_window=True,
                           return_complex=True)  # fmt: skip
    assert found.shape == (9, 1 + (50 - 9) // 3)
    steps = rushlight.arange(16, dtype=rushlight.float64, device=device)[3:12]
    turns = steps * (2 * math.pi / 16)
    first = (x[:9] * turns.cos()).sum()
    assert abs(found[1, 0].real.item() - first.item()) < 1e-12


def test_of_a_batch_of_functions(device):
    """vmap() of it is what a batch gives."""

    def run(torch, device="cpu"):
        x = numbers(torch, (3, 40), device=device)
        window = torch.hann_window(8, dtype=torch.float64).to(device)
        there = torch.vmap(lambda s: torch.stft(s, 8, window=window, return_complex=True))
        return [flat(quietly(lambda: there(x)))]

    all_close(run(rushlight, device), ask(run), 1e-13)
