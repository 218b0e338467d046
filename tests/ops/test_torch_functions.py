"""Functions that torch has beside those of nn.functional, against torch."""

import numpy as np
import pytest

import rushlight as torch
from tests.conftest import ask

SHAPES = {  # input, weight of conv, weight of conv_transpose
    1: ((2, 4, 9), (4, 2, 3), (4, 3, 3)),
    2: ((2, 4, 6, 6), (4, 2, 3, 3), (4, 3, 3, 3)),
    3: ((1, 2, 4, 4, 4), (2, 1, 2, 2, 2), (2, 1, 2, 2, 2)),
}


def draws(seed, shape):
    return np.random.RandomState(seed).standard_normal(shape).tolist()


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("rank", SHAPES)
def test_convolution(device, rank, transposed):
    def run(torch, device="cpu"):
        x = torch.tensor(draws(0, SHAPES[rank][0]), device=device)
        weight = torch.tensor(draws(1, SHAPES[rank][1 + transposed]), device=device)
        settings = ([2] * rank, [1] * rank, [1] * rank, transposed, [1] * rank, 2)
        return torch.convolution(x, weight, None, *settings).cpu().tolist()

    np.testing.assert_allclose(run(torch, device), ask(run), rtol=1e-4, atol=1e-5)


def test_embedding_renorm(device):
    def run(torch, device="cpu"):
        table = torch.arange(6.0, device=device).reshape(3, 2)
        rows = torch.tensor([[2, 0], [2, 2]], device=device)
        result = torch.embedding_renorm_(table, rows, 1.0, 2.0)
        return [result is table, *table.flatten().tolist()]

    assert run(torch, device) == pytest.approx(ask(run))


@pytest.mark.parametrize(
    "dim, start, end, step", [(0, 1, None, 2), (1, -3, None, 2), (-1, 9, 2, 1)]
)
def test_slice_copy(device, dim, start, end, step):
    def run(torch, device="cpu"):
        x = torch.arange(12, device=device).reshape(3, 4)
        copy = torch.slice_copy(x, dim, start, end, step)
        x.zero_()
        return copy.tolist()

    assert run(torch, device) == ask(run)


def test_map2(device):
    def run(torch):
        x = torch.ones(2, 3)
        return x.map2_(torch.ones(3), torch.ones(2, 1) * 2, lambda a, b, c: a + b * c).tolist()

    assert run(torch) == ask(run)
    if device != "cpu":
        x = torch.ones(2, device=device)
        with pytest.raises(TypeError, match="map2_ is only implemented on CPU tensors"):
            x.map2_(x, x, lambda a, b, c: a)


WRONG = {
    "slice_copy": lambda torch: torch.slice_copy(torch.ones(3), 0, 0, 1, 0),
    "convolution": lambda torch: torch.convolution(
        torch.ones(1, 1, 4), torch.ones(1, 1, 2, 2), None, [1], [0], [1], False, [0], 1
    ),
    "map2_ dtype": lambda torch: torch.ones(3).map2_(
        torch.ones(3, dtype=torch.int64), torch.ones(3), lambda *v: 0
    ),
    "map2_ grad": lambda torch: torch.ones(3).map2_(
        torch.ones(3), torch.ones(3, requires_grad=True), lambda *v: 0
    ),
    "factory_kwargs": lambda torch: torch.nn.factory_kwargs({"x": 1}),
    "factory_kwargs twice": lambda torch: torch.nn.factory_kwargs(
        {"dtype": 1, "factory_kwargs": {"dtype": 2}}
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused(case, on_device):
    def words(torch):
        try:
            WRONG[case](torch)
        except Exception as error:
            said = str(error).splitlines()[0].replace("torch.cuda.", "torch.")
            return type(error).__name__, said

    assert words(torch) == tuple(ask(words))


def test_factory_kwargs():
    def run(torch):
        given = {"dtype": torch.float64, "factory_kwargs": {"device": "cpu"}}
        return sorted(str(item) for item in torch.nn.factory_kwargs(given).items())

    assert run(torch) == ask(run)
    assert torch.nn.factory_kwargs(None) == {}
