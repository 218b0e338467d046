"""scatter_reduce and its relatives, put, masked_scatter, and copies with a part replaced: against
plain Python loops and finite differences. Values against torch are in tests/oracle.
"""

import math

import numpy
import pytest

import rushlight as torch
from rushlight.autograd import gradcheck, gradgradcheck

REDUCTIONS = {
    "sum": sum,
    "prod": math.prod,
    "mean": lambda v: sum(v) / len(v),
    "amax": max,
    "amin": min,
}


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_scatter_reduce(device, reduce, include_self):
    torch.manual_seed(0)
    x, src = (torch.randn(n, 4, dtype=torch.float64).to(device) for n in (3, 5))
    index = torch.randint(3, (5, 4)).to(device)
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
    assert gradgradcheck(both, (x, src))


def test_equal_extremes_share_the_gradient(device):
    x = torch.tensor([2.0, 0.0], requires_grad=True, device=device)
    src = torch.tensor([2.0, 1.0], requires_grad=True, device=device)
    x.scatter_reduce(0, torch.tensor([0, 1], device=device), src, "amax").sum().backward()
    assert x.grad.tolist() == [0.5, 0] and src.grad.tolist() == [0.5, 1]


@pytest.mark.parametrize("name", ["scatter_reduce", "index_reduce"])
@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
def test_reduced_in_place_into_a_tensor_without_a_gradient(reduce, name, device):
    """What is overwritten is read by the gradient of the source: torch_geometric's maxima."""
    torch.manual_seed(0)
    target = torch.randn(3, dtype=torch.float64).to(device)
    index = torch.tensor([0, 1, 1, 2, 0]).to(device)
    found = []
    for form in (name, name + "_"):
        torch.manual_seed(1)
        src = torch.randn(5, dtype=torch.float64).to(device).requires_grad_()
        out = getattr(target.clone(), form)(0, index, src, reduce, include_self=False)
        (out * torch.arange(1.0, 4.0, device=device)).sum().backward()
        found.append((out, src.grad))
    assert torch.equal(found[0][0], found[1][0]) and torch.equal(found[0][1], found[1][1])
    assert found[0][1].count_nonzero() >= 3


def test_scatter_with_reduce(device):
    x = torch.tensor([2.0, 3.0], device=device)
    index, src = torch.tensor([0, 0, 1]).to(device), torch.tensor([4.0, 5.0, 6.0]).to(device)
    assert x.scatter(0, index, src, reduce="multiply").tolist() == [40, 18]
    assert x.scatter(0, index, src, reduce="add").tolist() == [11, 9]
    assert x.scatter(0, index, 2.0, reduce="multiply").tolist() == [8, 6]
    with pytest.raises(RuntimeError, match="either add or multiply"):
        x.scatter(0, index, src, reduce="max")
    # IndexError where a GPU reports it later than the call (docs/gpu.md)
    with pytest.raises((RuntimeError, IndexError), match="out of bounds"):
        x.scatter(0, torch.tensor([5], device=device), src, reduce="multiply").cpu()


def test_a_product_with_zeros_has_gradients(device):
    x = torch.tensor([2.0, 3.0, 0.0], requires_grad=True, device=device)
    src = torch.tensor([0.0, 5.0, 0.0, 0.0, 7.0], requires_grad=True, device=device)
    index = torch.tensor([0, 0, 1, 1, 2], device=device)
    result = x.scatter_reduce(0, index, src, "prod")
    result.sum().backward()
    assert result.tolist() == [0, 0, 0]
    assert src.grad.tolist() == [10, 0, 0, 0, 0] and x.grad.tolist() == [0, 0, 7]


def test_many_values_for_one_element_take_linear_time(device):
    n = 1 << 16
    zeros, ones = torch.zeros(n, dtype=torch.int64), torch.ones(n)
    zeros, ones = zeros.to(device), ones.to(device)
    x = torch.full((1,), 2.0).to(device)
    assert x.scatter_reduce(0, zeros, ones, "prod").item() == 2
    assert x.index_reduce(0, zeros, ones * 3, "mean", include_self=False).item() == 3


def test_whole_numbers_keep_their_limits(device):
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        x = torch.tensor([5, 6], dtype=dtype).to(device)
        index = torch.zeros(1, dtype=torch.int64).to(device)
        low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        for reduce, value in (("amax", low), ("amin", high)):
            src = torch.tensor([value], dtype=dtype).to(device)
            result = x.scatter_reduce(0, index, src, reduce, include_self=False)
            assert result.tolist() == [value, 6]


def test_put_and_its_gradients(device):
    x = torch.arange(4.0).reshape(2, 2).to(device).requires_grad_()
    source = torch.tensor([5.0, 7.0]).to(device).requires_grad_()
    index = torch.tensor([0, -1]).to(device)
    result = torch.put(x.t(), index, source)
    assert result.tolist() == [[5, 2], [1, 7]] and result.stride() == (1, 2)
    result.sum().backward()
    assert x.grad.tolist() == [[0, 1], [1, 0]] and source.grad.tolist() == [1, 1]
    none = torch.zeros(0, device=device, requires_grad=True)
    torch.put(x, index[:0], none).sum().backward()
    assert none.grad.shape == (0,)
    y = torch.zeros(2, 2, device=device)
    y.put_(torch.tensor([1, 1]).to(device), source.detach(), accumulate=True)
    assert y.tolist() == [[0, 12], [0, 0]]
    with pytest.raises(IndexError, match="out of range"):
        torch.put(torch.zeros(2), torch.tensor([2]), torch.ones(1))


