"""Factorisations of complex matrices and what solves with them: values, gradients and theirs as
PyTorch's, of functions that the turns of vectors do not change; what defines them where LAPACK
works in blocks; refusals.
"""

import math

import pytest

import rushlight
from tests.conftest import ask
from tests.emulator import EMULATED
from tests.ops.test_complex import close


def numbers(torch, dtype, *shape, start=0.0, device="cpu"):
    steps = torch.arange(math.prod(shape), dtype=torch.float64) * 1.7 + start
    made = torch.complex(steps.sin(), (steps * 0.6 + 0.3).cos()).reshape(shape)
    return made.to(getattr(torch, dtype)).to(device)


def positive(t, a):
    return a @ a.mH + 2 * t.eye(a.shape[-1], dtype=a.dtype, device=a.device)


def regular(t, a):
    return a + 2 * t.eye(a.shape[-1], dtype=a.dtype, device=a.device)


def turned(v):
    """What the turns of the columns of v do not change."""
    return (v * v.conj()).real


def spectrum(s, u, vh):
    return (u * s.square()) @ vh


# a (3, 3), y (4, 3), b (3, 2)
SQUARE = {
    "det": lambda t, a, y, b: t.det(regular(t, a)),
    "slogdet": lambda t, a, y, b: t.linalg.slogdet(a)[0] * t.linalg.slogdet(a)[1],
    "logabsdet": lambda t, a, y, b: t.linalg.slogdet(a)[1],
    "logdet": lambda t, a, y, b: t.logdet(regular(t, a)),
    "inv": lambda t, a, y, b: t.linalg.inv(regular(t, a)),
    "solve": lambda t, a, y, b: t.linalg.solve(regular(t, a), b),
    "solve from the right": lambda t, a, y, b: t.linalg.solve(regular(t, a), b.mT, left=False),
    "cholesky": lambda t, a, y, b: t.linalg.cholesky(positive(t, a)),
    "cholesky, upper": lambda t, a, y, b: t.linalg.cholesky(positive(t, a), upper=True),
    "cholesky_solve": lambda t, a, y, b: t.cholesky_solve(b, regular(t, a)),
    "cholesky_solve, upper": lambda t, a, y, b: t.cholesky_solve(b, regular(t, a), upper=True),
    "cholesky_inverse": lambda t, a, y, b: t.cholesky_inverse(t.linalg.cholesky(positive(t, a))),
    "lu": lambda t, a, y, b: t.linalg.lu(a)[1] * 2 + t.linalg.lu(a)[2],
    "lu_factor": lambda t, a, y, b: t.linalg.lu_factor(a)[0],
    "lu_solve": lambda t, a, y, b: t.linalg.lu_solve(*t.linalg.lu_factor(a), b),
    "lu_solve, adjoint": lambda t, a, y, b: t.linalg.lu_solve(
        *t.linalg.lu_factor(a), b, adjoint=True
    ),
    "lu_solve from the right": lambda t, a, y, b: t.linalg.lu_solve(
        *t.linalg.lu_factor(a), b.mT, left=False
    ),
    "lu_solve from the right, adjoint": lambda t, a, y, b: t.linalg.lu_solve(
        *t.linalg.lu_factor(a), b.mT, left=False, adjoint=True
    ),
    "solve_triangular": lambda t, a, y, b: t.linalg.solve_triangular(regular(t, a), b, upper=True),
    "solve_triangular from the right": lambda t, a, y, b: t.linalg.solve_triangular(
        regular(t, a), b.mT, upper=False, left=False, unitriangular=True
    ),
    "eigh": lambda t, a, y, b: [turned(v) for v in t.linalg.eigh(a + a.mH)],
    "eigh, upper": lambda t, a, y, b: t.linalg.eigh(a, "U")[0],
    "eigvalsh": lambda t, a, y, b: t.linalg.eigvalsh(a),
    "eig": lambda t, a, y, b: sum_of_eig(t, a),
    "eigvals": lambda t, a, y, b: t.linalg.eigvals(a).square().sum(),
    "matrix_power": lambda t, a, y, b: t.linalg.matrix_power(regular(t, a), -2),
    "cond": lambda t, a, y, b: t.linalg.cond(a),
    "nuclear norm": lambda t, a, y, b: t.linalg.matrix_norm(a, "nuc"),
    "tensorinv": lambda t, a, y, b: t.linalg.tensorinv(regular(t, a)[:, None], ind=1),
    "tensorsolve": lambda t, a, y, b: t.linalg.tensorsolve(regular(t, a), b[:, 0]),
    "pinv, hermitian": lambda t, a, y, b: t.linalg.pinv(a + a.mH, hermitian=True),
    "vander": lambda t, a, y, b: t.linalg.vander(a[0], N=4),
}
WIDE_AND_TALL = {
    "qr": lambda t, a, y, b: [f * 2 for f in t.linalg.qr(y)],
    "qr of a wide one": lambda t, a, y, b: [f * 2 for f in t.linalg.qr(y.mT)],
    "qr, complete": lambda t, a, y, b: [f * 2 for f in t.linalg.qr(y.mT, "complete")],
    "svdvals": lambda t, a, y, b: t.linalg.svdvals(y),
    "svd": lambda t, a, y, b: spectrum_of(t, y),
    "svd of a wide one": lambda t, a, y, b: spectrum_of(t, y.mT),
    "svd, lengths": lambda t, a, y, b: [turned(f) for f in t.linalg.svd(y, False)],
    "pinv": lambda t, a, y, b: t.linalg.pinv(y),
    "pinv of a wide one": lambda t, a, y, b: t.linalg.pinv(y.mT),
    "householder_product": lambda t, a, y, b: t.linalg.householder_product(y / 3, b[:, 0] / 2),
    "fewer reflections": lambda t, a, y, b: t.linalg.householder_product(y / 3, b[:2, 0] / 2),
    "ormqr": lambda t, a, y, b: t.ormqr(a / 3, b[:, 0], b),
    "ormqr, transposed": lambda t, a, y, b: t.ormqr(a / 3, b[:, 0], b, transpose=True),
    "ormqr from the right": lambda t, a, y, b: t.ormqr(a / 3, b[:, 0], b.mT, False, True),
    "lu of a tall one": lambda t, a, y, b: list(t.linalg.lu(y)[1:]),
    "lu of a wide one": lambda t, a, y, b: list(t.linalg.lu(y.mT)[1:]),
    "lstsq": lambda t, a, y, b: t.linalg.lstsq(y, y[:, :2] * 1j + 1).solution,
    "lstsq, gelss": lambda t, a, y, b: t.linalg.lstsq(y, y[:, :2].conj(), driver="gelss").solution,
    "lstsq of a wide one": lambda t, a, y, b: t.linalg.lstsq(y.mT, b).solution,
}
CALLS = SQUARE | WIDE_AND_TALL


