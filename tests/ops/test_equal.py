"""torch.equal, which compares large tensors in parts, and reductions of a dimension of size 1."""

import pytest

import rushlight as T


@pytest.mark.parametrize(
    "shape", [(1,), (3000,), (1, 5000), (40, 7, 30), (1, 1, 2, 2000), (2000, 1)]
)
def test_one_element_anywhere_differs(shape, device):
    x = T.arange(2 * T.Size(shape).numel(), device=device).reshape(*shape[:-1], -1)[..., ::2]
    assert T.equal(x, x.clone())
    for at in {0, 1, 1023, 1024, 1025, x.numel() // 2, x.numel() - 1}:
        if at < x.numel():
            other = x.contiguous().clone()
            other.view(-1)[at] += 1
            assert not T.equal(x, other)
            assert not T.equal(other, x)


def test_nan_and_other_dtypes(device):
    x = T.zeros(3000, device=device)
    assert T.equal(x, -x) and T.equal(x, x.double())
    x[2999] = float("nan")
    assert not T.equal(x, x.clone())
    assert not T.equal(x, T.zeros(3001, device=device))


@pytest.mark.parametrize("dtype", [T.float32, T.bfloat16, T.int64, T.bool], ids=str)
def test_a_dimension_of_size_1_is_reduced(dtype, device):
    whole = (T.arange(4 * 1 * 90 * 2, device=device) % 3).to(dtype).reshape(4, 1, 90, 2)
    for x in (whole, whole[..., ::2], whole.transpose(2, 3)):
        only = x[:, 0]
        for name in ("amax", "amin", "sum", "prod", "count_nonzero", "any", "all"):
            reduced = getattr(x, name)(1)
            expected = only.bool() if name in ("any", "all", "count_nonzero") else only
            assert T.equal(reduced.double(), expected.double())
        values, indices = x.max(1)
        assert T.equal(values, only) and indices.dtype == T.int64 and not indices.any()
        if dtype is not T.bool:  # which torch refuses
            assert x.argmin(1, keepdim=True).shape == x.shape and not x.argmin(1).any()
        if dtype.is_floating_point:
            assert T.equal(x.mean(1), only) and not x.var(1, correction=0).any()
            assert T.equal(x.logsumexp(1), only) and T.equal(x.norm(dim=1), only.abs())


def test_indices_that_repeat_in_one_dimension(device):
    index = T.tensor([3, 0, 3, 3, 1], device=device)
    source = T.tensor([1.0, 2, 4, 8, 16], device=device)
    for values in (source, source.repeat_interleave(3)[::3], source.flip(0).flip(0)):
        assert T.zeros(5, device=device).index_add(0, index, values).tolist() == [2, 16, 0, 13, 0]
    rows = T.stack([source, -source], 1)
    added = T.zeros(5, 2, device=device).index_add(0, index, rows)
    assert added.tolist() == [[2, -2], [16, -16], [0, 0], [13, -13], [0, 0]]
    wide = source[:, None].expand(5, 40)
    assert T.zeros(5, 40, device=device).index_add(0, index, wide)[:, 39].tolist() == [
        2, 16, 0, 13, 0]  # fmt: skip
    truth = T.zeros(5, dtype=T.bool, device=device)
    truth = truth.index_put((index,), T.ones(5, dtype=T.bool, device=device), accumulate=True)
    assert truth.tolist() == [True, True, False, True, False]
    last = T.zeros(5, device=device).index_put((index,), source)
    assert last.tolist()[1:] == [16, 0, 8, 0]
