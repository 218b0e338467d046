"""Factorisations on cuSOLVER and cuBLAS: what goes through which, what waits, and the host where
they are absent. On the emulated provider tests/emulator/libraries/{cusolver,cublas}.cpp answer and
check every call.
"""

import pytest

import rushlight as torch
from tests.devices.stand_ins import stand_in
from tests.devices.test_provider import run
from tests.devices.test_waiting import lazily

pytestmark = pytest.mark.emulated
linalg = torch.linalg


@pytest.fixture
def library():
    return stand_in("cuSOLVER")


@pytest.fixture
def blas():
    return stand_in("cuBLAS")


def symmetric(*shape, dtype=torch.float64):
    a = torch.randn(*shape, dtype=dtype)
    return a @ a.mT + shape[-1] * torch.eye(shape[-1], dtype=dtype)


def results(function, a):
    """What it gives on a device, and on the CPU."""
    answers = function(a.to("cuda:1")), function(a)
    return [[t.cpu() for t in (x if isinstance(x, tuple) else (x,))] for x in answers]


CALLS = {
    "lu_factor": (lambda a: linalg.lu_factor(a[0]), 1),
    "lu_factor wide": (lambda a: linalg.lu_factor(a[0, :3]), 1),
    "lu_factor tall": (lambda a: linalg.lu_factor(a[0, :, :3]), 1),
    "lu_factor of many rows": (lambda a: linalg.lu_factor(a.repeat(1, 15, 1)[..., :2]), 2),
    "cholesky": (lambda a: linalg.cholesky(a[0]), 1),
    "cholesky upper": (lambda a: linalg.cholesky(a[0], upper=True), 1),
    "qr": (lambda a: linalg.qr(a[0, :, :3]), 2),
    "qr complete": (lambda a: linalg.qr(a[0, :, :3], "complete"), 2),
    "qr wide": (lambda a: linalg.qr(a[0, :3])[1], 2),
    "householder_product": (lambda a: linalg.householder_product(a[0] / 36, a[0, 0, :2] / 36), 1),
    "eigvalsh": (linalg.eigvalsh, 1),
    "eigvalsh lower": (lambda a: linalg.eigvalsh(a[0].tril(), UPLO="L"), 1),
    "eigvalsh upper": (lambda a: linalg.eigvalsh(a[0].triu(), UPLO="U"), 1),
    "svdvals": (lambda a: linalg.svdvals(a[..., :3]), 2),
    "solve": (lambda a: linalg.solve(a[0], a[..., :2]), 1),
    "lu_factor of a wide batch": (lambda a: linalg.lu_factor(a[:, :3]), 2),
    "slogdet": (lambda a: linalg.slogdet(a[0])[1], 1),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_factorisations_go_through_it(library, name, dtype):
    function, calls = CALLS[name]
    before = library.emulated_factorisations()
    for ours, expected in zip(
        *results(function, symmetric(2, 36, 36, dtype=getattr(torch, dtype))), strict=True
    ):
        assert ours.dtype == expected.dtype
        tolerance = 1e-4 if dtype == "float32" else 1e-9
        assert torch.allclose(ours, expected, rtol=tolerance, atol=tolerance)
    assert library.emulated_factorisations() == before + calls


def close(a, b):
    return torch.allclose(a, b, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (2, 5, 3), (2, 3, 5), (3, 40, 34)])
@pytest.mark.parametrize("full", [True, False])
def test_singular_vectors(library, shape, full):
    a = torch.randn(*shape, dtype=torch.float64)
    batches, before = library.emulated_batches(), library.emulated_factorisations()
    u, s, vh = (t.cpu() for t in linalg.svd(a.to("cuda:1"), full_matrices=full))
    small = len(shape) == 3 and max(shape[-2:]) <= 32
    assert library.emulated_batches() == batches + small
    count = shape[0] if len(shape) == 3 and not small else 1
    assert library.emulated_factorisations() == before + count
    k = min(shape[-2:])
    assert u.shape[-1] == (shape[-2] if full else k) and vh.shape[-2] == (shape[-1] if full else k)
    assert close(u[..., :k] * s.unsqueeze(-2) @ vh[..., :k, :], a)
    for q in (u.mT @ u, vh @ vh.mT):
        assert close(q, torch.eye(q.shape[-1], dtype=q.dtype).expand_as(q))


