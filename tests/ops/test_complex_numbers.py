"""Complex numbers of Python as operands, elements and fillings, and tensors made of them."""

import math

import numpy
import pytest

import rushlight
from tests.conftest import ask
from tests.ops.test_complex import close

pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support")
DTYPES = "bool uint8 int64 bfloat16 float32 float64 complex64 complex128".split()
WITH_ONE = {
    "x + n": lambda t, x: x + 2j,
    "n + x": lambda t, x: 2j + x,
    "x - n": lambda t, x: x - (1 + 2j),
    "n - x": lambda t, x: (1 + 2j) - x,
    "x * n": lambda t, x: x * -1.5j,
    "n * x": lambda t, x: 1j * x,
    "x / n": lambda t, x: x / (3 - 1j),
    "n / x": lambda t, x: (3 - 1j) / x,
    "x ** n": lambda t, x: x ** (1 + 1j),
    "n ** x": lambda t, x: (1 + 1j) ** x,
    "x == n": lambda t, x: x == 1 + 0j,
    "x != n": lambda t, x: x != 2j,
    "add": lambda t, x: t.add(x, 2j, alpha=3),
    "add, other": lambda t, x: t.add(x, other=2j),
    "sub": lambda t, x: x.sub(2j),
    "rsub": lambda t, x: t.rsub(x, 2j),
    "mul": lambda t, x: t.mul(2j, x),
    "div": lambda t, x: t.div(2j, x),
    "true_divide": lambda t, x: x.true_divide(2j),
    "pow": lambda t, x: t.pow(x, 2j),
    "a base": lambda t, x: t.pow(2j, x),
    "where": lambda t, x: t.where(x != 1, x, 2j),
    "where of two numbers": lambda t, x: t.where(x != 1, 2j, 1.0),
    "float_power": lambda t, x: t.float_power(x, 2j),
}


def of_number(torch, name, dtype, device="cpu"):
    """Value, dtype and gradients; a bool tensor is no operand of a difference."""
    x = torch.tensor([1, 2, 4]).to(getattr(torch, dtype)).to(device)
    grads = x.dtype.is_floating_point or x.dtype.is_complex
    x.requires_grad_(grads)
    try:
        out = WITH_ONE[name](torch, x)
    except Exception as error:
        return type(error).__name__
    found = [str(out.dtype), out.tolist()]
    if grads and out.requires_grad:
        (out.abs() * torch.tensor([1.0, 2.0, 3.0], device=device)).sum().backward()
        found += [type(out.grad_fn).__name__, str(x.grad.dtype), x.grad.tolist()]
    return found


@pytest.mark.parametrize("name", WITH_ONE)
def test_operands(name, device):
    for dtype in DTYPES:
        ours, theirs = of_number(rushlight, name, dtype, device), None
        theirs = ask(lambda torch, dtype=dtype: of_number(torch, name, dtype))
        close(ours, theirs, 2e-2 if dtype == "bfloat16" else 1e-5)


def test_shapes_of_operands(device):
    def run(torch, device="cpu"):
        kept = []
        for shape in ((), (0,), (2, 3)):
            x = torch.ones(shape, dtype=torch.float64, device=device)
            for y in (x * 1j, 1j + x, x.to(torch.complex64) - 1j, x.t() / 2j if x.dim() else x):
                kept.append((str(y.dtype), list(y.shape), y.tolist()))
        strided = torch.arange(6.0, device=device).reshape(2, 3).t()[::2]
        return kept, (strided * 1j).tolist()

    assert run(rushlight, device) == ask(run)


def test_elements_and_fillings(device):
    def run(torch, device="cpu"):
        z = torch.zeros(2, 3, dtype=torch.complex64, device=device)
        z[0] = 2j
        z[1, ::2] = 1 - 1j
        z[z == 0] = 3j
        z[[1], [1]] = 4j
        kept = [z.tolist(), z.clone().fill_(1j).tolist(), z.masked_fill(z == 2j, 1).tolist()]
        kept.append(z.masked_fill(z != 2j, 7 - 1j).tolist())
        like = {"dtype": torch.float32, "device": device}
        x = torch.ones(3, **like)
        x[0] = 2 + 0j
        kept += [x.tolist(), x.fill_(3 + 0j).tolist()]
        made = [
            torch.tensor(2j, device=device),
            torch.tensor([1 + 2j, 3, True], device=device),
            torch.full((2,), 1j, device=device),
            torch.full((2,), 1 + 0j, dtype=torch.int64, device=device),
            torch.full_like(z, 1j),
            torch.full_like(x, 2 + 0j),
            z.new_full((2,), 2j),
            torch.zeros(2, dtype=complex, device=device),
            torch.scalar_tensor(2j, dtype=torch.complex64, device=device),
            torch.linspace(0, 1j, 3, device=device),
            torch.linspace(0, 1, 3, dtype=torch.complex128, device=device),
            torch.logspace(0, 1, 3, dtype=torch.complex64, device=device),
            torch.eye(2, dtype=torch.complex128, device=device),
        ]
        kept += [(str(m.dtype), m.tolist()) for m in made]
        answers = [2j in z, 5j in z, torch.is_complex(z), z[0, 0].item(), bool(z[0, 0])]
        return kept, answers, repr(made[1].cpu()), complex(z[0, 1])

    close(run(rushlight, device), ask(run), 1e-6)


