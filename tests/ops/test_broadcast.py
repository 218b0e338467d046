"""Broadcasts: rows plus a row, a column, a channel or a number, at widths around the four elements
that a GPU moves at once, from addresses that are aligned and that are not. Values are the CPU's.
"""

import pytest

import rushlight as T

WIDTHS = [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 64, 255, 256, 257, 1028]
DTYPES = [T.float32, T.float16, T.bfloat16, T.float64, T.int64]


def values(*shape, dtype=T.float32):
    T.manual_seed(sum(shape))
    return T.randint(-64, 64, shape).to(dtype)


def other(kind, rows, width, dtype):
    return {
        "row": values(width, dtype=dtype),
        "rows of one": values(1, width, dtype=dtype),
        "column": values(rows, 1, dtype=dtype),
        "number": values(1, dtype=dtype)[0],
        "row that steps": values(2 * width, dtype=dtype)[::2],
        "row from the second": values(width + 1, dtype=dtype)[1:],
        "column of a row": values(rows, 3, dtype=dtype)[:, 1:2],
        "both": values(rows, width, dtype=dtype),
    }[kind]


KINDS = ["row", "rows of one", "column", "number", "row that steps", "row from the second",
         "column of a row", "both"]  # fmt: skip


def to_device(x, device):
    """A copy with the same strides, which .to() alone does not keep where memory has gaps."""
    size = sum((s - 1) * d for s, d in zip(x.shape, x.stride(), strict=True)) + 1
    flat = T.zeros(x.storage_offset() + size, dtype=x.dtype, device=device)
    return flat.as_strided(x.shape, x.stride(), x.storage_offset()).copy_(x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_and(kind, dtype, device):
    for width in WIDTHS:
        for rows in (1, 5):
            x, y = values(rows, width, dtype=dtype), other(kind, rows, width, dtype)
            wide = values(rows, width + 4, dtype=dtype)
            for a in (x, wide[:, :width], wide[:, 4:], wide[:, 1 : width + 1]):
                ours, theirs = to_device(a, device), to_device(y, device)
                for left, right, cpu in (
                    (ours, theirs, (a, y)), (theirs, ours, (y, a))
                ):  # fmt: skip
                    sums = left - right
                    assert T.equal(sums.cpu(), cpu[0] - cpu[1])
                    assert sums.stride() == (cpu[0] - cpu[1]).stride()
                    assert T.equal((left > right).cpu(), cpu[0] > cpu[1])
                assert T.equal((ours * 3 + 1).cpu(), a * 3 + 1)
                assert T.equal(ours.clone().add_(theirs).cpu(), a.clone().add_(y))


@pytest.mark.parametrize("width", WIDTHS)
def test_conditions_and_three_operands(width, device):
    x, y = values(6, width), values(width)
    for condition in (x > y, y > 0, x[:, :1] > 0, T.tensor(True)):
        cpu = T.where(condition, x, y)
        assert T.equal(T.where(condition.to(device), x.to(device), y.to(device)).cpu(), cpu)
    cpu = T.addcmul(x[:, :1], x, y, value=2)
    ours = x.to(device)
    assert T.equal(T.addcmul(ours[:, :1], ours, y.to(device), value=2).cpu(), cpu)
    assert T.equal(T.lerp(ours, y.to(device), 0.5).cpu(), T.lerp(x, y, 0.5))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("channels", [1, 3, 8])
def test_channels(width, channels, device):
    x, bias = values(2, channels, width), values(channels, 1)
    assert T.equal((x.to(device) + bias.to(device)).cpu(), x + bias)
    images = values(2, channels, 3, width)
    assert T.equal((images.to(device) * bias[..., None].to(device)).cpu(), images * bias[..., None])
    mask = images[:, :1] > 0
    cpu = images.masked_fill(mask, -1.0)
    assert T.equal(images.to(device).masked_fill(mask.to(device), -1.0).cpu(), cpu)


@pytest.mark.parametrize("width", [1, 3, 4, 5, 64, 257])
def test_gradients(width, device):
    found = []
    for to in ("cpu", device):
        x, y, z = (values(*s).to(to).div(64) for s in ((5, width), (width,), (5, 1)))
        for leaf in (x, y, z):
            leaf.requires_grad_()
        result = T.tanh(x + y) * z + T.sigmoid(z) / (x * x + 1)
        result.pow(2).sum().backward()
        found.append((x.grad, y.grad, z.grad))
    for cpu, ours in zip(*found, strict=True):
        T.testing.assert_close(ours.cpu(), cpu, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("width", [3, 4, 8, 257])
def test_results_that_are_given(width, device):
    x, y = values(5, width), values(width)
    for gap in (0, 1, 4):
        room = T.zeros(5, width + gap + 1, device=device)
        out = room[:, gap : gap + width]
        T.add(x.to(device), y.to(device), out=out)
        assert T.equal(out.cpu(), x + y)
        assert room.sum().item() == (x + y).sum().item()  # nothing beside it was written
    out = T.zeros(width, 5, device=device).t()
    T.add(x.to(device), y.to(device), out=out)
    assert T.equal(out.cpu(), x + y)


def test_nothing(device):
    for shape in ((0, 4), (4, 0), (0,)):
        x = T.zeros(*shape, device=device)
        assert (x + T.ones(shape[-1], device=device)).shape == shape


REPEATED = {  # what is computed once: a number for each row, a row for all, one number
    "along the last": ((70, 1), (70, 200)),
    "along the last two": ((5, 1, 1), (5, 30, 90)),
    "along both ends": ((1, 9, 1), (6, 9, 200)),
    "along the first": ((1, 300), (40, 300)),
    "everywhere": ((1,), (9000,)),
    "in short rows": ((900, 1), (900, 9)),
}


@pytest.mark.parametrize("where", REPEATED)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64", "bool", "complex128"])
def test_what_repeats_is_as_if_it_were_dense(where, dtype, device):
    small, large = REPEATED[where]
    T.manual_seed(len(large))
    whole = T.randint(0, 5, small).to(getattr(T, dtype)).to(device)
    x = whole.expand(large)
    dense = x.contiguous()
    assert dense.tolist() == x.tolist()
    for function in (
        lambda v: v == 3,
        lambda v: v + 1,
        lambda v: T.where(v == 2, v, v + v),
        lambda v: v.to(T.complex64) * 2,
        lambda v: v * v if dtype != "bool" else v ^ v,
    ):
        assert T.equal(function(x), function(dense))
    turned = T.zeros(large[::-1], dtype=dense.dtype, device=device).permute(
        *reversed(range(len(large)))
    )  # results that are not dense
    if dtype != "bool":
        assert T.equal(T.add(x, x, out=turned), dense + dense)
    if dtype.startswith("float"):
        assert T.equal(T.sin(x), T.sin(dense))
        mantissas, exponents = T.frexp(x)
        assert T.equal(mantissas, T.frexp(dense)[0])
        assert T.equal(exponents, T.frexp(dense)[1])
