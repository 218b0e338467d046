"""Calls of a few elements that do not lie dense, and of integers: they skip what larger calls need,
so each is compared with the same call on dense copies, and with torch."""

import pytest

import rushlight as torch
from tests.conftest import ask

LAYOUTS = {
    "strided": lambda x: x.new_zeros(2 * x.size(0), 2 * x.size(1))[::2, ::2].copy_(x),
    "offset": lambda x: x.new_zeros(x.size(0) + 1, x.size(1) + 1)[1:, 1:].copy_(x),
    "transposed": lambda x: x.t().contiguous().t(),
    "rows": lambda x: x[:1].expand(x.shape),
    "columns": lambda x: x[:, :1].expand(x.shape),
    "one": lambda x: x[:1, :1].expand(x.shape),
    "dense": lambda x: x,
}
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8]


def matrix(rows, columns, dtype, device, first=0):
    return (torch.arange(first, first + rows * columns).reshape(rows, columns) % 7).to(
        device, dtype
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", [(1, 1), (1, 5), (4, 1), (4, 4), (3, 7), (8, 8), (5, 13)])
def test_layouts_of_one_operand(device, size, layout, dtype):
    x = LAYOUTS[layout](matrix(*size, dtype, device))
    dense = x.contiguous()
    for op in (torch.neg, torch.square, torch.isnan, torch.exp):
        y = op(x)
        assert torch.equal(y, op(dense)), op
        transposed = layout == "transposed" and min(size) > 1
        assert y.stride() == (x.stride() if transposed else y.contiguous().stride())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_layouts_of_two_operands(device, first, second, dtype):
    x = LAYOUTS[first](matrix(4, 6, dtype, device))
    y = LAYOUTS[second](matrix(4, 6, dtype, device, 3))
    for op in (torch.add, torch.mul, torch.maximum, torch.lt):
        assert torch.equal(op(x, y), op(x.contiguous(), y.contiguous())), op
    assert torch.equal(x + y[0].contiguous(), x.contiguous() + y[0].contiguous())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_choosing_by_a_mask(device, layout, dtype):
    x, y = (matrix(4, 6, dtype, device, k) for k in (0, 3))
    mask = x % 2 == 0
    laid = LAYOUTS[layout]
    a, b, m = laid(x), laid(y), laid(mask)
    copies = [t.contiguous() for t in (a, b, m)]
    assert torch.equal(torch.where(m, a, y), torch.where(copies[2], copies[0], y))
    assert torch.equal(torch.where(mask, x, b), torch.where(mask, x, copies[1]))
    assert torch.equal(torch.where(m, a, 1), torch.where(copies[2], copies[0], 1))
    assert torch.equal(a.masked_fill(m, 5), copies[0].masked_fill(copies[2], 5))
    assert x.masked_fill_(mask, 5).tolist() == matrix(4, 6, dtype, device).where(~mask, 5).tolist()


@pytest.mark.parametrize("small", [(4, 1), (1, 6), (6,), (1,), ()], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_small_operands_are_broadcast(device, layout, small):
    x = LAYOUTS[layout](matrix(4, 6, torch.float64, device))
    y = torch.arange(100.0, dtype=torch.float64, device=device)[: torch.zeros(small).numel() or 1]
    y = y.reshape(small).requires_grad_()
    whole = y.detach().expand(4, 6).contiguous()
    for a, b, ours in ((x, whole, lambda: x * y), (whole, x, lambda: y * x)):
        product = ours()
        assert torch.equal(product.detach(), a.contiguous() * b.contiguous())
        (grad,) = torch.autograd.grad(product.sum(), y)
        assert torch.equal(grad, x.contiguous().sum_to_size(small))


def test_gradients_of_layouts(device):
    base = matrix(4, 4, torch.float64, device).requires_grad_()
    other = matrix(4, 8, torch.float64, device, 2)[:, ::2]
    (base.t() * other).sum().backward()
    assert torch.equal(base.grad, other.t())


def test_a_vector_with_a_step(device):
    x = torch.arange(20.0, device=device)[1::3]
    assert (-x).tolist() == [-1, -4, -7, -10, -13, -16, -19] and (-x).stride() == (1,)


def test_what_reaches_past_its_storage_is_refused(device):
    x = torch.ones(4, 8, device=device)[:, ::2]
    x.untyped_storage().resize_(16)
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.neg(x)


def integers(library, device):
    found = []
    for dtype in ("uint8", "int8", "int16", "int32", "int64", "bool"):
        x = library.tensor([0, 1, 2, 100, 127], device=device).to(getattr(library, dtype))
        for other in (0, 1, 127, 128, -1, 300, True, 1.5, x):
            for op in "add sub mul maximum lt eq bitwise_and floor_divide logical_and".split():
                try:
                    y = getattr(library, op)(x, other)
                    found.append((str(y.dtype), y.tolist()))
                except (RuntimeError, TypeError, ZeroDivisionError) as e:
                    found.append(type(e).__name__)
        for op in "neg square bitwise_not logical_not isnan exp sign".split():
            try:
                y = getattr(library, op)(x)
                found.append((str(y.dtype), [round(v, 4) for v in y.tolist()]))
            except (RuntimeError, TypeError) as e:
                found.append(type(e).__name__)
        for alpha in (1, 2, -1, True):
            try:
                found.append(library.add(x, x, alpha=alpha).tolist())
            except (RuntimeError, TypeError) as e:
                found.append(type(e).__name__)
    return found


def test_integers_and_numbers(device):
    assert integers(torch, device) == ask(lambda torch: integers(torch, "cpu"))
