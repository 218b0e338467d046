"""equal() compares in parts that grow, so that tensors that differ early are told apart early."""

import pytest

import rushlight as T


@pytest.mark.parametrize(
    "shape", [(1,), (3000,), (2, 3000), (1, 2, 2, 1500), (3, 1, 5, 40, 11)], ids=str
)
@pytest.mark.parametrize("dtype", [T.float32, T.bfloat16, T.int64, T.bool], ids=str)
def test_one_element_that_differs(shape, dtype, device):
    x = T.ones(shape, dtype=dtype, device=device)
    assert T.equal(x, x.clone())
    n = x.numel()
    for at in {0, n // 3, n // 2, n - 1, min(n - 1, 1024), min(n - 1, 1500)}:
        y = x.clone()
        y.view(-1)[at] = 0
        assert not T.equal(x, y) and not T.equal(y, x)
        assert not T.equal(y.flip(0), x) and T.equal(y, y.mT.contiguous().mT if y.dim() > 1 else y)


def test_nan_differs_from_itself(device):
    x = T.full((2, 1500), float("nan"), device=device)
    assert not T.equal(x, x.clone())
