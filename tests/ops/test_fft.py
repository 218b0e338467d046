"""torch.fft against PyTorch: values, gradients, dtypes, layouts, and what is refused."""

import concurrent.futures
import math
import re

import numpy
import pytest

import rushlight
from tests.conftest import ask
from tests.emulator import EMULATED

COMPLEX = "fft ifft irfft hfft".split()
REAL = "rfft ihfft".split()
NORMS = [None, "backward", "forward", "ortho"]
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 26, 30, 32, 35, 37, 64, 77, 100]
LONG = [120, 128, 243, 512, 1000, 1009, 1024, 1331, 2048] if not EMULATED else [128, 131]


def numbers(torch, shape, complex_=False, dtype="float64", device="cpu"):
    count = math.prod(shape)
    steps = torch.arange(1, count + 1, dtype=torch.float64)
    found = (steps * 1.7).sin().reshape(shape)
    if complex_:
        found = torch.complex(found, (steps * 0.9 + 1).cos().reshape(shape))
    dtype = getattr(torch, dtype)
    if complex_:
        dtype = {torch.float64: torch.complex128, torch.float32: torch.complex64}[dtype]
    return found.to(dtype).to(device)


def flat(x):
    """A tensor as its dtype, its shape and a list of numbers."""
    x = x.detach().cpu()
    parts = rushlight_or_torch_parts(x)
    return [str(x.dtype).split(".")[-1], list(x.shape), parts]


def rushlight_or_torch_parts(x):
    if x.is_complex():
        return [*x.real.flatten().tolist(), *x.imag.flatten().tolist()]
    return x.flatten().tolist()


def close(ours, theirs, tolerance):
    assert ours[:2] == theirs[:2]
    largest = max((abs(v) for v in theirs[2]), default=0)
    for a, b in zip(ours[2], theirs[2], strict=True):
        assert abs(a - b) <= tolerance * (largest + 1e-30), (ours, theirs)


def all_close(ours, theirs, tolerance):
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        close(a, b, tolerance)


