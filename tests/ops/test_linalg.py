"""Factorisations and what solves with them: identities that hold without torch, gradients by
finite differences, refusals. tests/oracle holds the comparison with torch."""

import pytest

import rushlight as torch
from rushlight.autograd import gradcheck
from tests.conftest import ask

linalg = torch.linalg


pytestmark = pytest.mark.usefixtures("on_device")


def matrices(*shape, seed=0):
    torch.manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64)


def positive(*shape, seed=0):
    a = matrices(*shape, seed=seed)
    return a @ a.mT + shape[-1] * torch.eye(shape[-1], dtype=a.dtype)


def close(a, b, tolerance=1e-9):
    assert a.shape == b.shape
    return not a.numel() or (a - b).abs().max().item() < tolerance


SQUARE = [(3, 3), (2, 4, 4), (0, 3, 3), (2, 0, 0), (1, 1)]
SHAPES = [*SQUARE, (4, 2), (2, 3, 5), (0, 2), (3, 0)]


@pytest.mark.parametrize("shape", SQUARE)
def test_square_factors_multiply_back(shape):
    a, p = matrices(*shape), positive(*shape)
    factor = linalg.cholesky(p)
    assert close(factor @ factor.mT, p)
    assert close(linalg.cholesky(p, upper=True), factor.mT)
    values, vectors = linalg.eigh(p)
    assert close(vectors * values.unsqueeze(-2) @ vectors.mT, p)
    assert close(linalg.eigvalsh(p, UPLO="U"), values)
    one = torch.eye(shape[-1], dtype=a.dtype).expand(shape)
    assert close(linalg.inv(a) @ a, one, 1e-8)
    b = matrices(*shape[:-1], 2, seed=1)
    assert close(a @ linalg.solve(a, b), b, 1e-8)
    assert close(linalg.solve(a, b.mT, left=False) @ a, b.mT, 1e-8)
    packed, pivots = linalg.lu_factor(a)
    for left in (True, False):
        for adjoint in (True, False):
            right = b if left else b.mT
            x = linalg.lu_solve(packed, pivots, right, left=left, adjoint=adjoint)
            m = a.mT if adjoint else a
            assert close(m @ x if left else x @ m, right, 1e-8)
    sign, logabs = linalg.slogdet(a)
    assert close(sign * logabs.exp(), linalg.det(a))


@pytest.mark.parametrize("shape", SHAPES)
def test_factors_multiply_back(shape):
    a = matrices(*shape)
    p, low, up = linalg.lu(a)
    assert close(p @ low @ up, a)
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(a, mode)
        assert close(q @ r, a) and close(
            q.mT @ q, torch.eye(q.shape[-1]).double().expand_as(q.mT @ q)
        )
    for full in (True, False):
        u, s, vh = linalg.svd(a, full_matrices=full)
        k = s.shape[-1]
        assert close(u[..., :k] * s.unsqueeze(-2) @ vh[..., :k, :], a)
    assert close(linalg.svdvals(a), s)
    assert close(a @ linalg.pinv(a) @ a, a)
    if a.numel():
        assert linalg.matrix_rank(a).flatten()[0] == min(a.shape[-2:])


@pytest.mark.parametrize("columns", [3, 19, 70])
@pytest.mark.parametrize("n", [31, 32, 33, 70, 130])
def test_systems_of_more_than_one_tile(n, columns):
    a, b = positive(2, n, n), matrices(2, n, columns, seed=1)
    for upper in (False, True):
        for unit in (False, True):
            one = torch.eye(n, dtype=a.dtype)
            whole = (a / n).triu() if upper else (a / n).tril()
            whole = whole - whole * one + one if unit else whole
            x = linalg.solve_triangular(a / n, b, upper=upper, unitriangular=unit)
            assert close(whole @ x, b, 1e-8)
            x = linalg.solve_triangular(a.mT / n, b, upper=not upper, unitriangular=unit)
            assert close(whole.mT @ x, b, 1e-8)
    x = linalg.solve_triangular(a.float(), b.float(), upper=True)
    assert close(a.float().triu() @ x, b.float(), 1e-4)
    m = matrices(2, n, n, seed=2)
    packed, pivots = linalg.lu_factor(m)
    for adjoint in (False, True):
        x = linalg.lu_solve(packed, pivots, b, adjoint=adjoint)
        assert close((m.mT if adjoint else m) @ x, b, 1e-6)
    p, low, up = torch.lu_unpack(packed, pivots)
    assert close(p @ low @ up, m, 1e-8)


