"""torch.linalg.ldl_factor, ldl_factor_ex and ldl_solve: as PyTorch's, and by what defines them."""

import math

import pytest

import rushlight
from tests.conftest import ask
from tests.ops.test_complex import close
from tests.ops.test_complex_factors import numbers

DTYPES = ["float32", "float64", "complex64", "complex128"]


def matrices(torch, dtype, shape, hermitian, device="cpu"):
    """Symmetric or Hermitian; with a small first diagonal, so that D has blocks of two rows."""
    steps = torch.arange(math.prod(shape), dtype=torch.float64).square()
    z = (steps * 0.37 + 0.2).sin()
    if "complex" in dtype:
        z = torch.complex(z, (steps * 0.23 + 0.1).sin())
    z = z.reshape(shape).to(getattr(torch, dtype)).to(device)
    a = z + (z.mH if hermitian else z.mT)
    a[..., :1, :1] *= 1e-2
    return a


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("shape", [(4, 4), (2, 1, 5, 5), (1, 1), (0, 3, 3), (2, 0, 0)])
def test_as_torchs(shape, hermitian, dtype, device):
    def run(torch, device="cpu"):
        a = matrices(torch, dtype, shape, hermitian, device)
        packed, pivots, info = torch.linalg.ldl_factor_ex(a, hermitian=hermitian)
        b = numbers(torch, "complex128", *shape[:-1], 2, device=device)
        b = (b if a.is_complex() else b.real).to(a.dtype)
        x = torch.linalg.ldl_solve(packed, pivots, b, hermitian=hermitian)
        made = [packed, pivots, info, x, *torch.linalg.ldl_factor(a, hermitian=hermitian)]
        return [(str(m.dtype), list(m.shape), list(m.stride()), m.tolist()) for m in made]

    tolerance = 1e-9 if dtype in ("float64", "complex128") else 2e-4
    close(run(rushlight, device), ask(run), tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hermitian", [False, True])
def test_solves_with_blocks(hermitian, dtype, device):
    """Larger than LAPACK's block, the right sides broadcast over a batch."""
    a = matrices(rushlight, dtype, (2, 70, 70), hermitian, device)
    b = numbers(rushlight, "complex128", 3, 1, 70, 4, device=device)
    b = (b if a.is_complex() else b.real).to(a.dtype)
    packed, pivots = rushlight.linalg.ldl_factor(a, hermitian=hermitian)
    assert packed.stride()[-2:] == (1, 70) and (pivots < 0).any()
    x = rushlight.linalg.ldl_solve(packed, pivots, b, hermitian=hermitian)
    assert x.shape == (3, 2, 70, 4)
    tolerance = 1e-8 if dtype in ("float64", "complex128") else 0.5
    assert (a @ x - b).abs().max().item() < tolerance


REFUSED = {
    "a vector": lambda t, a, f: t.linalg.ldl_factor(a[0]),
    "not square": lambda t, a, f: t.linalg.ldl_factor_ex(a[:2]),
    "integers": lambda t, a, f: t.linalg.ldl_factor(a.int()),
    "half": lambda t, a, f: t.linalg.ldl_factor(a.half()),
    "a derivative": lambda t, a, f: t.linalg.ldl_factor(a.requires_grad_()).LD.sum().backward(),
    "one of x": lambda t, a, f: t.linalg.ldl_solve(*f, a.requires_grad_()).sum().backward(),
    "a vector b": lambda t, a, f: t.linalg.ldl_solve(*f, a[0]),
    "sizes of b": lambda t, a, f: t.linalg.ldl_solve(*f, a[:2]),
    "a dtype of b": lambda t, a, f: t.linalg.ldl_solve(*f, a.double()),
    "a batch of b": lambda t, a, f: t.linalg.ldl_solve(
        f.LD.expand(2, 3, 3), f.pivots.expand(2, 3), a.expand(5, 3, 3)
    ),
    "too few pivots": lambda t, a, f: t.linalg.ldl_solve(f.LD, f.pivots[:2], a),
    "pivots that are no integers": lambda t, a, f: t.linalg.ldl_solve(f.LD, f.pivots.float(), a),
    "a pivot 0": lambda t, a, f: t.linalg.ldl_solve(f.LD, f.pivots * 0, a),
    "a large pivot": lambda t, a, f: t.linalg.ldl_solve(f.LD, f.pivots + 3, a),
    "out": lambda t, a, f: t.linalg.ldl_solve(*f, a, out=t.empty(0).double()),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_torchs_words(name):
    def run(torch):
        a = matrices(torch, "float32", (3, 3), False)
        try:
            REFUSED[name](torch, a, torch.linalg.ldl_factor(a))
        except Exception as error:
            return type(error).__name__, str(error).split("\n")[0].split(":")[-1].rstrip(". ")

    ours, theirs = run(rushlight), ask(run)
    assert ours[0] == theirs[0]
    if name not in ("out", "a batch of b"):  # which others check, in words of their own
        assert ours[1].startswith(theirs[1].rsplit(" instead", 1)[0])


@pytest.mark.parametrize(
    "pivots", [[-1, 2, 3], [1, 2, -3], [-1, -1, -1], [-2, 5, 1], [-1, -4, 1], [2**33 + 1, 2, 3]]
)
def test_pivots_that_torch_would_read_beyond_its_memory_with(pivots, device):
    """A pivot below 0 without its neighbour made torch write past the end of B."""
    a = matrices(rushlight, "float64", (3, 3), False, device)
    packed, _ = rushlight.linalg.ldl_factor(a)
    with pytest.raises(RuntimeError, match="Pivots given to ldl_solve"):
        rushlight.linalg.ldl_solve(packed, rushlight.tensor(pivots, device=device), a)


def test_a_zero_in_d(device):
    """Torch ends in an assertion of its own; the error is a RuntimeError in both."""
    none = rushlight.zeros(2, 3, 3, device=device)
    assert rushlight.linalg.ldl_factor_ex(none).info.tolist() == [1, 1]
    for call in (
        lambda: rushlight.linalg.ldl_factor(none),
        lambda: rushlight.linalg.ldl_factor_ex(none, check_errors=True),
    ):
        with pytest.raises(rushlight.linalg.LinAlgError, match="Batch element 0"):
            call()
    nan = rushlight.full((3, 3), float("nan"), device=device)
    factors = rushlight.linalg.ldl_factor_ex(nan)
    assert factors.LD.tril().isnan().any() and (factors.pivots.abs() <= 3).all()