def compare(run, device, tolerance):
    all_close(run(rushlight, device), ask(run), tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", COMPLEX + REAL)
def test_lengths_and_norms(name, dtype, device):
    def run(torch, device="cpu"):
        found = []
        for n in LENGTHS:
            x = numbers(torch, (2 if n < 9 else 1, n), name in COMPLEX, dtype, device)
            length = 2 * n - 1 if name in ("irfft", "hfft") else None
            for norm in NORMS if n < 6 else NORMS[:1]:
                found.append(flat(getattr(torch.fft, name)(x, length, norm=norm)))
        return found

    compare(run, device, 1e-6 if dtype == "float32" else 1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lines", [1, 3, 21])
@pytest.mark.parametrize("n", LONG)
def test_long_and_many(n, lines, dtype, device):
    """What the definition says, computed in double: torch is asked for short lengths alone."""
    if EMULATED and lines > 3:
        return
    x = numbers(rushlight, (lines, n), True, dtype, device)
    angle = rushlight.arange(n, dtype=rushlight.float64)
    angle = angle.outer(angle).fmod(n) * (2 * math.pi / n)
    c, s = angle.cos().to(device), angle.sin().to(device)
    re, im = x.real.double(), x.imag.double()
    real, imag = re @ c + im @ s, im @ c - re @ s
    tolerance = real.abs().max().item() * (2e-6 if dtype == "float32" else 1e-12)
    for given, dim in ((x, 1), (x.T.contiguous(), 0), (x.T.contiguous().T, 1)):
        found = rushlight.fft.fft(given, dim=dim)
        found = found if dim else found.T
        assert (found.real.double() - real).abs().max().item() < tolerance
        assert (found.imag.double() - imag).abs().max().item() < tolerance
        back = rushlight.fft.ifft(found)
        assert (back.real - x.real).abs().max().item() < 1e-5
    half = rushlight.fft.rfft(x.real)
    whole = rushlight.fft.fft(x.real)
    assert half.shape == (lines, n // 2 + 1)
    assert (half.real.double() - (re @ c)[:, : n // 2 + 1]).abs().max().item() < tolerance
    assert (half.imag.double() + (re @ s)[:, : n // 2 + 1]).abs().max().item() < tolerance
    assert (whole.imag.double() + re @ s).abs().max().item() < tolerance
    again = rushlight.fft.irfft(half, n)
    assert (again - x.real).abs().max().item() < 1e-5
    columns = rushlight.fft.irfft(half.T.contiguous(), n, dim=0)
    assert (columns - x.real.T).abs().max().item() < 1e-5


@pytest.mark.skipif(EMULATED, reason="for a processor")
@pytest.mark.parametrize("n", [32768, 49152, 100000, 65537, 131071 * 2])
def test_very_long(n, device):
    """One wave has one line in its spectrum, and ifft() gives back what there was."""
    steps = rushlight.arange(n, dtype=rushlight.float64, device=device)
    angle = (steps * 7).fmod(n) * (2 * math.pi / n)
    wave = rushlight.complex(angle.cos(), angle.sin())
    found = rushlight.fft.fft(wave)
    found[7] -= n
    assert found.abs().max().item() < 1e-9
    x = numbers(rushlight, (n,), True, "float32", device)
    back = rushlight.fft.ifft(rushlight.fft.fft(x))
    assert (back.real - x.real).abs().max().item() < 1e-5
    back = rushlight.fft.irfft(rushlight.fft.rfft(x.real), n)
    assert (back - x.real).abs().max().item() < 1e-5


SEVERAL = {
    "fftn": (True, {}),
    "ifftn": (True, {"s": (5, 2)}),
    "rfftn": (False, {"dim": (2, 0)}),
    "irfftn": (True, {"dim": (0, 1), "norm": "ortho"}),
    "hfftn": (True, {"s": (3, -1), "dim": (2, 1)}),
    "ihfftn": (False, {"s": (7, 6), "norm": "forward"}),
    "fft2": (True, {"s": (6, 6)}),
    "ifft2": (True, {"dim": (0, 2)}),
    "rfft2": (False, {}),
    "irfft2": (True, {"s": (4, 7)}),
    "hfft2": (True, {}),
    "ihfft2": (False, {"norm": "ortho"}),
}


def layouts(torch, complex_, dtype, device):
    x = numbers(torch, (4, 3, 5), complex_, dtype, device)
    return [x, x.transpose(0, 2), x[:, :, ::2].expand(2, 4, 3, 3), numbers(
        torch, (4, 5), complex_, dtype, device)[:, None].expand(4, 3, 5)]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SEVERAL)
def test_several_dimensions(name, dtype, device):
    complex_, options = SEVERAL[name]

    def run(torch, device="cpu"):
        f = getattr(torch.fft, name)
        return [flat(f(x, **options)) for x in layouts(torch, complex_, dtype, device)]

    compare(run, device, 1e-6 if dtype == "float32" else 1e-14)


@pytest.mark.parametrize("name", ["fft", "ifft", "fftn", "ifft2"])
def test_real_input_and_promotion(name, device):
    def run(torch, device="cpu"):
        x = numbers(torch, (4, 6), False, "float32", device)
        given = [x, x.double(), (x * 9).int(), (x * 9).to(torch.uint8).bool(), x[:, ::3], x[:1]]
        return [flat(getattr(torch.fft, name)(each)) for each in given]

    compare(run, device, 1e-6)


GRADIENTS = {
    "fft": (True, lambda f, x: f.fft(x)),
    "fft, longer": (True, lambda f, x: f.fft(x, 7, 0, "ortho")),
    "fft, shorter": (True, lambda f, x: f.fft(x, 3)),
    "fft of real": (False, lambda f, x: f.fft(x, 6)),
    "ifft": (True, lambda f, x: f.ifft(x)),
    "rfft": (False, lambda f, x: f.rfft(x)),
    "rfft, odd": (False, lambda f, x: f.rfft(x, 7, norm="forward")),
    "irfft": (True, lambda f, x: f.irfft(x)),
    "irfft, odd": (True, lambda f, x: f.irfft(x, 5, 0)),
    "irfft, shorter": (True, lambda f, x: f.irfft(x, 4)),
    "hfft": (True, lambda f, x: f.hfft(x)),
    "ihfft": (False, lambda f, x: f.ihfft(x)),
    "fftn": (True, lambda f, x: f.fftn(x, (2, 7))),
    "fftn of real": (False, lambda f, x: f.fftn(x)),
    "rfftn": (False, lambda f, x: f.rfftn(x, (5, 6), norm="ortho")),
    "rfft2": (False, lambda f, x: f.rfft2(x, dim=(1, 0))),
    "irfftn": (True, lambda f, x: f.irfftn(x)),
    "irfft2": (True, lambda f, x: f.irfft2(x, (3, 7))),
    "hfftn": (True, lambda f, x: f.hfftn(x)),
    "ihfftn": (False, lambda f, x: f.ihfftn(x)),
    "no dimension": (True, lambda f, x: f.fftn(x, dim=())),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name, device):
    """Of a function that is not linear, once and twice."""
    complex_, call = GRADIENTS[name]

    def run(torch, device="cpu"):
        x = numbers(torch, (4, 5), complex_, device=device).requires_grad_()
        y = call(torch.fft, x)
        loss = (y * y * y).real.sum() if y.is_complex() else (y**3).sum()
        (first,) = torch.autograd.grad(loss, x, create_graph=True)
        second_loss = (first * first * first).real.sum() if complex_ else (first**3).sum()
        (second,) = torch.autograd.grad(second_loss, x)
        return [flat(y), flat(first), flat(second)]

    compare(run, device, 1e-12)


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradcheck(name, device):
    complex_, call = GRADIENTS[name]

    def of_parts(x):
        y = call(rushlight.fft, rushlight.view_as_complex(x) if complex_ else x)
        return rushlight.view_as_real(y) if y.is_complex() else y

    x = numbers(rushlight, (4, 5, 2) if complex_ else (4, 5), device=device).requires_grad_()
    assert rushlight.autograd.gradcheck(of_parts, (x,))
    assert rushlight.autograd.gradgradcheck(of_parts, (x,))


def test_nodes_have_torchs_names():
    def run(torch):
        x = torch.ones(4, 4, requires_grad=True)
        z = torch.complex(x, x)
        made = [torch.fft.fft(x), torch.fft.rfft(x), torch.fft.irfft(z), torch.fft.hfft(z)]
        made += [torch.fft.fft(z), torch.fft.fftn(z), torch.fft.fftn(x), torch.fft.rfftn(x)]
        return [y.grad_fn.name() for y in made]

    assert run(rushlight) == ask(run)


def test_out(device):
    def run(torch, device="cpu"):
        x = numbers(torch, (3, 4), False, "float32", device)
        found = []
        for name, dtype in (("fft", "complex64"), ("rfft", "complex128"), ("irfftn", "float32"),
                            ("hfft", "float64"), ("ifft2", "complex64")):  # fmt: skip
            out = torch.empty(0, dtype=getattr(torch, dtype), device=device)
            assert getattr(torch.fft, name)(x, out=out) is out
            found.append(flat(out))
        return found

    compare(run, device, 1e-6)


def test_meta():
    x = rushlight.empty(3, 4, 5, device="meta")
    assert rushlight.fft.rfftn(x).shape == (3, 4, 3) and rushlight.fft.rfft(x).is_complex()
    assert rushlight.fft.irfft(x, 7).shape == (3, 4, 7)
    assert rushlight.fft.fft(x, 10**15, 0).shape == (10**15, 4, 5)


def test_nothing_to_transform(device):
    """MKL refuses a batch of none (an error of its own); here it is an empty result."""
    x = rushlight.ones(0, 3, device=device)
    assert rushlight.fft.fft(x).shape == (0, 3) and rushlight.fft.rfft(x).shape == (0, 2)
    assert rushlight.fft.irfft(x).shape == (0, 4) and rushlight.fft.fftn(x, (2, 2)).shape == (2, 2)
    padded = rushlight.fft.fft(rushlight.ones(3, 0, device=device), 2)
    assert padded.tolist() == [[0, 0]] * 3


REFUSED = {
    "n = 0": lambda f, t: f.fft(t.ones(3), 0),
    "n < 0": lambda f, t: f.ifft(t.ones(3), -1),
    "n < -1": lambda f, t: f.rfft(t.ones(3), -3),
    "nothing": lambda f, t: f.fft(t.ones(0)),
    "one value": lambda f, t: f.irfft(t.ones(1)),
    "one value for hfft": lambda f, t: f.hfft(t.ones(1)),
    "dim": lambda f, t: f.fft(t.ones(3), dim=1),
    "dim < 0": lambda f, t: f.irfft(t.ones(3), dim=-2),
    "no dimension": lambda f, t: f.fft(t.tensor(1.0)),
    "norm": lambda f, t: f.fft(t.ones(3), norm="bad"),
    "an empty norm": lambda f, t: f.rfft(t.ones(3), norm=""),
    "half": lambda f, t: f.fft(t.ones(3).half()),
    "bfloat16": lambda f, t: f.irfft(t.ones(3).bfloat16()),
    "rfft of complex": lambda f, t: f.rfft(t.ones(3, dtype=t.complex64)),
    "ihfft of complex": lambda f, t: f.ihfft(t.ones(3, dtype=t.complex128)),
    "rfftn of complex": lambda f, t: f.rfftn(t.ones(3, dtype=t.complex64)),
    "ihfftn of complex": lambda f, t: f.ihfftn(t.ones(3, dtype=t.complex64)),
    "fft2 of a line": lambda f, t: f.fft2(t.ones(3)),
    "too many sizes": lambda f, t: f.fftn(t.ones(3), s=(1, 2)),
    "lengths of s and dim": lambda f, t: f.fftn(t.ones(3, 4), s=(2,), dim=(0, 1)),
    "a dimension twice": lambda f, t: f.fftn(t.ones(3, 4), dim=(1, -1)),
    "a dimension out of range": lambda f, t: f.irfftn(t.ones(3, 4), dim=(0, 2)),
    "no axis": lambda f, t: f.rfftn(t.ones(3, 4), dim=()),
    "no axis of irfftn": lambda f, t: f.irfftn(t.tensor(1.0)),
    "no axis of hfftn": lambda f, t: f.hfftn(t.ones(3, 4), dim=()),
    "no axis of ihfftn": lambda f, t: f.ihfftn(t.tensor(1.0)),
    "s = 0": lambda f, t: f.fftn(t.ones(3, 4), s=(0, 2)),
    "s < -1": lambda f, t: f.fftn(t.ones(3, 4), s=(-2, 2)),
    "s = 0 at last": lambda f, t: f.irfftn(t.ones(3, 4), s=(2, 0)),
    "no tensor": lambda f, t: f.fft([1.0]),
    "n is no int": lambda f, t: f.fft(t.ones(3), 2.5),
    "norm is no str": lambda f, t: f.fft(t.ones(3), norm=3),
    "dim of fft2 is None": lambda f, t: f.fft2(t.ones(3, 3), dim=None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    def run(torch):
        with pytest.raises((RuntimeError, TypeError, IndexError)) as caught:
            REFUSED[name](torch.fft, torch)
        words = str(caught.value).split("\n")[0]
        return [type(caught.value).__name__, re.sub(r" \(position \d\)", "", words)]

    assert run(rushlight) == ask(run)


@pytest.mark.parametrize("n", [10**12, 2**40 + 1, 2**61, 2**62, 2**63 - 1])
def test_too_long(n):
    """No memory holds them: an error, and soon."""
    x = rushlight.ones(4, dtype=rushlight.float32)
    for call in (rushlight.fft.fft, rushlight.fft.rfft, rushlight.fft.irfft, rushlight.fft.ihfft):
        with pytest.raises(RuntimeError):
            call(x, n)


def test_more_lengths_than_are_kept(device):
    """The tables of a length are made again where they were given up, and by several threads."""
    steps = 7 if EMULATED else 1
    kinds = [numbers(rushlight, (2, n), True, device=device) for n in range(1, 160, steps)]
    first = [rushlight.fft.fft(x) for x in kinds]
    with concurrent.futures.ThreadPoolExecutor(1 if EMULATED else 4) as threads:
        for _ in range(3):
            for x, y in zip(first, threads.map(rushlight.fft.fft, kinds), strict=True):
                assert rushlight.equal(rushlight.view_as_real(x), rushlight.view_as_real(y))


def test_what_is_no_number(device):
    """It spreads over the line that has it, and over no other."""
    for n in (5, 16, 23, 1024):
        x = numbers(rushlight, (18, n), True, "float32", device)
        x[3, n // 2] = math.nan
        x[7, 1] = math.inf
        for y in (rushlight.fft.fft(x).abs(), rushlight.fft.ifft(x.T, dim=0).abs().T,
                  rushlight.fft.irfft(x).abs()):  # fmt: skip
            lost = y.isfinite().all(1).logical_not()
            assert lost.nonzero().flatten().tolist() == [3, 7]


def test_results_lie_apart(device):
    """Neither the input nor what a view of it leaves out is written."""
    x = numbers(rushlight, (6, 40), True, device=device)
    before = x.clone()
    for given, dim in ((x[:, 3:35], 1), (x[1:5], 0), (x[:, ::2], 1)):
        rushlight.fft.fft(given, dim=dim)
        rushlight.fft.irfft(given, dim=dim)
        assert rushlight.equal(rushlight.view_as_real(x), rushlight.view_as_real(before))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("lines", [1, 2, 3, 7, 8, 9, 15, 16, 17, 20, 21, 33, 36, 100])
def test_some_lines_at_a_time(lines, dtype, device):
    """Dense lines and neighbours, as many as fill vectors and a few more; judged by NumPy."""
    random = numpy.random.default_rng(lines)
    tolerance = 1e-5 if dtype == "complex64" else 1e-13
    for n in (1, 2, 3, 4, 5, 8, 16, 30, 33) if not EMULATED else (3, 8):
        x = random.standard_normal((2, lines, n)) + 1j * random.standard_normal((2, lines, n))
        x = rushlight.from_numpy(x).to(getattr(rushlight, dtype)).to(device)
        a = x.cpu().numpy().astype(complex)
        for y, b in ((x, a), (x.mT, a.swapaxes(1, 2)), (x[..., ::2], a[..., ::2])):
            for d in (-1, -2):
                m = 2 * b.shape[d] - 1
                for found, expected in (
                    (rushlight.fft.fft(y, dim=d), numpy.fft.fft(b, axis=d)),
                    (rushlight.fft.ifft(y, dim=d), numpy.fft.ifft(b, axis=d)),
                    (rushlight.fft.rfft(y.real, dim=d), numpy.fft.rfft(b.real, axis=d)),
                    (rushlight.fft.irfft(y, m, dim=d), numpy.fft.irfft(b, m, axis=d)),
                    (rushlight.fft.fft(y.real, dim=d), numpy.fft.fft(b.real, axis=d)),
                ):
                    error = numpy.abs(found.cpu().numpy() - expected).max()
                    assert error <= tolerance * (1 + numpy.abs(expected).max())