BATCHES = {  # calls of cuBLAS and of cuSOLVER for a whole batch
    "lu_factor": (linalg.lu_factor, 1, 0),
    "cholesky": (lambda a: linalg.cholesky(a @ a.mT + torch.eye(a.shape[-1]).to(a)), 0, 1),
    "cholesky upper": (
        lambda a: linalg.cholesky((a @ a.mT + torch.eye(a.shape[-1]).to(a)).triu(), upper=True),
        0,
        1,
    ),
    "qr": (linalg.qr, 1, 0),
    "qr complete": (lambda a: linalg.qr(a[..., :2], "complete"), 1, 0),
    "qr wide": (lambda a: linalg.qr(a[..., :3, :]), 1, 0),
    "inv": (linalg.inv, 3, 0),
    "solve_triangular": (lambda a: linalg.solve_triangular(a + 99, a, upper=True), 1, 0),
}


@pytest.mark.parametrize("name", BATCHES)
@pytest.mark.parametrize("size", [4, 33])
def test_batches_of_small_matrices_in_one_call(library, blas, name, size):
    function, of_blas, of_solver = BATCHES[name]
    generator = torch.Generator().manual_seed(size)
    a = torch.randn(5, size, size, dtype=torch.float64, generator=generator)
    for wide in (True, False):
        before = blas.emulated_batches(), library.emulated_batches()
        for ours, expected in zip(*results(function, a if wide else a.float()), strict=True):
            assert ours.dtype == expected.dtype
            tolerance = 1e-9 if wide else 1e-3
            assert torch.allclose(ours, expected, rtol=tolerance, atol=tolerance)
        assert blas.emulated_batches() == before[0] + of_blas
        assert library.emulated_batches() == before[1] + of_solver


def test_more_systems_than_one_call_takes(blas):
    a = torch.arange(1.0, 33001.0, device="cuda:1").reshape(-1, 1, 1)
    before = blas.emulated_batches()
    assert torch.allclose(linalg.solve_triangular(a, a * a, upper=True), a)
    assert blas.emulated_batches() == before + 2


def test_more_factors_than_one_call_takes(blas):
    pair = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]])
    given = pair.repeat(16500, 1, 1)
    given[-1] = torch.tensor([[1.0, 2.0], [2.0, 4.0]])  # singular
    before = blas.emulated_batches()
    packed, pivots, info = (t.cpu() for t in linalg.lu_factor_ex(given.to("cuda:1")))
    q, r = (t.cpu() for t in linalg.qr(given.to("cuda:1")))
    assert blas.emulated_batches() == before + 4
    expected = torch.tensor([[2, 2], [1, 2]], dtype=torch.int32).repeat(16500, 1)
    expected[-1, 0] = 2
    assert pivots.equal(expected)
    assert info.nonzero().tolist() == [[32999]] and info[-1].item() == 2
    assert packed[:-1, 0].equal(torch.tensor([3.0, 4.0]).expand(32999, 2))
    assert torch.allclose(q @ r, given, atol=1e-5)


def test_matrices_that_cannot_be_factored():
    for special in (0.0, float("nan")):
        a = torch.eye(3)
        a[1] = special
        given = torch.stack([torch.eye(3), a, torch.eye(3)])
        packed, pivots, info = (t.cpu() for t in linalg.lu_factor_ex(given.to("cuda:1")))
        assert pivots.tolist()[0] == [1, 2, 3] and packed[2].equal(torch.eye(3))
        assert info.tolist() == [0, 2 if special == 0 else 0, 0] or special != 0
    bad = torch.diag_embed(torch.tensor([[4.0, 1.0], [-1.0, 1.0], [1.0, float("nan")]]))
    factor, info = linalg.cholesky_ex(bad.to("cuda:1"))
    assert info.tolist()[:2] == [0, 1] and factor[0].diagonal().tolist() == [2.0, 1.0]


def test_eigenvectors_of_a_batch_at_once(library):
    a = symmetric(3, 6, 6)
    before, batches = library.emulated_factorisations(), library.emulated_batches()
    values, vectors = (t.cpu() for t in linalg.eigh(a.to("cuda:1")))
    assert close(vectors * values.unsqueeze(-2) @ vectors.mT, a)
    assert library.emulated_factorisations() == before + 1
    assert library.emulated_batches() == batches + 1


def test_large_matrices_one_by_one(library):
    a = torch.eye(513).expand(2, 513, 513) * 3
    before, batches = library.emulated_factorisations(), library.emulated_batches()
    assert linalg.eigvalsh(a.to("cuda:1")).cpu().equal(torch.full((2, 513), 3.0))
    assert library.emulated_factorisations() == before + 2
    assert library.emulated_batches() == batches


def test_more_matrices_than_it_takes_at_once(library):
    a = torch.arange(40000.0, device="cuda:1").reshape(-1, 1, 1)
    before = library.emulated_batches()
    assert linalg.eigvalsh(a).flatten().equal(a.flatten())
    assert linalg.svdvals(a).flatten().equal(a.flatten())
    assert library.emulated_batches() == before + 6


