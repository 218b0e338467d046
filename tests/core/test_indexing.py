"""t[...] and t[...] = value against torch, value by value, and errors by type."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight
from tests.conftest import load_reference

torch = load_reference()

pytestmark = pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
KEYS = [
    "0",
    "-1",
    "slice(1, None)",
    "slice(None, None, 2)",
    "None",
    "...",
    "(0, 1)",
    "(slice(None), 1)",
    "(..., 0)",
    "(None, 1, None)",
    "[0, 2]",
    "[[0, 1], [2, 0]]",
    "(slice(None), [0, 1])",
    "([0, 1], [1, 2])",
    "([0, 1], slice(None), [1, 0])",
    "(..., [0, 1])",
    "T([1, 0])",
    "T([[0], [2]])",
    "(0, slice(None), T([1, 1]))",
    "True",
    "False",
    "T([True, False, True])",
    "(slice(None), T([True, False, True, False]))",
    "M",
    "(M, 1)",
    "(..., None)",
    "T(1)",
    "T(True)",
    "(T(1), 0)",
    "(1, None, [0, 1])",
    "np.array([1, 2])",
    "np.array([True, False, True])",
    "range(2)",
    "slice(2, None, 3)",
    "slice(-2, 100)",
    "[]",
    "(T([0]), T([[0], [1]]))",
    "([[0, 1]], ..., 0)",
]


def _key(text, module, data):
    return eval(
        text, {"T": module.tensor, "np": np, "M": module.tensor(data[..., 0] > 5), "range": range}
    )


@pytest.mark.parametrize("text", KEYS)
def test_reading_equals_torch(text):
    data = np.arange(24.0).reshape(3, 4, 2)
    ours, theirs = rushlight.tensor(data), torch.tensor(data)
    got = ours[_key(text, rushlight, data)]
    want = theirs[_key(text, torch, data)]
    assert tuple(got.shape) == tuple(want.shape)
    np.testing.assert_array_equal(got.numpy(), want.numpy())


@pytest.mark.parametrize("text", KEYS)
@pytest.mark.parametrize("leaf", [False, True])
def test_gradients_and_assignment_equal_torch(text, leaf):
    data = np.arange(24.0).reshape(3, 4, 2)
    results = []
    for module in (rushlight, torch):
        x = module.tensor(data, requires_grad=True)
        y = x * module.tensor(1.0, dtype=module.float64)
        key = _key(text, module, data)
        part = y[key]
        value = module.tensor(2.0, requires_grad=True, dtype=module.float64)
        z = y * module.tensor(3.0, dtype=module.float64)
        z[key] = part * part if leaf else value
        z.backward(module.ones_like(z))
        grad = (
            np.zeros(())
            if leaf
            else (value.grad.numpy() if value.grad is not None else np.zeros(()))
        )
        results.append((z.detach().numpy(), x.grad.numpy(), grad))
    for got, want in zip(*results, strict=True):
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("3", IndexError),
        ("-4", IndexError),
        ("(0, 0, 0, 0)", IndexError),
        ("[3]", IndexError),
        ("T([0, -4])", IndexError),
        ("T([True, False])", IndexError),
        ("1.5", IndexError),
        ("'a'", TypeError),
        ("slice(None, None, -1)", ValueError),
        ("([0, 1], [0, 1, 2])", IndexError),
        ("T([1.0])", IndexError),
    ],
)
def test_bad_keys_raise_and_write_nothing(text, error):
    data = np.arange(24.0).reshape(3, 4, 2)
    ours = rushlight.tensor(data)
    key = _key(text, rushlight, data)
    with pytest.raises(error):
        ours[key]
    with pytest.raises((error, TypeError)):
        ours[key] = 1.0
    np.testing.assert_array_equal(ours.numpy(), data)


slices = st.builds(slice, *[st.none() | st.integers(-6, 6)] * 2, st.none() | st.integers(1, 4))
items = st.one_of(
    st.integers(-3, 2),
    slices,
    st.none(),
    st.just(...),
    st.lists(st.integers(-2, 1), min_size=2, max_size=2),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(items, max_size=4).map(tuple))
def test_any_key_equals_torch(key):
    data = np.arange(60.0).reshape(3, 4, 5)
    warnings.simplefilter("ignore")
    try:
        want = torch.tensor(data)[key]
    except (IndexError, ValueError, RuntimeError, TypeError):
        with pytest.raises((IndexError, ValueError, RuntimeError, TypeError)):
            rushlight.tensor(data)[key]
        return
    got = rushlight.tensor(data)[key]
    assert tuple(got.shape) == tuple(want.shape)
    np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_gather_and_scatter_refuse_bad_positions():
    x = rushlight.zeros(2, 3)
    for bad in (-1, 3):
        index = rushlight.tensor([[0, bad]])
        with pytest.raises(RuntimeError, match="out of bounds"):
            rushlight.gather(x, 1, index)
        with pytest.raises(RuntimeError, match="out of bounds"):
            x.scatter_(1, index, 1.0)
    assert x.tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float64"])
def test_nonzero_of_long_and_strided_lines(dtype):
    for shape in ((1,), (1023,), (1024,), (1025,), (3, 2500), (2, 3, 70)):
        a = (np.random.RandomState(0).randint(-2, 2, shape) > 0).astype(dtype)
        dense = rushlight.from_numpy(a)
        for view, x in ((a, dense), (a.T, dense.permute(*range(a.ndim)[::-1]))):
            assert np.array_equal(x.nonzero().numpy(), np.argwhere(view))
            assert np.array_equal(x[x != 0].numpy(), view[view != 0])
            assert int(x.count_nonzero()) == np.count_nonzero(view)
            assert rushlight.equal(x, x.clone()) and not rushlight.equal(x, (x == 0).to(x.dtype))
