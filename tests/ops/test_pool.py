"""Pooling against torch: windows, indices, ties and NaN, gradients of gradients."""

import pytest

import rushlight
from tests.ops.nn_compare import array, close, compare

OPTIONS = [(2,), (3, 2), (3, 1, 1), ((3, 2), (2, 1), (1, 0)), (2, 2, 0, 2), (3, 2, 1, 1, True)]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_max_pool2d(reference, device, options, dtype):
    compare(
        reference,
        lambda t, x: (t._C if t is rushlight else t.nn.functional).max_pool2d(x, *options),
        [array((2, 3, 8, 7), 1)],
        device,
        dtype=dtype,
    )


def test_max_pool_indices(reference):
    x = array((2, 3, 8, 7), 1).round()
    ours = rushlight._C.max_pool2d_with_indices(rushlight.tensor(x.tolist()), 3, 2)
    theirs = reference.nn.functional.max_pool2d(
        reference.tensor(x.tolist()), 3, 2, return_indices=True
    )
    for a, b in zip(ours, theirs, strict=True):
        close(a, b, "float32")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_wins(reference, dtype):
    x = [[[1.0, float("nan"), 2.0, 3.0], [4.0, 5.0, float("nan"), 1.0]]]
    ours = rushlight._C.max_pool2d(rushlight.tensor(x, dtype=getattr(rushlight, dtype)), 2)
    theirs = reference.max_pool2d(reference.tensor(x, dtype=getattr(reference, dtype)), 2)
    assert str(ours.tolist()) == str(theirs.tolist())


AVERAGES = [(2,), (3, 2, 1), (3, 2, 1, True), (3, 2, 1, True, False), (2, 1, 0, False, True, 3)]


@pytest.mark.parametrize("options", AVERAGES, ids=str)
def test_avg_pool2d(reference, device, options):
    compare(
        reference,
        lambda t, x: (t._C if t is rushlight else t.nn.functional).avg_pool2d(x, *options),
        [array((2, 3, 8, 7), 1)],
        device,
    )


@pytest.mark.parametrize("size", [1, 3, (2, 5), 9])
def test_adaptive(reference, size):
    full = size if isinstance(size, tuple) else (size, size)
    compare(
        reference,
        lambda t, x: (t._C if t is rushlight else t.nn.functional).adaptive_avg_pool2d(x, full),
        [array((2, 3, 8, 7), 1)],
    )
    compare(
        reference,
        lambda t, x: (t._C if t is rushlight else t._C._nn).adaptive_max_pool2d(x, full)[0],
        [array((2, 3, 8, 7), 1)],
    )


def test_one_dimension(reference):
    x = [array((2, 3, 9), 1)]
    for name in ("max_pool1d", "avg_pool1d"):
        compare(
            reference,
            lambda t, x, name=name: getattr(t._C if t is rushlight else t.nn.functional, name)(
                x, 3, 2, 1
            ),
            x,
            node=False,
        )


@pytest.mark.parametrize(
    "call",
    [
        "avg_pool1d(x[0], 3, 2, 1)",
        "avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)",
        "avg_pool2d(x, 2, divisor_override=-1)",
        "avg_pool3d(x.unsqueeze(2), (1, 3, 2), padding=(0, 1, 1))",
        "max_pool2d(x, 3, 2, 1)",
        "max_pool3d(x.unsqueeze(2), (1, 2, 2), return_indices=True)[1]",
        "conv2d(x, x[:, :, :3, :3], x[:, 0, 0, 0], stride=2, padding=1)",
        "conv_transpose2d(x, x[:2, :, :2, :3], stride=2, padding=1)",
    ],
)
def test_integers(reference, call):
    """torch has these on the CPU too: sums wrap around, means are truncated."""
    values = [(7919 * i) % 2003 - 1000 for i in range(2 * 2 * 7 * 5)]
    results = []
    for library in (rushlight, reference):
        x = library.tensor(values).reshape(2, 2, 7, 5) * (1 << 40)
        results.append(eval("F." + call, {"F": library.nn.functional, "x": x}).tolist())
    assert results[0] == results[1]