def sum_of_eig(t, a):
    values, vectors = t.linalg.eig(a)
    return ((vectors * vectors.conj()).real * values.unsqueeze(-2)).sum(-1)


def spectrum_of(t, y):
    u, s, vh = t.linalg.svd(y, full_matrices=False)
    return spectrum(s, u, vh)


def followed(torch, call, dtype, device="cpu"):
    """The results, the gradients of a real function of them, and theirs."""
    shapes = [(3, 3), (4, 3), (3, 2)]
    inputs = [
        numbers(torch, dtype, *shape, start=i, device=device).requires_grad_()
        for i, shape in enumerate(shapes)
    ]
    out = call(torch, *inputs)
    out = list(out) if isinstance(out, list | tuple) else [out]
    loss = 0
    for part in out:
        pairs = torch.view_as_real(part.resolve_conj()) if part.is_complex() else part
        weight = torch.arange(1, pairs.numel() + 1, dtype=pairs.dtype, device=device)
        loss = loss + ((pairs.reshape(-1) * 0.3).sin() * weight).sum()
    first = torch.autograd.grad(loss, inputs, create_graph=True, allow_unused=True)
    size = sum((g.abs() * g.abs()).sum() for g in first if g is not None)
    second = [None] * 3
    if size.requires_grad:
        second = torch.autograd.grad(size, inputs, allow_unused=True)
    grads = [None if g is None else (str(g.dtype), g.tolist()) for g in (*first, *second)]
    forms = [(str(part.dtype), list(part.shape), part.requires_grad) for part in out]
    return forms, [part.tolist() for part in out], grads


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name, dtype, device):
    ours = followed(rushlight, CALLS[name], dtype, device)
    theirs = ask(lambda torch: followed(torch, CALLS[name], dtype))
    close(ours[:2], theirs[:2], 1e-9 if dtype == "complex128" else 1e-3)
    if dtype == "complex128":  # of complex64 second gradients are mere roundings
        close(ours[2], theirs[2], 1e-6)
    else:
        close(ours[2][:3], theirs[2][:3], 2e-2)


BATCHES = [(0, 3, 3), (2, 0, 0), (0, 2), (3, 0), (2, 3, 5), (2, 1, 4, 2), (1, 1)]


