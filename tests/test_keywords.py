"""Functions take their arguments by torch's names: those that torch's parsers and stubs know, in
tools/torch_names.txt.
"""

import importlib.util
import pathlib
import warnings

import pytest

import rushlight as torch
from tests.conftest import ask

ROOT = pathlib.Path(__file__).resolve().parent.parent


def tool(name):
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / f"tools/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# The names that are refused, by the reason; docs/coverage.md names them, too.
REFUSED = {
    "only GPUs have products of 16-bit matrices with float32 results": {
        "torch.addmm": "out_dtype", "torch.baddbmm": "out_dtype", "torch.bmm": "out_dtype",
        "torch.mm": "out_dtype",
    },
    "torch's documentation says tensor, its function takes input": {
        "torch.nn.functional.one_hot": "tensor"
    },
    "no tensor is quantized, and of others torch takes no list": {"torch.dequantize": "tensors"},
    "old constructors, of which torch.tensor() and torch.empty() are the current ways": {
        "torch.Tensor.new": "cls storage other",
    },
}  # fmt: skip


def test_every_function_takes_torchs_names():
    tool("index").import_all()  # the rows of modules written in Python
    coverage = tool("coverage")
    rows, found = coverage.of_rows(), {}
    for place, names in coverage.recorded()[1].items():
        home = coverage.find("rushlight", place)
        for name, theirs in names.items():
            try:
                value = getattr(home, name)
            except (AttributeError, RuntimeError):
                continue  # absent
            if lacking := coverage.missing(rows, place, name, value, theirs):
                found[f"{place}.{name}"] = " ".join(lacking)
    known = {name: words for group in REFUSED.values() for name, words in group.items()}
    assert found == known


def matrix(t, **options):
    return t.tensor([[4.0, 1.0], [1.0, 3.0]], **options)


CALLS = [
    lambda t, x: t.swapaxes(x, axis0=0, axis1=1),
    lambda t, x: x.clone().swapaxes_(axis0=0, axis1=1),
    lambda t, x: t.special.airy_ai(x=x),
    lambda t, x: t.special.chebyshev_polynomial_t(x=x, n=2),
    lambda t, x: t.special.erf(input=x),
    lambda t, x: t.linalg.cholesky(input=x),
    lambda t, x: t.linalg.cholesky_ex(input=x).L,
    lambda t, x: t.linalg.cond(input=x),
    lambda t, x: t.linalg.eigvalsh(input=x),
    lambda t, x: t.linalg.inv(A=x),
    lambda t, x: t.linalg.lstsq(input=x, b=x).solution,
    lambda t, x: t.linalg.matrix_exp(input=x),
    lambda t, x: t.linalg.matrix_norm(input=x),
    lambda t, x: t.linalg.matrix_power(input=x, n=2),
    lambda t, x: t.linalg.matrix_rank(input=x),
    lambda t, x: t.linalg.norm(input=x),
    lambda t, x: t.linalg.pinv(input=x),
    lambda t, x: t.linalg.solve_triangular(input=x, B=x, upper=True),
    lambda t, x: t.linalg.tensorinv(input=x, ind=1),
    lambda t, x: t.linalg.tensorsolve(input=x, other=x[0]),
    lambda t, x: t.linalg.vector_norm(input=x),
    lambda t, x: t.linalg.vector_norm(x=x),
    lambda t, x: t.cholesky_solve(x, input2=x),
    lambda t, x: t.cholesky_inverse(input=x),
    lambda t, x: t.orgqr(input=x, input2=x[0], out=x.new_empty(0)),
    lambda t, x: t.argsort(x, stable=True, dim=0, out=x.new_empty(0, dtype=t.int64)),
    lambda t, x: t.threshold(x, threshold=2, value=7, out=x.new_empty(0)),
    lambda t, x: x.clone().copy_(other=x + 1),
    lambda t, x: t.fill_(input=x.clone(), value=2),
    lambda t, x: t.zero_(input=x.clone()),
    lambda t, x: t.expand_copy(input=x, size=(2, 2, 2)),
    lambda t, x: t.unfold_copy(input=x, dimension=0, size=1, step=1),
    lambda t, x: x.new_full((2,), 3, layout=t.strided, pin_memory=False),
    lambda t, x: x.new_ones(2, layout=t.strided, pin_memory=False),
    lambda t, x: t.asarray(obj=[1, 2], dtype=t.float64, device=x.device, copy=True),
    lambda t, x: t.asarray(x, copy=False),
]