@pytest.mark.parametrize(
    "shape", [(40, 40), (3, 100, 100), (2, 40, 3), (2, 3, 40), (70, 130), (130, 70), (300, 2),
              (290, 210)]
)  # fmt: skip
def test_factors_of_more_than_one_tile(shape):
    a = matrices(*shape)
    p, low, up = linalg.lu(a)
    assert close(p @ low @ up, a) and low.abs().max() <= 1
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(a, mode)
        assert close(q @ r, a) and r.tril(-1).abs().max() == 0
        assert close(q.mT @ q, torch.eye(q.shape[-1]).double().expand_as(q.mT @ q))
    if shape[-1] == shape[-2]:
        b = positive(*shape)
        for factor in (linalg.cholesky(b), linalg.cholesky(b, upper=True).mT):
            assert close(factor @ factor.mT, b, 1e-8) and factor.triu(1).abs().max() == 0


@pytest.mark.parametrize(("m", "n", "k"), [(5, 3, 2), (40, 40, 40), (70, 50, 33), (40, 36, 3)])
def test_products_of_reflections(m, n, k):
    a, tau = matrices(2, m, n) / 10, matrices(2, k, seed=1) / 10
    product = torch.eye(m).double().expand(2, m, m)
    for i in range(k):
        v = torch.zeros(2, m, 1).double()
        v[:, i], v[:, i + 1 :, 0] = 1.0, a[:, i + 1 :, i]
        product = product - tau[:, i, None, None] * (product @ v) @ v.mT
    assert close(linalg.householder_product(a, tau), product[..., :n])


def test_where_a_large_matrix_is_wrong():
    a = positive(3, 100, 100)
    a[1, 70, 70] = -1.0
    a[2, 20, 20] = a[2, 90, 90] = -1.0
    assert linalg.cholesky_ex(a).info.tolist() == [0, 71, 21]
    a = matrices(2, 100, 100)
    a[1, :, 40] = a[1, :, 80] = 0.0
    packed, pivots, info = linalg.lu_factor_ex(a)
    assert info.tolist() == [0, 41]
    p, low, up = torch.lu_unpack(packed, pivots)
    assert close(p @ low @ up, a)


def test_exchanges_of_very_many_rows():
    n = 13000  # more than a GPU's block keeps beside it
    pivots = torch.arange(2, n + 2, dtype=torch.int32)
    pivots[-1] = n
    order = torch._C._linalg_permutation(pivots, n)  # the first row goes to the end
    assert order[0] == n - 1 and order[1:].equal(torch.arange(n - 1))


def test_layouts_do_not_matter():
    a = positive(3, 3)
    for same in (a.t().contiguous().t(), a.expand(2, 3, 3)[1], torch.stack([a, a], 2)[..., 0]):
        assert close(linalg.cholesky(same), linalg.cholesky(a))
        assert close(linalg.inv(same), linalg.inv(a))


@pytest.mark.parametrize("n", [7, 9, 31, 32, 33, 65, 97, 130])
def test_inverse_by_blocks(n):
    """Sizes around those at which the factors are halved; rows that are exchanged."""
    a = matrices(2, n, n, seed=n)
    both = torch.stack([a, a.flip(-1)], 1)
    inverse, identity = linalg.inv(both), torch.eye(n, dtype=a.dtype)
    assert close(inverse @ both, identity.expand_as(both), 1e-9)
    assert close(both @ inverse, identity.expand_as(both), 1e-9)


def test_known_values():
    a = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
    assert linalg.det(a).item() == pytest.approx(3)
    assert linalg.eigvalsh(a).tolist() == pytest.approx([1, 3])
    assert linalg.cond(a).item() == pytest.approx(3)
    assert linalg.matrix_norm(a, "nuc").item() == pytest.approx(4)
    assert linalg.matrix_norm(a, 2).item() == pytest.approx(3)
    assert linalg.matrix_power(a, -1)[0, 0].item() == pytest.approx(2 / 3)
    rotation = linalg.matrix_exp(torch.tensor([[0.0, -1.0], [1.0, 0.0]]))
    assert rotation[1, 0].item() == pytest.approx(0.8414709848)
    assert linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 1), torch.ones(1, 4)]).sum() == 24
    assert linalg.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0])).tolist() == [0, 0, 1]
    x = torch.linalg.lstsq(torch.tensor([[1.0], [1.0]]), torch.tensor([[1.0], [3.0]])).solution
    assert x.item() == pytest.approx(2)


