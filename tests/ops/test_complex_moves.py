"""Complex numbers in what pads, folds, shuffles and scans, and as factors of products: values,
gradients and theirs as PyTorch's.
"""

import pytest

import rushlight
from tests.conftest import ask
from tests.ops.test_complex import close, followed

MOVES = {
    "addmm": lambda t, a, b, r: t.addmm(b[:, :2], a, b.t(), beta=2j, alpha=0.5 - 1j),
    "addmm, one number": lambda t, a, b, r: t.addmm(b[:, :2], a, b.t(), alpha=1j),
    "addmm_": lambda t, a, b, r: (a @ b.t()).addmm_(a, b.t(), beta=1 - 1j, alpha=3),
    "addmv": lambda t, a, b, r: t.addmv(b[:, 1], a, b[0], beta=0.5j, alpha=2),
    "addr": lambda t, a, b, r: t.addr(a, b[:, 0], b[1], beta=1j, alpha=1 + 1j),
    "baddbmm": lambda t, a, b, r: t.baddbmm(
        b[:, :2], a.expand(2, 2, 3), b.t().expand(2, 3, 2), beta=0.5j, alpha=2j
    ),
    "addbmm": lambda t, a, b, r: t.addbmm(
        b[:, :2], a.expand(2, 2, 3), b.t().expand(2, 3, 2), beta=1j, alpha=2j
    ),
    "pad, reflected": lambda t, a, b, r: pad(t, a, "reflect"),
    "pad, replicated": lambda t, a, b, r: pad(t, a, "replicate"),
    "pad, circular": lambda t, a, b, r: pad(t, a, "circular"),
    "unfold": lambda t, a, b, r: t.nn.functional.unfold(a[None, None], 2, padding=1),
    "fold": lambda t, a, b, r: t.nn.functional.fold(t.cat([a, b])[None], (2, 4), 2),
    "pixel_shuffle": lambda t, a, b, r: t.pixel_shuffle(t.cat([a, b])[None, :, :, None], 2),
    "pixel_unshuffle": lambda t, a, b, r: t.pixel_unshuffle(a[None, None, :, :2], 2),
    "channel_shuffle": lambda t, a, b, r: t.channel_shuffle(t.cat([a, b])[None, :, :, None], 2),
    "softmax of real parts": lambda t, a, b, r: t.softmax(a, 1, dtype=t.float64),
    "log_softmax": lambda t, a, b, r: t.nn.functional.log_softmax(b, 1, dtype=t.float64),
    "softmin": lambda t, a, b, r: t.nn.functional.softmin(b, 0, dtype=t.float64),
    "rms_norm": lambda t, a, b, r: t.nn.functional.rms_norm(a, (3,)),
    "rms_norm, weight": lambda t, a, b, r: t.nn.functional.rms_norm(a, (2, 3), b, 0.1),
    "renorm": lambda t, a, b, r: t.renorm(a, 2, 0, 1.5),
    "logcumsumexp": lambda t, a, b, r: t.logcumsumexp(a, 1),
    "logcumsumexp of many": lambda t, a, b, r: t.logcumsumexp(t.cat([a.real + 0j, b.real + 0j]), 0),
    "logsumexp of far rows": lambda t, a, b, r: t.logsumexp(a + 2000 * b.real[:, :1], 1),
    "logsumexp of columns": lambda t, a, b, r: t.logsumexp(a, 0, keepdim=True) * b,
}


def pad(t, a, mode):
    return t.nn.functional.pad(a[None], (2, 1), mode=mode) * 2


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", MOVES)
def test_values_and_gradients(name, dtype, device):
    ours = followed(rushlight, MOVES[name], dtype, device)
    theirs = ask(lambda torch: followed(torch, MOVES[name], dtype))
    tolerance = 1e-7 if dtype == "complex128" else 2e-2
    close(ours[:2] + ours[3:], theirs[:2] + theirs[3:], tolerance)


def test_as_strided_scatter(device):
    """The gradient is not compared: torch's is not 0 where input was overwritten."""

    def run(torch, device="cpu"):
        a = torch.arange(6.0, device=device).reshape(2, 3) * (1 + 2j)
        b = torch.ones(2, 2, device=device) * 5j
        return [torch.as_strided_scatter(x, b, (2, 2), (1, 2), 1).tolist() for x in (a, a.t())]

    assert run(rushlight, device) == ask(run)
    a = rushlight.zeros(2, 3, dtype=rushlight.complex64, device=device, requires_grad=True)
    b = rushlight.ones(2, dtype=rushlight.complex64, device=device, requires_grad=True)
    rushlight.as_strided_scatter(a, b, (2,), (2,)).real.sum().backward()
    assert a.grad.real.tolist() == [[0, 1, 0], [1, 1, 1]] and b.grad.real.tolist() == [1, 1]


INFINITE = [[-3.0, 2, 5], [float("inf"), 2, 5], [2.0, float("inf"), 5], [-float("inf"), 1, 2]]


@pytest.mark.parametrize("row", INFINITE)
def test_logcumsumexp_with_infinities(row, device):
    def run(torch, device="cpu"):
        z = torch.complex(*torch.tensor([row, [0.0, 1, -1]], device=device).double())
        return [f"{x.real:.6g} {x.imag:.6g}" for x in torch.logcumsumexp(z, 0).tolist()]

    assert run(rushlight, device) == ask(run)


def test_a_factor_of_0_leaves_the_input_unread(device):
    nan = rushlight.full((2, 2), float("nan"), dtype=rushlight.complex64, device=device)
    one = rushlight.eye(2, dtype=rushlight.complex64, device=device)
    assert rushlight.addmm(nan, one, one, beta=0j, alpha=2j).tolist() == [[2j, 0], [0, 2j]]
    assert rushlight.baddbmm(nan[None], one[None], one[None], beta=0, alpha=1j)[0, 0, 0] == 1j


REFUSED = {
    "addmm of real numbers": lambda t, z: t.addmm(z.real, z.real, z.real, beta=1j),
    "addr of real numbers": lambda t, z: t.addr(z.real, z.real[0], z.real[0], alpha=1j),
    "addmm of integers": lambda t, z: t.addmm(*(z.real.long(),) * 3, alpha=1j),
    "softmax": lambda t, z: t.softmax(z, 0),
    "log_softmax to complex numbers": lambda t, z: t.log_softmax(z.real, 0, dtype=t.complex64),
    "softmin": lambda t, z: t.nn.functional.softmin(z, 0),
    "renorm of integers": lambda t, z: t.renorm(z.real.int(), 2, 0, 1),
    "rms_norm": lambda t, z: t.nn.functional.rms_norm(z, (3,)),
    "shapes": lambda t, z: t.addmm(z, z[:1], z[:1], alpha=1j),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_torchs_type(name):
    def run(torch):
        try:
            REFUSED[name](torch, torch.ones(2, 2) * (1 + 1j))
        except Exception as error:
            return type(error).__name__

    assert run(rushlight) == ask(run) is not None