@pytest.mark.parametrize("call", CALLS)
def test_names_of_arguments(call, device):
    result = call(torch, matrix(torch, device=device))
    expected = ask(lambda t: call(t, matrix(t)).tolist())
    expected = torch.tensor(expected, dtype=result.dtype, device=device)
    assert torch.allclose(result, expected, atol=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.result_type(tensor=t.ones(2), other=t.ones(1, dtype=t.float64)),
        lambda t: t.result_type(tensor=t.ones(2, dtype=t.int64), other=1.5),
        lambda t: t.result_type(scalar=1.5, tensor=t.ones(2, dtype=t.int64)),
        lambda t: t.result_type(scalar1=1, scalar2=2.5),
    ],
)
def test_names_of_result_type(call):
    assert str(call(torch)) == ask(lambda t: str(call(t)))


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.asarray([1, 2], copy=False),
        lambda t: t.asarray(t.ones(2), dtype=t.float64, copy=False),
        lambda t: t.asarray([1, 2], requires_grad=True),
    ],
)
def test_asarray_refuses(call):
    def refused(t):
        with pytest.raises((RuntimeError, ValueError)) as caught:
            call(t)
        return caught.type.__name__, str(caught.value).splitlines()[0]

    assert refused(torch) == ask(refused)


def test_asarray_and_history():
    x = torch.ones(2, requires_grad=True)
    assert torch.asarray(x) is x
    assert torch.asarray(x * 2).grad_fn is not None
    assert not torch.asarray(x * 2, requires_grad=False).requires_grad
    assert torch.asarray(x, copy=True).grad_fn is not None
    assert torch.asarray([1.0], requires_grad=True).requires_grad


@pytest.mark.parametrize("name, arguments", [("rand", ()), ("randn", ()), ("randint", (9,))])
def test_random_numbers_of_a_generator(name, arguments):
    def drawn(t):
        g = t.Generator().manual_seed(5)
        return getattr(t, f"{name}_like")(t.ones(3), *arguments, generator=g).tolist()

    assert drawn(torch) == pytest.approx(ask(drawn))