@pytest.mark.parametrize("shape", BATCHES)
def test_forms_of_batches_and_empty_ones(shape, device):
    """Dtypes and shapes; the values are those of real matrices' kernels too."""

    def run(torch, device="cpu"):
        a = numbers(torch, "complex64", *shape, device=device)
        linalg = torch.linalg
        calls = [
            lambda: linalg.qr(a), lambda: linalg.qr(a, "complete"), lambda: linalg.qr(a, "r"),
            lambda: linalg.svd(a), lambda: linalg.svd(a, False), lambda: (linalg.svdvals(a),),
            lambda: linalg.lu(a), lambda: linalg.lu_factor_ex(a), lambda: (linalg.pinv(a),),
            lambda: torch.geqrf(a), lambda: (linalg.matrix_rank(a),), lambda: (linalg.cond(a),),
            lambda: linalg.lstsq(a, a), lambda: linalg.lstsq(a, a, driver="gelsd"),
        ]  # fmt: skip
        if shape[-1] == shape[-2]:
            calls += [
                lambda: (linalg.det(a),), lambda: linalg.slogdet(a), lambda: linalg.eigh(a),
                lambda: linalg.eig(a), lambda: (linalg.eigvals(a),), lambda: (linalg.inv(a),),
                lambda: linalg.cholesky_ex(a), lambda: linalg.ldl_factor_ex(a),
                lambda: (linalg.matrix_exp(a),), lambda: (linalg.solve(a, a),),
            ]  # fmt: skip
        return [[(str(x.dtype), list(x.shape)) for x in call()] for call in calls]

    assert run(rushlight, device) == ask(run)


SIZES = [(9, 9), (40, 33), (33, 70)] if EMULATED else [(9, 9), (40, 33), (33, 70), (300, 270)]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", SIZES)
def test_what_defines_them(shape, dtype, device):
    """Sizes at which LAPACK, and what is built from it, work in blocks; of strided matrices."""
    torch, linalg = rushlight, rushlight.linalg
    a = numbers(torch, dtype, shape[1], shape[0], device=device).sin().mT
    tolerance = (2e-3 if dtype == "complex64" else 1e-9) * max(shape)
    wide = min(shape)

    def same(x, y):
        assert x.dtype is y.dtype and (x - y).abs().max().item() < tolerance

    p, low, up = linalg.lu(a)
    same(p @ low @ up, a)
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(a, mode)
        same(q @ r, a)
        same(q.mH @ q, torch.eye(q.shape[1], dtype=a.dtype, device=device))
    u, s, vh = linalg.svd(a, full_matrices=False)
    same((u * s) @ vh, a)
    same(linalg.svdvals(a), s)
    square = a[:wide, :wide] + 3 * torch.eye(wide, dtype=a.dtype, device=device)
    both = square + square.mH
    values, vectors = linalg.eigh(both)
    same((vectors * values) @ vectors.mH, both)
    values, vectors = linalg.eig(square)
    same(square @ vectors, vectors * values)
    whole = square @ square.mH + torch.eye(wide, dtype=a.dtype, device=device)
    factor = linalg.cholesky(whole)
    same(factor @ factor.mH, whole)
    b = a[:wide, :3]
    same(factor @ linalg.solve_triangular(factor, b, upper=False), b)
    same(whole @ torch.cholesky_solve(b, factor), b)
    packed, pivots = linalg.lu_factor(whole)
    same(whole.mH @ linalg.lu_solve(packed, pivots, b, adjoint=True), b)
    same(linalg.lu_solve(packed, pivots, b.mT, left=False) @ whole, b.mT)


NAN, INF = float("nan"), float("inf")


def not_finite(torch, value, n, dtype, device="cpu"):
    a = torch.eye(n, dtype=getattr(torch, dtype), device=device) + 0.1
    a[n - 1, 0] = value
    wide = torch.cat([a] * 8, 1)
    found = []
    calls = {
        "svdvals": lambda: torch.linalg.svdvals(a).sum(),
        "of a wide one": lambda: torch.linalg.svdvals(wide).sum(),
        "svd": lambda: torch.linalg.svd(a)[1].sum(),
        "eigvalsh": lambda: torch.linalg.eigvalsh(a).sum(),
        "eigh": lambda: torch.linalg.eigh(a)[0].sum(),
        "eig": lambda: torch.linalg.eig(a)[0].real.sum(),
    }
    for name, call in calls.items():
        try:
            found.append([name, str(call().item())])
        except RuntimeError as error:
            found.append([name, type(error).__name__, str(error).split("\n")[0]])
    return found


@pytest.mark.parametrize("value", [NAN, INF])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_what_is_not_finite_is_refused_or_stays(value, n, device):
    """LAPACK might run forever."""
    theirs = ask(lambda torch: not_finite(torch, value, n, "complex128"))
    assert not_finite(rushlight, value, n, "complex128", device) == [list(f) for f in theirs]