LEAST_SQUARES = [(4, 4, 1), (7, 3, 2), (3, 7, 2), (1, 1, 1), (1, 5, 3), (5, 1, 3), (41, 17, 5)]


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd"])
@pytest.mark.parametrize("shape", LEAST_SQUARES)
def test_least_squares(shape, driver):
    m, n, k = shape
    a, b = matrices(2, m, n), matrices(2, m, k, seed=1)
    if driver != "gels":
        a[1, :, -1] = a[1, :, 0]  # not of full rank
    result = linalg.lstsq(a, b, driver=driver)
    assert close(result.solution, linalg.pinv(a) @ b)
    assert close(linalg.lstsq(a[:1], b, driver=driver).solution, linalg.pinv(a[:1]) @ b)
    assert close(
        linalg.lstsq(a[0], b[0, :, 0], driver=driver).solution, linalg.pinv(a[0]) @ b[0, :, 0]
    )
    assert close(
        linalg.lstsq(a.mT.contiguous().mT, b.mT.contiguous().mT).solution, linalg.pinv(a) @ b
    )
    ranks = [] if driver == "gels" else linalg.matrix_rank(a).tolist()
    assert result.rank.tolist() == ranks and result.rank.dtype is torch.int64
    assert close(linalg.lstsq(a.float(), b.float()).solution.double(), linalg.pinv(a) @ b, 1e-3)


def test_least_squares_take_small_parts_as_nothing():
    a = torch.diag(torch.tensor([1.0, 0.5, 1e-3]))
    b = torch.ones(3, 1)
    for rcond, rank in ((None, 3), (1e-2, 2), (0.7, 1)):
        result = linalg.lstsq(a, b, rcond=rcond)
        assert result.rank.item() == rank
        assert close(
            result.solution[:, 0], torch.tensor([1.0, 2.0 * (rank > 1), 1e3 * (rank > 2)]), 1e-2
        )
    for empty in ((0, 3, 2), (3, 0, 2), (3, 2, 0)):
        m, n, k = empty
        assert linalg.lstsq(torch.ones(m, n), torch.ones(m, k)).solution.shape == (n, k)


TOLERANCES = [{}, {"rtol": 0.3}, {"atol": 0.3}, {"tol": 0.3}, {"rtol": -1.0}]


@pytest.mark.parametrize("tolerances", [*TOLERANCES, {"atol": 0.1, "rtol": 0.3}])
def test_ranks(tolerances):
    a = torch.diag_embed(torch.tensor([[2.0, 0.5, 0.0], [0.2, 0.1, 0.05], [0.0, 0.0, 0.0]]))
    values = linalg.svdvals(a)
    atol = tolerances.get("atol", tolerances.get("tol", 0.0))
    rtol = tolerances.get("rtol", 0.0 if atol else 3 * torch.finfo(torch.float32).eps)
    limit = (values.amax(-1, True) * rtol).clamp(min=atol)
    assert linalg.matrix_rank(a, **tolerances).equal((values > limit).sum(-1))
    assert linalg.matrix_rank(a, hermitian=True, **tolerances).equal((values > limit).sum(-1))