# By place or by name alone, with None or without.
PLACES = [
    lambda t, x: x.half(t.preserve_format),
    lambda t, x: x.cpu(t.preserve_format),
    lambda t, x: t.histogramdd(x, [2, 2], None),
    lambda t, x: x.sort(0, False, True),
    lambda t, x: t.sort(x, stable=True, dim=0, descending=True),
    lambda t, x: x.topk(1, None),
    lambda t, x: x.kthvalue(1, None),
    lambda t, x: x.topk(1, 0, False, False),
    lambda t, x: x.new_empty_strided((2,), (1,), t.float64),
    lambda t, x: x.new_empty_strided((2,), (1,), dtype=t.float64),
    lambda t, x: t.bitwise_and(self=3, other=t.tensor([1])),
    lambda t, x: t.pow(self=2, exponent=x),
    lambda t, x: t.float_power(self=2, exponent=x),
    lambda t, x: t.remainder(self=5, other=x),
    lambda t, x: t.xlogy(self=5, other=x),
    lambda t, x: t.where(x > 2, self=1, other=2),
    lambda t, x: t.where(x > 2, input=x, other=2),
    lambda t, x: x.hsplit(1, 2),
    lambda t, x: x.hsplit(indices=(1, 2)),
    lambda t, x: x.vsplit(1, 2),
    lambda t, x: x.reshape(2, 2, 4).dsplit(1, 2),
    lambda t, x: x.count_nonzero(0, 1),
    lambda t, x: t.count_nonzero(x, 0, 1),
    lambda t, x: x.count_nonzero(dim=(0, 1)),
    lambda t, x: t.nuclear_norm(x, True),
    lambda t, x: t.nuclear_norm(x, keepdim=True),
    lambda t, x: t.nuclear_norm(x, (0, 1), True),
    lambda t, x: t.split_copy(input=x, split_size=2),
    lambda t, x: t.split_copy(x, split_size=2),
    lambda t, x: t.split_with_sizes_copy(input=x, split_sizes=(1, 3)),
    lambda t, x: t.view_copy(input=x, size=(16,)),
    lambda t, x: t.view_copy(x, (16,)),
    lambda t, x: t.view_copy(x, t.int32),
    lambda t, x: t.view_copy(input=x, dtype=t.int32),
    lambda t, x: t.special.log_softmax(x, 0, dtype=t.float64),
    lambda t, x: t.special.softmax(x, 0, t.float64),
    lambda t, x: t.special.softmax(x, 0, dtype=t.float64),
    lambda t, x: t.set_autocast_enabled(False),
    lambda t, x: t.set_autocast_enabled("cpu", False),
    lambda t, x: t.nn.functional.rrelu_(x, 0.1, 0.2, True, t.Generator()),
    lambda t, x: t.rrelu(x, 0.1, 0.2, True, t.Generator()),
    lambda t, x: t.rrelu(x, 0.1, 0.2, True, generator=None),
    lambda t, x: t.rrelu_(x, 0.1, 0.2, True, generator=None),
    lambda t, x: t.nn.functional.rrelu(x, 0.1, 0.2, True, True),
    lambda t, x: t.subtract(x, 2, 3),
    lambda t, x: t.subtract(x, x, 3),
    lambda t, x: x.subtract(2, 3),
    lambda t, x: x.subtract_(x, 3),
    lambda t, x: t.sub(x, 2, 3),
    lambda t, x: t.rsub(x, 2, 3),
    lambda t, x: t.std(x, unbiased=True),
    lambda t, x: t.std(x, 0, unbiased=True),
    lambda t, x: t.std(x, True),
    lambda t, x: t.std(x, dim=0, unbiased=False, keepdim=True),
    lambda t, x: t.std(x, dim=0, keepdim=True),
    lambda t, x: t.numel(input=x),
    lambda t, x: t.add(x, 2, 3),
    lambda t, x: t.where(x > 2, 1, 2),
    lambda t, x: t.numel(self=x),
    lambda t, x: t.tensor([1], t.float64),
    lambda t, x: t.linspace(0, 1),
    lambda t, x: t.linspace(0, 1, None),
    lambda t, x: t.linalg.matrix_exp(x, out=x.new_empty(0)),
    lambda t, x: t.nn.functional.gelu(x, "tanh"),
    lambda t, x: t.nn.functional.scaled_dot_product_attention(x, x, x, None, 0.0, False, 1.0),
    lambda t, x: x.new_ones((2,), t.float64),
    lambda t, x: x.new_tensor([1], t.float64),
    lambda t, x: x.new_tensor([1], pin_memory=False),
    lambda t, x: x.requires_grad_(mode=True),
    lambda t, x: x.add(x, out=x.new_empty(0)),
    lambda t, x: x.sub(x, out=x.new_empty(0)),
    lambda t, x: x.mul(x, out=x.new_empty(0)),
    lambda t, x: x.true_divide(x, out=x.new_empty(0)),
    lambda t, x: x.floor_divide(x, out=x.new_empty(0)),
]


@pytest.mark.parametrize("call", PLACES)
def test_what_may_come_by_its_place(call):
    def kind(t):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch's, of what is deprecated
                call(t, t.arange(16.0).reshape(4, 4))
        except (TypeError, RuntimeError, ValueError) as error:
            return type(error).__name__
        return "taken"

    assert kind(torch) == ask(kind)
