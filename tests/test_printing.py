"""Printed tensors against PyTorch's, character for character."""

import math
import random

import pytest

import rushlight
from tests.conftest import ask, load_reference

DTYPES = "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 bool".split()


@pytest.fixture(autouse=True)
def default_options():
    yield
    rushlight.set_printoptions(profile="default")
    load_reference().set_printoptions(profile="default")


def twin(theirs):
    """Our tensor with the values of one of PyTorch's."""
    dtype = getattr(rushlight, str(theirs.dtype).rpartition(".")[2])
    flat = rushlight.tensor(theirs.reshape(-1).tolist(), dtype=dtype)
    return flat.reshape(tuple(theirs.shape))


def random_values(chance):
    """(values, shape, dtype) of a random tensor."""
    dtype = chance.choice(DTYPES)
    rank = chance.choice([0, 1, 1, 2, 2, 3, 4, 5])
    choices = (0, 1, 1, 2, 3, 5) if rank > 2 else (0, 1, 2, 3, 7, 20, 33, 1200)
    shape = [chance.choice(choices) for _ in range(rank)]
    if math.prod(shape) > 2000:
        shape = shape[:1]
    if dtype == "bool":
        values = [chance.random() < 0.5 for _ in range(math.prod(shape))]
    elif "int" in dtype:
        bits = int(dtype.lstrip("uint")) - (dtype != "uint8")
        bound = chance.choice([3, 30, 2**bits - 1])
        low = 0 if dtype == "uint8" else -bound
        values = [chance.randrange(low, bound) for _ in range(math.prod(shape))]
    else:
        scale = 10 ** chance.uniform(-8, 9)
        values = [chance.gauss(0, scale) for _ in range(math.prod(shape))]
        if chance.random() < 0.3:
            values = [float(round(v)) for v in values]
        if chance.random() < 0.2:
            values = [v * 10.0 ** chance.randrange(-40, 40) for v in values]
        for special in (0.0, -0.0, math.nan, math.inf, -math.inf):
            if chance.random() < 0.1:
                values = [v if chance.random() < 0.7 else special for v in values]
    return values, shape, dtype


def random_options(chance):
    options = {"sci_mode": chance.choice([None, None, True, False])}
    for name, choices in [
        ("precision", [0, 1, 2, 6, 10]),
        ("threshold", [0, 5, 50, math.inf]),
        ("edgeitems", [0, 1, 2, 5]),
        ("linewidth", [1, 20, 60, 120]),
        ("profile", ["short", "full", "default"]),
    ]:
        if chance.random() < 0.3:
            options[name] = chance.choice(choices)
    return options


def test_random_tensors(reference):
    chance = random.Random(0)
    for round_number in range(600):
        options = {"profile": "default"}
        if round_number % 5 == 0:
            options = random_options(chance)
        if round_number % 5 in (0, 3):
            rushlight.set_printoptions(**options)
            reference.set_printoptions(**options)
        values, shape, dtype = random_values(chance)
        ours, theirs = (
            t.tensor(values).to(getattr(t, dtype)).reshape(shape) for t in (rushlight, reference)
        )
        assert repr(ours) == repr(theirs), (options, dtype, shape)


def test_views_print_their_elements(reference):
    theirs = reference.arange(2400.0).reshape(40, 60)
    ours = rushlight.arange(2400.0).reshape(40, 60)
    assert repr(ours.t()) == repr(theirs.t())
    assert repr(ours[::3, 5:7]) == repr(theirs[::3, 5:7])
    assert repr(ours[:1].expand(50, 60)) == repr(theirs[:1].expand(50, 60))


def test_gradients(reference):
    def texts(torch):
        leaf = torch.ones(2, 2, requires_grad=True)
        long = torch.arange(12.0, requires_grad=True)
        yield from (leaf, leaf * 2, leaf.sum(), long, long + 1, leaf.detach(), long.exp())
        yield torch.nn.Parameter(torch.zeros(3))
        yield [torch.nn.Parameter(torch.zeros(3)), leaf]

    for ours, theirs in zip(texts(rushlight), ask(texts), strict=True):
        assert repr(ours) == repr(theirs)


def test_function_of_a_program():
    class Double(rushlight.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    out = Double.apply(rushlight.ones(1, requires_grad=True))
    assert repr(out) == "tensor([2.], grad_fn=<DoubleBackward>)"


def test_devices():
    with rushlight.cuda.virtual(2):
        x = rushlight.ones(2, device="cuda:1")
        assert repr(x) == "tensor([1., 1.], device='cuda:1')"
        assert repr([x]) == "[tensor([1., 1.], device='cuda:1')]"
        assert str(x.to(rushlight.int32)) == "tensor([1, 1], device='cuda:1', dtype=torch.int32)"


def test_meta(reference):
    for shape in ((2, 3), (0,), ()):
        ours, theirs = (m.empty(shape, device="meta") for m in (rushlight, reference))
        assert repr(ours) == repr(theirs)


def test_default_dtype(reference):
    for name in ("float64", "float16"):
        rushlight.set_default_dtype(getattr(rushlight, name))
        reference.set_default_dtype(getattr(reference, name))
        try:
            for other in DTYPES:
                theirs = reference.ones(2).to(getattr(reference, other))
                assert repr(twin(theirs)) == repr(theirs)
                assert repr(twin(theirs[:0])) == repr(theirs[:0])
        finally:
            rushlight.set_default_dtype(rushlight.float32)
            reference.set_default_dtype(reference.float32)


def test_subclasses():
    def texts(torch):
        class Mine(torch.Tensor):
            pass

        class Weight(torch.nn.Parameter):
            pass

        yield torch.arange(3).as_subclass(Mine)
        yield torch.arange(3.0).as_subclass(Mine)
        yield Weight(torch.zeros(2))

    for ours, theirs in zip(texts(rushlight), ask(texts), strict=True):
        assert repr(ours) == repr(theirs)


def test_format(reference):
    for value in (3, 3.14159, True):
        for spec in ("", ">10", ".3f"):
            assert format(rushlight.tensor(value), spec) == format(reference.tensor(value), spec)
    assert f"{rushlight.tensor(2.5, requires_grad=True):.3f}" == "2.500"
    assert f"{rushlight.ones(2)}" == "tensor([1., 1.])"
    with pytest.raises(TypeError, match="unsupported format string"):
        format(rushlight.ones(2), ".3f")


def test_options():
    with rushlight.printoptions(precision=1, sci_mode=True):
        assert repr(rushlight.tensor([10.0])) == "tensor([1.0e+01])"
    assert rushlight.get_printoptions()["precision"] == 4
    before = rushlight.get_printoptions()
    for wrong in ({"profile": "long"}, {"edgeitems": -1}, {"precision": "4"}, {"linewidth": -1}):
        with pytest.raises((TypeError, ValueError)):
            rushlight.set_printoptions(threshold=7, **wrong)
        assert rushlight.get_printoptions() == before


def test_only_the_edges_are_read():
    huge = rushlight.ones(1).expand(10**6, 10**6)
    assert repr(huge).count("1.") == 36