@pytest.mark.parametrize("value", [NAN, INF])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_so_of_real_numbers(value, n):
    """With an infinity gesdd did run forever."""
    theirs = ask(lambda torch: not_finite(torch, value, n, "float64"))
    assert not_finite(rushlight, value, n, "float64") == [list(f) for f in theirs]


def test_the_first_pivot_is_the_largest_sum_of_parts(device):
    """As LAPACK compares: by |re| + |im|, in small matrices and large ones."""
    for n in (2, 12):
        a = rushlight.eye(n, dtype=rushlight.complex128, device=device)
        a[0, 0], a[1, 0] = 1.3, 1 + 0.9j
        assert rushlight.linalg.lu_factor(a).pivots[0].item() == 2


ILL_DEFINED = {
    "eigh": lambda t, a: t.linalg.eigh(a)[1].real.sum(),
    "eig": lambda t, a: t.linalg.eig(a)[1].real.sum(),
    "svd, u": lambda t, a: t.linalg.svd(a, False)[0].real.sum(),
    "svd, vh": lambda t, a: t.linalg.svd(a, False)[2].real.sum(),
    "svd, both": lambda t, a: t.linalg.svd(a)[0].real.sum() + t.linalg.svd(a)[2].real.sum(),
    "NaN": lambda t, a: t.linalg.eigh(a)[1].abs().sum() * NAN,
}


@pytest.mark.parametrize("name", ILL_DEFINED)
def test_functions_of_turns_have_no_gradient(name, device):
    def run(torch, device="cpu"):
        a = numbers(torch, "complex128", 3, 3, device=device).requires_grad_()
        try:
            torch.autograd.grad(ILL_DEFINED[name](torch, a), a)
        except RuntimeError as error:
            return str(error).split("\n")[0]

    assert run(rushlight, device) == ask(run)


REFUSED = {
    "vector": lambda t, z: t.linalg.qr(z[0]),
    "not square": lambda t, z: t.linalg.det(z[:2]),
    "two dtypes": lambda t, z: t.linalg.solve(z, z.real),
    "two widths": lambda t, z: t.linalg.solve(z, z.to(t.complex64)),
    "shapes": lambda t, z: t.linalg.solve(z, z[:2]),
    "singular": lambda t, z: t.linalg.inv(z * 0),
    "not positive": lambda t, z: t.linalg.cholesky(-z @ z.mH),
    "half": lambda t, z: t.linalg.eigh(z.to(t.complex32)),
    "out": lambda t, z: t.linalg.svdvals(z, out=z),
    "outs": lambda t, z: t.linalg.eigh(z, out=(z[0], z)),
    "triangles": lambda t, z: t.linalg.eigh(z, "X"),
    "lstsq": lambda t, z: t.linalg.lstsq(z, z.real),
    "tau": lambda t, z: t.linalg.householder_product(z, z[0].real),
    "pivots": lambda t, z: t.linalg.lu_solve(z, t.ones(3), z),
    "geqrf": lambda t, z: t.geqrf(z.requires_grad_())[0].abs().sum().backward(),
}


@pytest.mark.filterwarnings("ignore:ComplexHalf support", "ignore:An output with one or more")
@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_torchs_type(name):
    def run(torch):
        try:
            REFUSED[name](torch, numbers(torch, "complex128", 3, 3))
        except Exception as error:
            return type(error).__name__

    assert run(rushlight) == ask(run) is not None


def test_out_of_two_dtypes(device):
    a = numbers(rushlight, "complex64", 3, 3, device=device)
    values = rushlight.empty(0, device=device)
    vectors = rushlight.empty(0, dtype=a.dtype, device=device)
    rushlight.linalg.eigh(a + a.mH, out=(values, vectors))
    assert (values - rushlight.linalg.eigvalsh(a + a.mH)).abs().max().item() < 1e-5
    assert rushlight.linalg.svdvals(a, out=values) is values


def test_under_vmap(device):
    """Each is computed of its own matrix; an adjoint there once lacked the conjugation."""
    a = numbers(rushlight, "complex128", 4, 3, 3, device=device)
    calls = [
        lambda m: m + m.mH,
        lambda m: m @ m.adjoint(),
        rushlight.linalg.det,
        lambda m: rushlight.linalg.eigvalsh(m + m.mH),
        lambda m: rushlight.linalg.lu_factor(m)[0],
        lambda m: rushlight.linalg.ldl_factor(m + m.mH, hermitian=True)[0],
        lambda m: rushlight.linalg.solve(m, m.mT),
    ]
    for call in calls:
        whole, each = call(a), rushlight.vmap(call)(a)
        assert whole.dtype is each.dtype and (whole - each).abs().max().item() < 1e-12
