"""Calls, one expression each, whose answer or error is torch's: forms that programs seldom use."""

from array import array

import pytest

import rushlight
from tests.conftest import ask

pytestmark = pytest.mark.filterwarnings("ignore")
CALLS = {
    "sizes": [
        "(4, 5) + T.Size([1])", "() + T.Size([])", "T.Size([1]) + (2,)", "T.Size([1, 2]) * 2",
        "0 * T.Size([1])", "(1,) + T.Size([2]) + (3,)", "sum([T.Size([2]), (1,)], ())",
        "T.Size([1]) + [1]", "[1] + T.Size([1])", "T.Size([1]) + 1", "T.Size([1]) * 2.0",
    ],
    "parts": [
        "put(T.ones(2), 'real', 3)", "put(T.ones(2).cfloat(), 'real', 3)",
        "put(T.ones(2).cfloat(), 'imag', T.tensor([7.0, 8.0]))", "put(T.ones(2), 'imag', 3)",
        "put(T.ones(2).cfloat(), 'real', 3j)", "put(T.ones(2).cfloat(), 'imag', 'a')",
        "put(T.ones(2).cfloat(), 'real', T.ones(3))", "put(T.arange(2), 'real', True)",
        "put(T.ones(2).cfloat().requires_grad_(), 'real', 2)",
        "grad(lambda x: put(x * 2, 'real', x.real ** 2).abs().sum(), T.tensor([1 + 2j, 3 - 1j]))",
    ],
    "alpha": [
        "T.add(c, c, alpha=2j)", "T.add(c, r, alpha=2j)", "T.add(r, c, alpha=2j)",
        "T.sub(c, i, alpha=1 + 2j)", "T.rsub(i, c, alpha=2j)", "T.add(c, 2, alpha=2j)",
        "c.clone().add_(c, alpha=2j)", "T.add(d, c, alpha=2j)", "T.add(c, c[0], alpha=2j)",
        "T.add(r, r, alpha=2j)", "T.sub(i, i, alpha=2.5)", "r.clone().add_(r, alpha=2j)",
        "T.add(c, c, alpha='a')", "T.add(c, c, alpha=T.tensor(2j))",
        "T.addcmul(c, c, c, value=2j)", "T.addcmul(r, c, r, value=2j)",
        "T.addcdiv(c, c, c, value=2j)", "T.addcdiv(r, r, c, value=T.tensor(1 + 1j))",
        "c.clone().addcmul_(c, r, value=1j)", "T.addcmul(r, r, r, value=2j)",
        "T.addcdiv(r, r, r, value=2j)", "T.addcmul(c, c, c, value=2.5)",
        "grad(lambda x: T.add(c, x, alpha=2j).abs().sum(), c)",
        "grad(lambda x: T.addcdiv(x, x, x * x, value=2j).abs().sum(), c)",
    ],
    "gradient": [
        "T.gradient(T.tensor([2., -2, INF, INF, -INF, -INF, INF, 3, -INF, 2, NAN, NAN, 3, NAN]))",
        "T.gradient(T.tensor([2., -2, INF, INF, 3, 1, 2, NAN, 1]), edge_order=2, spacing=0.5)",
        "T.gradient(c, spacing=2j)", "T.gradient(r, spacing=2j)", "T.gradient(c, spacing=(2j,))",
        "T.gradient(c, spacing=[T.tensor([0, 1j])])", "T.gradient(T.arange(5) ** 2)",
        "T.gradient(r.new_ones(3, 3).cumsum(0), spacing=2 * (T.tensor([0., 1, 3]),), edge_order=2)",
        "T.gradient(T.tensor([1., 4, INF, 2, 5]), spacing=[T.tensor([0., 1, 3, 4, 9])])",
        "T.gradient(T.tensor([1., 4, 9, 2]), spacing=[T.tensor([0., 1, 3, 4])], edge_order=2)",
        "T.gradient(T.tensor([1., 4, 9, 2]), spacing='a')",
        "grad(lambda x: T.gradient(x, edge_order=2)[0].square().sum(), T.tensor([1., 4, 9, 2]))",
    ],
    "diff": [
        "T.diff(r, prepend=T.ones(2, 2))", "T.diff(T.ones(3, 2), append=T.ones(2, 3))",
        "T.diff(T.ones(3, 3), prepend=T.ones(2, 2), dim=0)", "T.diff(r, prepend=i)",
    ],
    "draws": [
        "T.bernoulli(T.tensor([0., 1, 1]), out=T.empty(0, dtype=T.int64))",
        "T.bernoulli(T.tensor([0., 1, 1]), out=T.ones(3, dtype=T.bool))",
        "T.bernoulli(T.tensor([0, 1]))",
    ],
    "elements": [
        "T.ones(2).apply_(lambda k: 'a')", "T.ones(2).apply_(lambda k: [1])",
        "T.ones(2).apply_(lambda k: 1j)", "T.arange(3).apply_(lambda k: 1.7)",
        "T.ones(0).apply_(lambda k: 'a')", "T.arange(3).apply_(lambda k: T.tensor(2))",
        "T.ones(2).map_(T.ones(2), lambda a, b: None)",
    ],
    "new": [
        "r.new(size=(2, 3)).shape", "r.new(size=T.Size([2])).dtype", "r.new(3, size=(2,))",
        "r.new(size=2)", "i.new(size=(0,))",
    ],
    "threads": [
        "T.set_num_threads(-1)", "T.set_num_threads(0)", "T.set_num_threads(2**65)",
        "T.set_num_threads('a')", "T.set_num_threads(1.5)", "T.set_num_threads(True)",
    ],
    "index": [
        "T.ones(2, 5)[0, 5]", "T.ones(2, 5)[4, 5]", "T.ones(2, 5, 3)[0, 1, 15]",
        "T.ones(2, 5, 3)[..., 12]", "T.ones(2, 5, 3)[None, 1, :, 3]", "T.ones(2, 5)[:, None, 7]",
        "item(T.zeros(2, 2), ([0, 1], [1, 0]), T.tensor([[3., 4.]]))",
        "item(T.zeros(2, 3), T.tensor(1).byte(), T.ones(1, 1, 2, 3))",
        "item(T.zeros(3), T.tensor([True, False, True]), T.ones(1, 1, 2))",
        "item(T.zeros(3), [0, 2], T.ones(1, 2, 2))", "item(T.zeros(3), [0], T.ones(1, 1))",
    ],
    "expand": [
        "r.expand(1, 2).stride()", "r.expand(1, 1, 2).stride()", "r.expand(2, 1, 2).stride()",
        "r.expand(1, 2, 2).stride()", "T.tensor(2.0).expand(1, 1).stride()",
        "T.ones(3, 1).expand(1, 3, 1).stride()", "T.ones(3, 1).expand(1, 3, 4).stride()",
        "T.ones(0).expand(1, 0).stride()", "T.broadcast_to(r, (1, 2)).stride()",
        "r.expand_as(T.ones(1, 2)).stride()", "T.ones(4, 5)[:, :4].view(T.float64)",
        "T.ones(1, 1).expand(1, 1, 1).stride()", "T.broadcast_tensors(r, T.ones(1, 1))[0].stride()",
    ],
    "out of a range": [
        "seen(T.zeros(2, 3), lambda x: T.arange(4, out=x.narrow(1, 1, 2)))",
        "seen(T.zeros(2, 3), lambda x: T.linspace(0, 3, 4, out=x.narrow(1, 1, 2)))",
        "seen(T.zeros(2, 3), lambda x: T.logspace(0, 3, 4, out=x.narrow(1, 1, 2)))",
        "seen(T.zeros(2, 3), lambda x: T.range(0, 3, out=x.narrow(1, 1, 2)))",
        "T.arange(4, out=T.zeros(4, 1)).shape", "T.full((4,), 2.0, out=T.zeros(2, 2)).shape",
        "T.linspace(T.tensor(0j), 3, 4, out=T.zeros(2, 2, dtype=T.complex64))",
        "T.arange(5, out=T.zeros(2, 2)).shape",
    ],
    "limits": [
        "T.randperm(256, dtype=T.uint8).sum()", "T.randperm(257, dtype=T.uint8)",
        "T.randperm(128, dtype=T.int8).sum()", "T.randperm(129, dtype=T.int8)",
        "T.randperm(2**15, dtype=T.int16).sum()", "T.randperm(2050, dtype=T.float16)",
        "T.empty(3).uniform_(-3.4028234e38, -42).isfinite().all()",
        "T.empty(3).uniform_(-3.4028234e38, 3.4e38)", "complex(T.tensor([]))",
        "T.meshgrid(r, T.ones(2, device='meta'))",
    ],
    "moves": [
        "T.arange(3).roll(1, dims=None)", "T.roll(T.arange(4).view(2, 2), 1, None)",
        "T.cat([T.empty(0), T.empty(0)], dim=1).shape", "T.cat([T.empty(0)], dim=-3).shape",
        "T.cat([T.empty(0), T.ones(2, 2)], dim=1)", "T.movedim(T.ones(2, 3), (0, 0), (0, 1))",
    ],
    "asarray": [
        "T.asarray(bytearray(8))", "T.asarray(bytearray(8), dtype=T.int32)",
        "T.asarray(b'12345678', dtype=T.uint8)", "T.asarray(bytearray(7))",
        "T.asarray(bytearray(0))", "T.asarray(memoryview(bytes(16)), dtype=T.float64)",
        "T.asarray(T.utils.dlpack.to_dlpack(r))", "T.as_tensor(bytearray(3))",
        "T.asarray(T.utils.dlpack.to_dlpack(r), dtype=T.int64)", "T.asarray([1, 2.5])",
        "T.asarray(array('i', [1, 2]), dtype=T.int32)", "T.asarray(array('i', [1, 2]))",
        "seen(bytearray(8), lambda b: T.asarray(b, dtype=T.uint8).fill_(3))[3]",
        "seen(bytearray(8), lambda b: T.asarray(b, dtype=T.uint8, copy=True).fill_(3))[3]",
        "seen(r, lambda x: T.asarray(T.utils.dlpack.to_dlpack(x), copy=False).fill_(3))",
    ],
    "set_": [
        "r.clone().set_(r.untyped_storage(), 100, r.size())",
        "r.clone().set_(r.untyped_storage(), 100, (2,), (1,))",
        "T.ones(1).set_(T.ones(1).untyped_storage(), 9, (2,)).untyped_storage().nbytes()",
    ],
}  # fmt: skip