def test_what_is_wrong_with_one_matrix_is_said():
    for size in (4, 40):
        a = symmetric(3, size, size).to("cuda:1")
        a[1, 2, 2] = -1.0
        with pytest.raises(linalg.LinAlgError, match=r"\(Batch element 1\).*order 3"):
            linalg.cholesky(a)
    with pytest.raises(linalg.LinAlgError, match="singular"):
        linalg.solve(torch.zeros(2, 2, device="cuda:1"), torch.ones(2, 1, device="cuda:1"))


@pytest.mark.parametrize("shape", [(5, 3), (2, 4, 4)])
def test_what_jacobi_gives_up_lapack_finds(library, shape):
    a = torch.randn(*shape, dtype=torch.float64)
    expected = linalg.svd(a)
    given = a.to("cuda:1").requires_grad_()
    library.emulated_give_up(1)
    try:
        found = linalg.svd(given)
        found.S.sum().backward()
        with pytest.raises(linalg.LinAlgError, match="failed to converge"):
            linalg.svd(torch.full((3, 3), float("nan"), device="cuda:1"))
    finally:
        library.emulated_give_up(0)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.device == given.device and close(ours.detach().cpu(), theirs)
    assert given.grad.device == given.device


def test_systems_go_through_cublas(blas):
    a, b = symmetric(70, 70, dtype=torch.float32), torch.randn(2, 70, 3)
    before, batches = blas.emulated_systems(), blas.emulated_batches()
    for upper in (True, False):
        x = linalg.solve_triangular(a.to("cuda:1"), b[0].to("cuda:1"), upper=upper)
        expected = linalg.solve_triangular(a, b[0], upper=upper)
        assert torch.allclose(x.cpu(), expected, atol=1e-5)
    assert blas.emulated_systems() == before + 2
    packed, pivots = linalg.lu_factor(a.to("cuda:1").expand(2, 70, 70))
    for adjoint in (False, True):
        x = linalg.lu_solve(packed, pivots, b.to("cuda:1"), adjoint=adjoint)
        assert torch.allclose(a @ x.cpu(), b, atol=1e-3)
    assert blas.emulated_batches() == batches + 5  # one of them for the factors


def test_what_waits(library):
    lazily("""
        a = torch.eye(40, device="cuda") * 2
        b = torch.ones(40, 3, device="cuda")
        torch.cuda.synchronize()
        linalg = torch.linalg
        with waits(0):
            x = linalg.solve_triangular(a, b, upper=True)
            packed, pivots, info = linalg.lu_factor_ex(a)
            y = linalg.lu_solve(packed, pivots, b)
            q, r = linalg.qr(a)
            factor = linalg.cholesky_ex(a).L
            p = torch.lu_unpack(packed, pivots)[0]
        with waits(1):
            values, vectors = linalg.eigh(a)
        with waits(1):
            u, s, vh = linalg.svd(a)
        half = torch.full_like(b, 0.5)
        for right in (x, y):
            assert right.equal(half)
        assert p.equal(torch.eye(40, device="cuda")) and info.item() == 0
        for product in (q @ r, vectors @ values.diag() @ vectors.T, u * s @ vh):
            assert torch.allclose(product, a, atol=1e-5)
        assert torch.allclose(factor @ factor.T, a, atol=1e-5)
    """)


@pytest.mark.parametrize("absent", ["CUSOLVER", "CUBLAS"])
def test_without_one_the_host_factors(absent):
    said = run(
        """
import rushlight as torch
a = torch.diag(torch.tensor([4.0, 9.0])).to("cuda:1").requires_grad_()
factor = torch.linalg.cholesky(a)
factor.sum().backward()
u, s, vh = torch.linalg.svd(a)
x = torch.linalg.solve(a, torch.ones(2, 1, device="cuda:1"))
print(factor.device, factor.diagonal().tolist(), a.grad.diagonal().tolist(), s.tolist(), x.device)
q, r = torch.linalg.qr(torch.ones(2, 3, 2, device="cuda:1"))
half = torch.linalg.solve_triangular(a, torch.ones(2, 1, device="cuda:1"), upper=True)
packed, pivots = torch.linalg.lu_factor(a.detach())
print(q.device, pivots.device, half.device, torch.linalg.lu_solve(packed, pivots, half).device)
named = {name.upper(): words for name, version, words in torch._C._cuda_libraries()}
print(*(words for words in named.values() if words.startswith("switched off by RUSHLIGHT_CU")))
""",
        **{f"RUSHLIGHT_{absent}_LIBRARY": "none"},
    )
    assert said.splitlines() == [
        "cuda:1 [2.0, 3.0] [0.25, 0.1666666716337204] [9.0, 4.0] cuda:1",
        "cuda:1 cuda:1 cuda:1 cuda:1",
        f"switched off by RUSHLIGHT_{absent}_LIBRARY=none",
    ]
