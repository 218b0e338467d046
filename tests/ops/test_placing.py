"""Reductions at indices, copies with a part replaced, quantiles: against plain Python loops.

Values against torch are in tests/oracle; every function's docstring has an example that runs.
"""

import math

import pytest

import rushlight as torch
from rushlight.autograd import gradcheck

REDUCTIONS = {
    "sum": sum,
    "prod": math.prod,
    "mean": lambda v: sum(v) / len(v),
    "amax": max,
    "amin": min,
}


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_scatter_reduce(reduce, include_self):
    torch.manual_seed(0)
    x, src = torch.randn(3, 4).double(), torch.randn(5, 4).double()
    index = torch.randint(3, (5, 4))
    result = x.scatter_reduce(0, index, src, reduce, include_self=include_self)
    for i in range(3):
        for j in range(4):
            sent = [src[k, j].item() for k in range(5) if index[k, j] == i]
            own = [x[i, j].item()] if include_self or not sent else []
            assert result[i, j].item() == pytest.approx(REDUCTIONS[reduce](own + sent))
    whole = index[:, 0]
    if reduce != "sum":
        by_row = x.index_reduce(0, whole, src, reduce, include_self=include_self)
        spread = whole.unsqueeze(1).expand(5, 4)
        expected = x.scatter_reduce(0, spread, src, reduce, include_self=include_self)
        assert torch.equal(by_row, expected)

    def both(a, b):
        return a.scatter_reduce(0, index, b, reduce, include_self=include_self)

    assert gradcheck(both, (x.requires_grad_(), src.requires_grad_()))


def test_equal_extremes_share_the_gradient():
    x = torch.tensor([2.0, 0.0], requires_grad=True)
    src = torch.tensor([2.0, 1.0], requires_grad=True)
    x.scatter_reduce(0, torch.tensor([0, 1]), src, "amax").sum().backward()
    assert x.grad.tolist() == [0.5, 0] and src.grad.tolist() == [0.5, 1]


def test_scatter_with_reduce():
    x = torch.tensor([2.0, 3.0])
    index, src = torch.tensor([0, 0, 1]), torch.tensor([4.0, 5.0, 6.0])
    assert x.scatter(0, index, src, reduce="multiply").tolist() == [40, 18]
    assert x.scatter(0, index, src, reduce="add").tolist() == [11, 9]
    assert x.scatter(0, index, 2.0, reduce="multiply").tolist() == [8, 6]
    with pytest.raises(RuntimeError, match="either add or multiply"):
        x.scatter(0, index, src, reduce="max")
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.scatter(0, torch.tensor([5]), src, reduce="multiply")


def test_parts_are_replaced_in_a_copy():
    x = torch.zeros(3, 3, requires_grad=True)
    src = torch.ones(3, requires_grad=True)
    for result in (
        torch.select_scatter(x, src, 1, -1),
        torch.slice_scatter(x, src.unsqueeze(0), 0, 1, 2),
        torch.diagonal_scatter(x, src),
        torch.as_strided_scatter(x, src, (3,), (2,)),
    ):
        gx, gs = torch.autograd.grad(result.sum(), [x, src])
        assert result.sum() == 3 and gx.sum() == 6 and gs.sum() == 3
    assert x.sum() == 0
    with pytest.raises(RuntimeError, match="size equal to the slice"):
        torch.select_scatter(x, torch.ones(2), 0, 0)


def test_quantiles():
    x = torch.tensor([[3.0, 1.0, 2.0], [6.0, 4.0, float("nan")]])
    assert torch.quantile(x[0], 0.25).item() == 1.5
    assert torch.quantile(x, 0.5, dim=1)[0] == 2 and torch.quantile(x, 0.5, dim=1)[1].isnan()
    assert torch.nanquantile(x, 0.5, dim=1, keepdim=True).tolist() == [[2], [5]]
    both = torch.quantile(x[0], torch.tensor([0.0, 1.0]))
    assert both.tolist() == [1, 3]
    for way, expected in (("lower", 1), ("higher", 2), ("midpoint", 1.5), ("nearest", 1)):
        assert torch.quantile(x[0], 0.2, interpolation=way).item() == expected
    with pytest.raises(RuntimeError, match=r"range \[0, 1\]"):
        torch.quantile(x, 1.5)


def test_resize_keeps_what_fits():
    x = torch.arange(6)
    pointer = x.data_ptr()
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]] and x.data_ptr() == pointer
    assert x.resize_(8).tolist()[:6] == [0, 1, 2, 3, 4, 5]
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        torch.ones(2, requires_grad=True).resize_(3)
    with pytest.raises(RuntimeError):
        x.resize_(-1)


def test_names_of_numpy():
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(x.sum(axis=0, keepdims=True), x.sum(dim=0, keepdim=True))
    assert torch.equal(torch.cat([x, x], axis=1), torch.cat([x, x], dim=1))
    assert torch.equal(torch.add(x1=x, x2=x), x + x)
    with pytest.raises(TypeError, match="multiple values for argument 'axis'"):
        x.sum(0, axis=0)


def test_creation_follows_out():
    out = torch.empty(0, dtype=torch.float64)
    assert torch.arange(3, out=out) is out and out.tolist() == [0, 1, 2]
    assert torch.linspace(0, 1, 3, out=out).tolist() == [0, 0.5, 1] and out.dtype == torch.float64
    assert torch.zeros(3, out=out).tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
        torch.ones(2, dtype=torch.int64, out=out)
    assert torch.arange(3.9, dtype=torch.int64).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="0-dimensional start and end"):
        torch.linspace(torch.zeros(2), 1, 3)


def test_numpy_scalars_keep_their_dtype():
    numpy = pytest.importorskip("numpy")
    assert torch.tensor([numpy.float64(1), 2]).dtype == torch.float64
    assert torch.tensor([numpy.float32(1)]).dtype == torch.float32
    assert torch.tensor([numpy.uint8(1), 2.5]).dtype == torch.float32
    assert torch.tensor([torch.tensor(1.0, dtype=torch.float64)]).dtype == torch.float64


def test_a_0d_tensor_counts_as_a_line_of_one(device):
    x, here = torch.tensor(7.0, device=device), {"device": device}
    twice = torch.tensor([0, 0], **here)
    assert x.gather(0, twice).tolist() == [7, 7]
    assert x.reshape(1).gather(0, twice[0]).item() == 7
    x.scatter_add_(0, twice, torch.tensor([1.0, 2.0], **here))
    assert x.item() == 10
    x.scatter_(0, twice[0], torch.tensor([4.0, 5.0], **here))
    assert x.item() == 4
    source = torch.tensor(3.0, requires_grad=True, **here)
    torch.zeros(1, **here).scatter(0, twice[:1], source).sum().backward()
    assert source.grad.item() == 1