def shown(value, torch):
    """The value in words that are the same in both libraries."""
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).partition(".")[2]
        return dtype, tuple(value.shape), shown(value.detach().resolve_conj().tolist(), torch)
    if isinstance(value, tuple | list):
        parts = [shown(part, torch) for part in value]
        return (type(value).__name__, *parts) if isinstance(value, tuple) else parts
    if isinstance(value, complex):
        return f"{shown(value.real, torch)} {shown(value.imag, torch)}"
    if isinstance(value, float):
        return f"{value + 0.0:.5g}"
    return str(value).replace("rushlight", "torch")


def answers(torch, calls):
    def put(x, name, value):
        setattr(x, name, value)
        return x

    def item(x, key, value):
        x[key] = value
        return x

    def seen(x, function):
        function(x)
        return x

    def grad(function, x):
        x = x.clone().requires_grad_()
        return torch.autograd.grad(function(x), x)

    found = {}
    for call in calls:
        names = {
            "T": torch, "put": put, "item": item, "seen": seen, "array": array,
            "grad": grad, "INF": float("inf"), "NAN": float("nan"),
            "c": torch.tensor([1 + 1j, 2]), "r": torch.ones(2),
            "i": torch.ones(2, dtype=torch.int64), "d": torch.ones(2, dtype=torch.float64),
        }  # fmt: skip
        try:
            found[call] = shown(eval(call, names), torch)
        except Exception as error:
            found[call] = type(error).__name__
    return found


