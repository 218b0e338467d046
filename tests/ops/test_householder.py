"""geqrf and ormqr: LAPACK's two, against torch and against Q itself."""

import numpy as np
import pytest

import rushlight as torch
from tests.conftest import ask
from tests.emulator import EMULATED

MATRICES = np.random.RandomState(0).standard_normal((2, 5, 3))


def applied(library, device, left, transpose, factors=None):
    packed, tau = library.geqrf(library.tensor(MATRICES, device=device))
    packed = packed.detach().requires_grad_()
    tau = tau[..., :factors].detach().requires_grad_()
    shape = (2, 5, 2) if left else (2, 2, 5)
    values = np.random.RandomState(1).standard_normal(shape)
    other = library.tensor(values, device=device, requires_grad=True)
    result = library.ormqr(packed, tau, other, left, transpose)
    (result * result.detach().sin()).sum().backward()
    return [
        t.detach().cpu().flatten().tolist() for t in (result, packed.grad, tau.grad, other.grad)
    ]


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_ormqr_and_its_gradients(device, left, transpose):
    theirs = ask(lambda torch: applied(torch, "cpu", left, transpose))
    for a, b in zip(applied(torch, device, left, transpose), theirs, strict=True):
        assert a == pytest.approx(b, rel=1e-9, abs=1e-9)


def test_the_factors_are_those_of_qr(device):
    a = torch.tensor(MATRICES, device=device)
    packed, tau = torch.geqrf(a)
    q, r = torch.linalg.qr(a)
    torch.testing.assert_close(torch.linalg.householder_product(packed, tau), q)
    torch.testing.assert_close(packed[..., :3, :].triu(), r)
    whole = torch.eye(5, dtype=a.dtype, device=device).expand(2, 5, 5)
    torch.testing.assert_close(torch.ormqr(packed, tau, a, transpose=True)[..., :3, :], r)
    torch.testing.assert_close(torch.ormqr(packed, tau, whole)[..., :3], q)


# Sizes on both sides of those from which LAPACK's reflections are applied in blocks.
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize(
    ("m", "n"),
    [(39, 39), (45, 41), (63, 80), (64, 64), (97, 65), (70, 255)] + [(260, 257)] * (not EMULATED),
)
def test_qr_in_blocks(device, m, n, mode, dtype):
    a = torch.rand(2, m, n, dtype=dtype, device=device)
    q, r = torch.linalg.qr(a, mode=mode)
    tight = {"rtol": 0, "atol": 1e-4 if dtype == torch.float32 else 1e-12}
    torch.testing.assert_close(q @ r, a, **tight)
    torch.testing.assert_close(
        q.mT @ q, torch.eye(q.size(-1), dtype=dtype, device=device).expand(2, -1, -1), **tight
    )
    assert torch.equal(r, r.triu())
    packed, tau = torch.geqrf(a)
    reduced = torch.linalg.householder_product(packed[..., : min(m, n)], tau)
    torch.testing.assert_close(reduced, q[..., : min(m, n)], **tight)
    torch.testing.assert_close(torch.linalg.qr(a, mode="r").R, r[..., : min(m, n), :], **tight)


def test_wide_blocks(device):
    n = 52 if EMULATED else 520
    a = torch.rand(n + 10, n, dtype=torch.float64, device=device)
    q, r = torch.linalg.qr(a)
    torch.testing.assert_close(q @ r, a, rtol=0, atol=1e-12)
    torch.testing.assert_close(
        q.mT @ q, torch.eye(n, dtype=a.dtype, device=device), rtol=0, atol=1e-12
    )


def test_no_elements(device):
    a = torch.zeros(2, 0, 3, device=device)
    assert [tuple(t.shape) for t in torch.geqrf(a)] == [(2, 0, 3), (2, 0)]


def test_r_alone_has_no_gradient(on_device):
    r = torch.linalg.qr(torch.ones(2, 2, requires_grad=True), mode="r").R
    with pytest.raises(RuntimeError, match="depends on Q, which is not computed when mode='r'"):
        r.sum().backward()


def test_geqrf_has_no_gradient(on_device):
    a = torch.ones(2, 2, requires_grad=True)
    with pytest.raises(NotImplementedError, match="the derivative for 'geqrf' is not implemented"):
        torch.geqrf(a).a.sum().backward()


WRONG = {
    "rows": lambda q, tau, ones: (q, tau, ones(4, 2)),
    "vector": lambda q, tau, ones: (q, tau, ones(5)),
    "many factors": lambda q, tau, ones: (q, ones(5), ones(5, 2)),
    "a batch": lambda q, tau, ones: (q, tau, ones(2, 5, 2)),
    "a batch of input": lambda q, tau, ones: (q.unsqueeze(0), tau, ones(5, 2)),
    "a row": lambda q, tau, ones: (q[0], tau, ones(5, 2)),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_ormqr_refuses(case, on_device):
    def words(torch):
        q, tau = torch.geqrf(torch.tensor(MATRICES[0]).float())
        try:
            torch.ormqr(*WRONG[case](q, tau, torch.ones))
        except RuntimeError as error:
            return str(error).splitlines()[0]

    assert words(torch) == ask(words)