GRADIENTS = {
    "cholesky": (lambda a: linalg.cholesky(a @ a.mT + 4 * torch.eye(3).double()), (3, 3)),
    "solve": (lambda a: linalg.solve(a + 3 * torch.eye(3).double(), a[..., :2]), (2, 3, 3)),
    "inv": (lambda a: linalg.inv(a + 3 * torch.eye(3).double()), (3, 3)),
    "det": (linalg.det, (2, 3, 3)),
    "slogdet": (lambda a: linalg.slogdet(a)[1], (3, 3)),
    "triangular": (
        lambda a: linalg.solve_triangular(a + 3 * torch.eye(3).double(), a, upper=True), (3, 3)),
    "qr tall": (lambda a: tuple(linalg.qr(a)), (4, 3)),
    "qr wide": (lambda a: tuple(linalg.qr(a)), (2, 4)),
    "eigh": (lambda a: linalg.eigh(a + a.mT)[0], (3, 3)),
    "eigenvectors": (lambda a: linalg.eigh(a + a.mT)[1] ** 2, (3, 3)),
    "svd": (lambda a: linalg.svdvals(a), (4, 3)),
    "singular vectors": (
        lambda a: tuple(x ** 2 for x in linalg.svd(a, full_matrices=False)), (2, 3)),
    "pinv": (linalg.pinv, (4, 3)),
    "lstsq": (lambda a: linalg.lstsq(a[..., :2], a[..., 2:]).solution, (4, 3)),
    "lstsq wide": (lambda a: linalg.lstsq(a[..., :3], a[..., 3:]).solution, (2, 2, 5)),
    "lstsq batch": (lambda a: linalg.lstsq(a[0, :, :2], a[..., 2:]).solution, (2, 4, 3)),
    "lu": (lambda a: tuple(linalg.lu(a)[1:]), (3, 3)),
    "lu wide": (lambda a: tuple(linalg.lu(a)[1:]), (2, 2, 4)),
    "lu tall": (lambda a: tuple(linalg.lu(a)[1:]), (4, 2)),
    "matrix_exp": (linalg.matrix_exp, (3, 3)),
    "cdist": (lambda a: torch.cdist(a, a + 1), (3, 2)),
    "renorm": (lambda a: torch.renorm(a, 2, 0, 1.0), (3, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    f, shape = GRADIENTS[name]
    assert gradcheck(f, (matrices(*shape, seed=3).requires_grad_(),))


def test_gradient_of_a_singular_determinant():
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    linalg.det(a).backward()
    expected = torch.tensor([[4.0, -2.0], [-2.0, 1.0]])  # the adjugate, transposed
    assert close(a.grad, expected, 1e-5)


def test_what_is_refused():
    singular, x = torch.zeros(2, 2), torch.ones(2, 3)
    table = [
        (linalg.LinAlgError, lambda: linalg.inv(singular), "diagonal element 1 is zero"),
        (linalg.LinAlgError, lambda: linalg.cholesky(-torch.eye(2)), "order 1 is not positive"),
        (linalg.LinAlgError, lambda: linalg.solve(torch.zeros(2, 2, 2), torch.ones(2, 2)),
         "(Batch element 0)"),
        (RuntimeError, lambda: linalg.inv(x), "batches of square matrices"),
        (RuntimeError, lambda: linalg.det(torch.ones(3)), "at least 2 dimensions"),
        (RuntimeError, lambda: linalg.qr(torch.ones(2, 2, dtype=torch.int64)), "Got Long"),
        (RuntimeError, lambda: linalg.svd(torch.ones(2, 2).half()), "Low precision dtypes"),
        (RuntimeError, lambda: linalg.solve(torch.eye(2), torch.ones(3, 1)), "Incompatible"),
        # A GPU says it when it is waited for.
        (RuntimeError, lambda: linalg.lu_solve(torch.eye(2), torch.tensor([7, 1]).int(), x).cpu(),
         "must all be greater or equal to 1"),
        (RuntimeError, lambda: torch.lu_unpack(torch.eye(2), torch.tensor([0, 9]).int())[0].cpu(),
         "pivots"),
        (RuntimeError, lambda: linalg.qr(x, "full"), "unrecognized mode"),
        (TypeError, lambda: linalg.inv([[1.0]]), "must be Tensor, not list"),
    ]  # fmt: skip
    for kind, call, words in table:
        with pytest.raises(kind) as caught:
            call()
        assert words in str(caught.value)


def test_nan_ends_with_an_error_or_nan():
    bad = torch.full((3, 3), float("nan"))
    for call in (linalg.eigh, linalg.svd, linalg.cholesky, linalg.qr, linalg.inv, linalg.lu):
        try:
            call(bad)
        except linalg.LinAlgError as error:
            assert str(error)


def test_drivers_of_singular_values():
    a = matrices(3, 2)
    with pytest.raises(RuntimeError, match="driver"):
        linalg.svd(a, driver="gesvd" if a.device.type == "cpu" else "gesdd")
    if a.is_cuda:
        assert close(linalg.svdvals(a, driver="gesvdj"), linalg.svd(a, driver="gesvd").S)


def test_results_have_names_and_out():
    result = linalg.eigh(torch.eye(2))
    assert repr(result).startswith("torch.return_types.linalg_eigh(\neigenvalues=tensor([1., 1.]")
    values, vectors = torch.empty(0), torch.empty(0)
    written = linalg.eigh(torch.eye(2), out=(values, vectors))
    assert written.eigenvalues is values and values.tolist() == [1, 1]
    target = torch.empty(2, 2)
    assert linalg.inv(2 * torch.eye(2), out=target) is target and target[0, 0] == 0.5


@pytest.mark.parametrize(("m", "n", "k"), [(5, 3, 2), (4, 4, 4), (6, 3, 3)])
def test_gradients_of_products_of_reflections(m, n, k):
    a, tau = matrices(2, m, n).requires_grad_(), matrices(2, k, seed=1).requires_grad_()
    with torch.no_grad():
        tau[0, 0] = 0.0  # no division by it
    assert gradcheck(linalg.householder_product, (a, tau))
    assert torch.autograd.gradgradcheck(linalg.householder_product, (a, tau))
    none = torch.zeros(2, 0, dtype=torch.float64, requires_grad=True)
    linalg.householder_product(a, none).sum().backward()
    assert a.grad is None and none.grad is None


def test_exponentials_of_a_batch_are_halved_each_for_itself():
    scales = torch.tensor([0.01, 3.0, 700.0], dtype=torch.float64)
    a = torch.diag_embed(scales.unsqueeze(-1) * torch.tensor([1.0, -1.0])).requires_grad_()
    result = linalg.matrix_exp(a)
    expected = torch.diag_embed(a.detach().diagonal(0, -2, -1).exp())
    assert torch.allclose(result, expected, rtol=1e-12) and result.is_contiguous()
    result[0].sum().backward()
    assert a.grad[0].isfinite().all() and not a.grad[1:].any()
    wrong = torch.stack([torch.eye(2), torch.full((2, 2), float("inf")), torch.zeros(2, 2)])
    assert linalg.matrix_exp(wrong)[2].equal(torch.eye(2))


def test_chains_and_powers():
    shapes = [(5,), (5, 2), (2, 9), (9, 3), (3,)]
    parts = [matrices(*shape, seed=i) for i, shape in enumerate(shapes)]
    expected = parts[0] @ parts[1] @ parts[2] @ parts[3] @ parts[4]
    assert torch.allclose(linalg.multi_dot(parts), expected)
    a = matrices(2, 3, 3).requires_grad_()
    assert linalg.matrix_power(a, 1) is not a
    assert torch.allclose(linalg.matrix_power(a, -3), linalg.inv(a @ a @ a))
    linalg.matrix_power(a, 0).sum().backward()
    assert not a.grad.any()


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_second_gradients_of_eigenvalues_are_symmetric(uplo):
    """As torch has them, along any direction and from either triangle."""
    a = positive(4, 4).requires_grad_()
    (g,) = torch.autograd.grad(linalg.eigvalsh(a, UPLO=uplo).pow(2).sum(), a, create_graph=True)
    direction = matrices(4, 4, seed=2)
    (second,) = torch.autograd.grad(g, a, direction)
    assert close(second, second.mT)
    assert close(second, direction + direction.mT)  # the squares' sum is that of the elements'


@pytest.mark.parametrize("ord", [None, 1, 2])
def test_second_gradients_of_a_norm_at_zero(ord):
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    seed = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(
        x.norm() if ord is None else linalg.norm(x, ord), x, seed, create_graph=True
    )
    assert g.tolist() == [0, 0, 0]
    (second,) = torch.autograd.grad(g.sum(), seed)
    assert second.item() == 0


def test_determinants_of_singular_matrices():
    """The gradient is the matrix of cofactors, found without a look at the values."""
    a = torch.tensor([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(linalg.det(a), a)
    cofactors = [[-3.0, 6, -3], [6, -12, 6], [-3, 6, -3]]
    assert close(g, torch.tensor(cofactors, dtype=torch.float64))
    zero = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.grad(linalg.det(zero), zero)[0].abs().max() < 1e-12
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64, requires_grad=True)
    assert close(
        torch.autograd.grad(linalg.det(a), a)[0], torch.tensor([[4.0, -2], [-2, 1]]).double()
    )


def test_exchanges_give_the_sign():
    a = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -3.0]], requires_grad=True)
    assert linalg.det(a).item() == 6
    sign, logabs = linalg.slogdet(a)
    assert (sign.item(), round(logabs.exp().item(), 5)) == (1, 6)
    assert (sign.requires_grad, linalg.det(a).grad_fn.name()) == (True, "LinalgDetBackward0")
    assert linalg.det(torch.ones(2, 0, 0)).tolist() == [1, 1]


def test_gradients_of_inverses_and_solutions():
    """The first from the factors or the inverse alone, the second by solving again."""
    a = torch.eye(3, dtype=torch.float64) * 3 + torch.randn(2, 3, 3, dtype=torch.float64)
    a.requires_grad_()
    b = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    for call, operands, node, kept in (
        (linalg.inv, (a,), "LinalgInvExBackward0", ["inverse"]),
        (linalg.solve, (a, b), "LinalgSolveExBackward0", ["A", "LU", "pivots", "result"]),
    ):
        assert torch.autograd.gradcheck(call, operands)
        assert torch.autograd.gradgradcheck(call, operands)
        made = call(*(x.cpu() for x in operands)).grad_fn  # a GPU may leave it to the host
        assert made.name() == node
        assert [n[7:] for n in dir(made) if n.startswith("_saved_")] == kept


@pytest.mark.parametrize("rows", range(1, 11))
def test_small_matrices_of_every_size(rows):
    """Up to eight rows and columns have loops of their own."""
    for columns in range(1, 11):
        a, b = matrices(3, rows, columns), matrices(3, rows, columns, seed=1)
        lu, pivots, info = linalg.lu_factor_ex(a)
        p, lower, upper = torch.lu_unpack(lu, pivots)
        assert close(p @ lower @ upper, a, 1e-12) and not info.any()
        assert lower.abs().max() <= 1
        square = positive(3, rows, rows) + matrices(3, rows, rows)[..., :1]
        assert close(square @ linalg.solve(square, b), b, 1e-9)
        assert close(square.mT @ linalg.lu_solve(*linalg.lu_factor(square.mT), b), b, 1e-9)
        assert close(square @ linalg.inv(square), torch.eye(rows).expand(3, -1, -1), 1e-9)
        for is_upper in (False, True):
            triangle = square.triu() if is_upper else square.tril()
            x = linalg.solve_triangular(triangle, b, upper=is_upper)
            assert close(triangle @ x, b, 1e-9)


def test_small_singular_matrices():
    a = torch.tensor([[0.0, 2, 1], [0, 4, 2], [0, 1, 3]])
    assert linalg.lu_factor_ex(a).info == 1 and linalg.det(a) == 0
    a = torch.tensor([[1.0, 2, 1], [2, 4, 2], [1, 1, 3]])
    _lu, pivots, info = linalg.lu_factor_ex(a)
    assert info == 3 and pivots.tolist() == [2, 3, 3] and linalg.det(a) == 0
    with pytest.raises(linalg.LinAlgError, match="singular"):
        linalg.inv(a)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("sizes", [(5, 3), (3, 5), (2, 4, 4)])
def test_low_rank_product_is_the_matrix(dtype, sizes, device):
    """A = U diag(S) V^H, of as many singular values as there are."""
    torch.manual_seed(0)
    a = torch.randn(*sizes, dtype=getattr(torch, dtype), device=device)
    u, s, v = torch.svd_lowrank(a, q=min(sizes[-2:]))
    assert torch.allclose(u * s.unsqueeze(-2).to(u.dtype) @ v.mH, a)
    assert torch.allclose(s, linalg.svdvals(a))


@pytest.mark.parametrize("largest", [True, False])
def test_extreme_eigenvalues(largest):
    def found(t):
        t.manual_seed(0)
        x = t.linspace(-1, 1, 72, dtype=t.float64).mul(40).sin().reshape(8, 9)
        A = (x.mT @ x + t.diag(t.arange(9.0, dtype=t.float64))).requires_grad_()
        B = t.eye(9, dtype=t.float64) + x.mT @ x / 9
        values, vectors = t.lobpcg(A, k=2, largest=largest, tol=1e-12)
        (grad,) = t.autograd.grad(values.sum() + vectors.abs().sum(), A)
        general, ahead = t.lobpcg(A.detach(), k=2, B=B, largest=largest, tol=1e-12)
        batch = t.lobpcg(t.stack([A.detach(), B]), k=1, largest=largest, tol=1e-12)[0]
        made = [values, vectors.abs(), (grad + grad.mT) / 2, general, ahead.abs(), batch]
        return [x.flatten().tolist() for x in made]

    for ours, theirs in zip(found(torch), ask(found), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-6)
    with pytest.raises(ValueError, match="smaller than 3 x the number of requested"):
        torch.lobpcg(torch.eye(5), k=2)
    assert torch.lobpcg(torch.eye(9).to_sparse(), k=1)[0].tolist() == [1.0]
