"""tolist of every dtype and layout, against torch."""

import pytest

import rushlight
from tests.conftest import ask

DTYPES = "float32 float64 bfloat16 float16 int64 int32 int16 int8 uint8 bool".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_and_types(dtype):
    def lists(t):
        x = (t.arange(24).reshape(2, 3, 4) - (0 if dtype == "uint8" else 7)).to(getattr(t, dtype))
        layouts = [
            x,
            x.mT,
            x[:, ::2],
            x[:1].expand(3, 3, 4),
            x[1, 2, 3],
            x[:0],
            x[:, :0],
            x.flatten(),
        ]
        return [layout.tolist() for layout in layouts]

    ours = lists(rushlight)
    assert ours == ask(lists)
    kind = bool if dtype == "bool" else float if "float" in dtype else int
    assert type(ours[0][0][0][0]) is type(ours[4]) is kind


def test_of_a_device(device):
    x = rushlight.arange(6, device=device).reshape(2, 3)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]] and x.t().tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_leaf_that_wants_gradients():
    assert rushlight.ones(2, requires_grad=True).tolist() == [1.0, 1.0]