def test_random_numbers():
    def run(torch):
        kept = []
        for dtype in (torch.complex64, torch.complex128):
            torch.manual_seed(3)
            x = torch.empty(5, dtype=dtype)
            made = [torch.rand(3, dtype=dtype), torch.randn(2, 9, dtype=dtype)]
            made += [torch.randn_like(x), torch.rand_like(x), x.normal_(1, 2).clone()]
            made += [x.uniform_(-1, 3)]
            kept += [m.tolist() for m in made]
        return kept

    close(run(rushlight), ask(run), 1e-6)


def test_result_types():
    def run(torch):
        x = torch.ones(2)
        kept = [torch.result_type(x, 1j), torch.result_type(1j, x.double())]
        kept += [torch.result_type(1j, 1.0), torch.result_type(x.long(), 1j)]
        kept += [torch.promote_types(torch.complex64, torch.float64)]
        kept += [torch.finfo(torch.complex64).eps, torch.finfo(torch.complex128).max]
        kept += [torch.can_cast(torch.complex64, torch.float32)]
        kept += [torch.can_cast(torch.float64, torch.complex64)]
        wide = torch.ones((), dtype=torch.complex128)
        return [str(k) for k in kept], str((x * wide).dtype), str((x[0] * wide).dtype)

    assert run(rushlight) == ask(run)


def test_the_default_dtype_decides():
    def run(torch):
        torch.set_default_dtype(torch.float64)
        try:
            x = torch.tensor([1, 2])
            return [str(y.dtype) for y in (x * 1j, torch.full((1,), 1j), torch.tensor(1j))]
        finally:
            torch.set_default_dtype(torch.float32)

    assert run(rushlight) == ask(run)


def test_numbers_of_numpy():
    """torch drops the imaginary part of a numpy.complex64 beside a tensor."""
    x = rushlight.ones(2)
    for n in (numpy.complex64(1 + 2j), numpy.complex128(1 + 2j)):
        assert (x * n).tolist() == [1 + 2j] * 2 and (n + x).tolist() == [2 + 2j] * 2
    array = numpy.array([[1 + 2j, 3], [4j, 0.5]])
    assert (rushlight.from_numpy(array).numpy() == array).all()
    assert rushlight.tensor(array.astype(numpy.complex64)).dtype is rushlight.complex64


REFUSED = {
    "a real target": lambda t, x: x.add_(1j),
    "a real power": lambda t, x: x.pow_(1j),
    "a real element": lambda t, x: x.__setitem__(0, 1j),
    "a real filling": lambda t, x: x.fill_(1j),
    "full": lambda t, x: t.full((2,), 1j, dtype=t.float32),
    "full_like": lambda t, x: t.full_like(x, 1j),
    "full into a real out": lambda t, x: t.full((3,), 1j, out=x),
    "masked_fill": lambda t, x: x.masked_fill(x > 0, 1j),
    "less": lambda t, x: x < 1j,
    "remainder": lambda t, x: x % 1j,
    "floor_divide": lambda t, x: x // 1j,
    "bits": lambda t, x: x.long() & 1j,
    "maximum": lambda t, x: t.maximum(x, 1j),
    "atan2": lambda t, x: t.atan2(x, 1j),
    "two numbers": lambda t, x: t.pow(2j, 2),
    "no operand at all": lambda t, x: t.add(2j, 1j),
    "matmul": lambda t, x: x @ 1j,
    "rounding": lambda t, x: t.div(x, 1j, rounding_mode="floor"),
    "index_fill": lambda t, x: x.index_fill(0, t.tensor([0]), 1j),
    "float": lambda t, x: float(t.tensor(1j)),
    "int": lambda t, x: int(t.tensor(1j)),
    "arange": lambda t, x: t.arange(3, dtype=t.complex64),
    "linspace": lambda t, x: t.linspace(0, 1j, 3, dtype=t.float32),
    "dtype": lambda t, x: t.zeros(2, dtype=1j),
    "dim": lambda t, x: x.sum(1j),
    "size": lambda t, x: t.zeros(1j),
    "shape": lambda t, x: x.reshape(3j),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_torchs_type(name):
    def run(torch):
        try:
            return repr(REFUSED[name](torch, torch.ones(3)))
        except Exception as error:
            return type(error).__name__

    assert run(rushlight) == ask(run)


def test_a_leaf_keeps_its_numbers(device):
    x = rushlight.ones(2, dtype=rushlight.complex64, device=device, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        x.mul_(2j)
    assert x.tolist() == [1, 1] and math.isclose(abs((x * 2j)[0].item()), 2)


def test_what_only_looks_like_a_complex_number(device):
    """Its conversion may fail, or change what it is called with."""

    def fails(self):
        raise ValueError("no number")

    x = rushlight.ones(3, device=device)
    index = rushlight.tensor([0], device=device)
    for fake in (
        type("numpy.complex64", (), {}),
        type("numpy.complex64", (), {"__complex__": fails}),
    ):
        calls = [lambda n: x * n, lambda n: n - x, lambda n: rushlight.add(x, n), x.fill_]
        calls += [lambda n: rushlight.full((2,), n), lambda n: x.__setitem__(0, n)]
        calls += [lambda n: x.cfloat().index_fill(0, index, n), lambda n: rushlight.add(x, other=n)]
        for call in calls:
            with pytest.raises((TypeError, ValueError, RuntimeError)):
                call(fake())

    class Sly(complex):
        def __complex__(self):
            x.resize_(0)
            return 7j

    assert (x * Sly(2j)).tolist() == [2j] * 3
