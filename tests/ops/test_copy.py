"""Copies between layouts against NumPy: sizes around the blocks in which matrices are turned."""

import itertools

import numpy as np
import pytest

import rushlight as rl

DTYPES = ["uint8", "int16", "float32", "float64"]
SIZES = [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 130]


def numbers(dtype, *shape):
    return (np.arange(np.prod(shape)) % 251).reshape(shape).astype(dtype)


def check(result, expected):
    assert result.is_contiguous()
    assert np.array_equal(result.numpy(), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices_are_turned(dtype):
    for rows, columns in itertools.product(SIZES, SIZES):
        a = numbers(dtype, rows, columns)
        check(rl.from_numpy(a).t().contiguous(), a.T)
        wide = numbers(dtype, rows + 1, columns + 3)
        check(rl.from_numpy(wide)[1:, 1:-2].t().contiguous(), wide[1:, 1:-2].T)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 5, 7, 3), (2, 17, 3, 66), (4, 1, 20, 9), (2, 33, 2, 40)])
def test_dimensions_change_places(dtype, shape):
    a = numbers(dtype, *shape)
    for order in itertools.permutations(range(4)):
        check(rl.from_numpy(a).permute(*order).contiguous(), a.transpose(order))
        check(rl.from_numpy(a)[:, 1:].permute(*order).contiguous(), a[:, 1:].transpose(order))
        target = rl.from_numpy(np.zeros_like(a)).permute(*order)
        target.copy_(rl.from_numpy(np.ascontiguousarray(a.transpose(order))))
        assert np.array_equal(target.numpy(), a.transpose(order))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", [(16, 128), (65, 1025), (130, 2100), (3, 70, 200)])
def test_operands_of_different_layouts(dtype, shape):
    """Turned operands of pointwise ops are turned back a tile at a time."""
    a, b = numbers(dtype, *shape), numbers(dtype, *shape[::-1]).T
    x, y = rl.from_numpy(a), rl.from_numpy(b.T).permute(*reversed(range(len(shape))))
    assert np.array_equal((x * y).numpy(), a * b)
    assert np.array_equal((y != x).numpy(), b != a)
    assert np.array_equal(rl.where(y > 100, x, y).numpy(), np.where(b > 100, a, b))
    assert np.array_equal(
        (y[1:, ..., 1:] * x[:-1, ..., :-1]).numpy(), b[1:, ..., 1:] * a[:-1, ..., :-1]
    )
    target = rl.zeros_like(x).permute(*reversed(range(len(shape)))).contiguous()
    rl.mul(x, y, out=target.permute(*reversed(range(len(shape)))))
    assert np.array_equal(target.numpy().T, a * b)
    x.mul_(y)
    assert np.array_equal(x.numpy(), a)  # of the same memory as the array