@pytest.mark.parametrize("family", CALLS)
def test_answers(family):
    assert answers(rushlight, CALLS[family]) == ask(lambda torch: answers(torch, CALLS[family]))


WORDS = {
    "T.Size([1]) + [1]": "can only concatenate tuple (not list) to torch.Size",
    "T.ones(2, 5, 3)[None, 1, :, 3]": "index 3 is out of bounds for dimension 3 with size 3",
    "T.add(r, r, alpha=2j)": "For non-complex input tensors, argument alpha must not be a complex",
    "T.ones(4, 5)[:, :4].view(T.float64)": "self.stride(0) must be divisible by 2 to view Float",
    "T.movedim(T.ones(2, 3), (0, 0), (0, 1))": "movedim: repeated dim in `source`",
    "T.set_num_threads('a')": "set_num_threads expects an int, but got str",
    "T.ones(2).apply_(lambda k: 'a')": "must be real number, not str",
    "T.diff(r, prepend=T.ones(2, 2))": "diff expects prepend or append to be the same dimension",
    "r.clone().set_(r.untyped_storage(), 100, r.size())": "are out of bounds for storage of size 8",
}


@pytest.mark.parametrize("call", WORDS)
def test_words(call):
    def words(torch):
        try:
            eval(call, {"T": torch, "r": torch.ones(2)})
        except Exception as error:
            return WORDS[call] in str(error)

    assert words(rushlight) is ask(words) is True