def test_masked_scatter_counts_the_mask(device):
    mask = torch.tensor([[True, False], [True, True]]).to(device)
    x = torch.zeros(2, 2, device=device, requires_grad=True)
    source = torch.tensor([5.0, 6.0, 7.0, 8.0]).to(device).requires_grad_()
    result = x.masked_scatter(mask, source)
    assert result.tolist() == [[5, 0], [6, 7]]
    (result * torch.tensor([[1.0, 2.0], [3.0, 4.0]]).to(device)).sum().backward()
    assert x.grad.tolist() == [[0, 2], [0, 0]] and source.grad.tolist() == [1, 3, 4, 0]
    with pytest.raises(RuntimeError, match="number of ones in mask"):
        torch.zeros(2).masked_scatter(torch.tensor([True, True]), torch.ones(1))
    empty = torch.ones(0, device=device)
    assert x.masked_scatter(torch.zeros_like(mask), empty).tolist() == [[0, 0], [0, 0]]


def test_parts_are_replaced_in_a_copy(on_device):
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


def test_what_is_made_by_writes_is_new(device):
    """A result's _version is 0, though a copy was written to."""
    x, at = torch.ones(3, 3, device=device), torch.tensor([0, 2], device=device)
    rows = torch.zeros(2, 3, device=device)
    leaf = x.clone().requires_grad_()
    for made in (
        x.scatter(0, at[None], rows), leaf.scatter_add(0, at[None], rows), x.index_add(0, at, rows),
        leaf.index_copy(0, at, rows), x.index_fill(0, at, 2), x.index_put((at,), rows),
        x.put(at, rows[0, :2]), torch.fill(x, 2), torch.nonzero_static(x, size=12),
        x.as_strided_scatter(rows, (2, 3), (3, 1)), torch.ones((), device=device).index_fill(
            0, at[:1], 2.0),
    ):  # fmt: skip
        assert made._version == 0
    made = leaf.index_add(0, at, rows)
    y = made * made
    y.sum().backward()
    assert torch.equal(leaf.grad, torch.full((3, 3), 2.0, device=device))


@pytest.mark.parametrize("how", ["scatter", "scatter_add", "sum", "mean", "prod", "amax"])
@pytest.mark.parametrize("sizes", [(), (1,)])
def test_gradient_of_more_sources_than_a_scalar_of_indices(how, sizes, device):
    """It has the shape of the sources, of which the index takes the first."""
    x = torch.ones(2, device=device, requires_grad=True)
    src = torch.tensor([1.0, 2.0, 3.0], device=device, requires_grad=True)
    index = torch.zeros(sizes, dtype=torch.int64, device=device)
    if how.startswith("scatter"):
        out = getattr(x, how)(0, index, src * 1)
    else:
        out = x.scatter_reduce(0, index, src * 1, how)
    out.sum().backward()
    assert src.grad.shape == (3,)
    assert src.grad[0] > 0 and not src.grad[1:].any()


@pytest.mark.parametrize("shape", [(70, 3), (2, 70, 3), (70, 1, 5), (64, 2, 7), (5, 66, 1)])
def test_many_short_lines(shape, device):
    """Walked along another dimension: the order along the indexed one stays."""
    rng = numpy.random.RandomState(1)
    for dim in range(len(shape)):
        index = rng.randint(0, shape[dim], shape)
        x, y = (rng.randint(-9, 9, shape).astype("float32") for _ in range(2))
        gathered = numpy.take_along_axis(x, index, dim)
        ours = torch.from_numpy(x.copy()).to(device)
        at = torch.from_numpy(index).to(device)
        assert ours.gather(dim, at).tolist() == gathered.tolist()
        added, greatest, last = x.copy(), x.copy(), x.copy()
        for i in numpy.ndindex(*shape):
            to = (*i[:dim], index[i], *i[dim + 1 :])
            added[to] += y[i]
            greatest[to] = max(greatest[to], y[i])
            last[to] = y[i]
        src = torch.from_numpy(y).to(device)
        assert ours.scatter_add(dim, at, src).tolist() == added.tolist()
        assert ours.scatter_reduce(dim, at, src, "amax").tolist() == greatest.tolist()
        if device == "cpu":  # where several meet, a GPU may keep any
            assert ours.scatter(dim, at, src).tolist() == last.tolist()
        with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
            ours.cpu().scatter(dim, (at + shape[dim]).cpu(), src.cpu())


@pytest.mark.parametrize("op", ["scatter_reduce", "index_reduce"])
def test_second_gradients_of_a_product(op, device):
    """Where two zeros meet, the second derivative is not 0, and is refused."""
    x = torch.ones(1, dtype=torch.float64, device=device, requires_grad=True)
    index = torch.zeros(2, dtype=torch.int64, device=device)

    def second(values):
        src = torch.tensor(values, dtype=torch.float64, device=device, requires_grad=True)
        out = getattr(torch, op)(x, 0, index, src, "prod")
        (g,) = torch.autograd.grad(out.sum(), src, create_graph=True)
        return g.tolist(), [v.tolist() for v in torch.autograd.grad(g.sum(), (x, src))]

    assert second([0.0, 2.0]) == ([2, 0], [[2], [1, 1]])
    name = "source" if op == "index_reduce" else "src"
    words = rf"{op}\(\): Double backward is unsupported for {name} when >1 zeros in {name} are"
    with pytest.raises(RuntimeError, match=words):
        second([0.0, 0.0])
