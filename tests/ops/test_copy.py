"""Copies between layouts against NumPy: sizes around the blocks that are transposed at once."""

import itertools

import numpy as np
import pytest

import rushlight as rl
from tests.emulator import EMULATED

DTYPES = ["uint8", "int16", "float32", "float64"]
SIZES = [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 130]


def numbers(dtype, *shape):
    return (np.arange(np.prod(shape)) % 251).reshape(shape).astype(dtype)


def is_same(result, expected):
    return np.array_equal(result.cpu().numpy(), expected)


def check(result, expected):
    assert result.is_contiguous()
    assert is_same(result, expected)


@pytest.mark.parametrize("dtype", [*DTYPES, "complex128"])
@pytest.mark.parametrize("step", [2, 3, 4, 5])
def test_every_second_element_and_further_ones(dtype, step, device):
    """Down to the last element of the memory, of which no vector may read beyond."""
    for n in (*SIZES, 200, 1030):
        a = numbers(dtype, 3, (n - 1) * step + 1)
        t = rl.from_numpy(a).to(device)
        check(t[:, ::step].contiguous(), a[:, ::step])
        check(t[:, ::step].flip(0), a[::-1, ::step])
        check(t[1, ::step] + 1, a[1, ::step] + 1)
        two = rl.zeros(n, 2, dtype=t.dtype, device=device)
        two[:, 1] = t[2, ::step]
        check(two, np.stack([np.zeros(n), a[2, ::step]], 1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_several_operands_far_apart(dtype, device):
    """So large that they are brought together in shorter blocks."""
    n = 40 if EMULATED else 800
    a, b, c = (numbers(dtype, n, 2 * n) for _ in range(3))
    x, y, z = (rl.from_numpy(v).to(device)[:, ::2] for v in (a, b, c))
    a, b, c = (v[:, ::2] for v in (a, b, c))
    check(x * y - z, a * b - c)
    check(rl.addcmul(x, y, z), a + b * c)
    total = a + b  # x may show the array's own memory
    x.add_(y)
    assert is_same(x, total)


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices_are_transposed(dtype, device):
    for rows, columns in itertools.product(SIZES, SIZES):
        a = numbers(dtype, rows, columns)
        check(rl.from_numpy(a).to(device).t().contiguous(), a.T)
        wide = numbers(dtype, rows + 1, columns + 3)
        check(rl.from_numpy(wide).to(device)[1:, 1:-2].t().contiguous(), wide[1:, 1:-2].T)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 5, 7, 3), (2, 17, 3, 66), (4, 1, 20, 9), (2, 33, 2, 40)])
def test_dimensions_are_permuted(dtype, shape, device):
    a = numbers(dtype, *shape)
    x = rl.from_numpy(a).to(device)
    for order in itertools.permutations(range(4)):
        check(x.permute(*order).contiguous(), a.transpose(order))
        check(x[:, 1:].permute(*order).contiguous(), a[:, 1:].transpose(order))
        target = rl.zeros_like(x).permute(*order)
        target.copy_(rl.from_numpy(np.ascontiguousarray(a.transpose(order))))
        assert is_same(target, a.transpose(order))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", [(16, 128), (65, 1025), (130, 2100), (3, 70, 200)])
def test_operands_of_different_layouts(dtype, shape, device):
    """Transposed operands of pointwise ops are read a tile at a time."""
    a, b = numbers(dtype, *shape), numbers(dtype, *shape[::-1]).T
    backwards = tuple(reversed(range(len(shape))))
    x, y = rl.from_numpy(a).to(device), rl.from_numpy(b.T).to(device).permute(backwards)
    assert is_same(x * y, a * b)
    assert is_same(y != x, b != a)
    assert is_same(rl.where(y > 100, x, y), np.where(b > 100, a, b))
    assert is_same(y[1:, ..., 1:] * x[:-1, ..., :-1], b[1:, ..., 1:] * a[:-1, ..., :-1])
    target = rl.zeros_like(x).permute(backwards).contiguous()
    rl.mul(x, y, out=target.permute(backwards))
    assert is_same(target.permute(backwards), a * b)
    expected = a * b
    x.mul_(y)
    assert is_same(x, expected)
    if device == "cpu":
        assert np.array_equal(a, expected)  # which lies in the same memory


def test_copies_of_several_views_written_to_out(device):
    x = rl.arange(6.0, device=device).view(3, 2)
    out = [rl.empty(2, device=device) for _ in range(3)]
    assert rl.unbind_copy(x, 0, out=out) is None
    assert rl.stack(out).equal(x)
    whole = rl.empty(2, 3, device=device)
    assert rl.t_copy(x, out=whole) is whole
    assert whole.equal(x.t())


def test_repeat_in_any_layout(device):
    """One copy where repeated and kept dimensions fit into eight, else one for each tile."""
    x = rl.arange(6.0, device=device).reshape(2, 3)
    for t in (x, x.mT, x[:1].expand(4, 3), x[:, ::2], x[0, 0]):
        for repeats in ((2, 2), (1, 2), (2, 1, 3), (0, 2), (2, 2, 1, 2, 1, 2, 2, 2)):
            values = t.cpu().numpy()
            assert t.repeat(*repeats).tolist() == np.tile(values, repeats).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 5), (17, 66), (70, 33), (130, 20)])
def test_a_transposed_matrix_repeats_along_other_dimensions(dtype, shape, device):
    a = numbers(dtype, *shape)
    x = rl.from_numpy(a).to(device).t()
    check(x.repeat_interleave(3, 0), a.T.repeat(3, 0))
    for sizes in ((2, 1), (1, 3), (2, 3)):
        first, middle = sizes
        wanted = np.broadcast_to(a.T[None, :, None], (first, shape[1], middle, shape[0]))
        check(x[None, :, None].expand(wanted.shape).contiguous(), wanted)


FRACTIONS = [0.5, -0.5, -2.75, 3.999, 100.25, -127.5]
FAR = [2.0**31 - 128, -(2.0**31), 2.0**31, -3e9, 2.0**52 + 1, -(2.0**62), 1e19, -1e19, 1e38]
FAR += [float("inf"), -float("inf"), float("nan")]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("to", ["uint8", "int8", "int16", "int32", "int64"])
def test_long_rows_of_numbers_become_integers(dtype, to, device):
    """Each as alone, wherever in its row it lies and whatever lies beside it."""
    to = getattr(rl, to)
    alone = {v: rl.tensor(v, dtype=getattr(rl, dtype)).to(to).item() for v in FRACTIONS + FAR}
    assert alone[-2.75] == (-2 if to.is_signed else 254)
    for n in (17, 1024, 2500):
        values = list(itertools.islice(itertools.cycle(FRACTIONS), n))
        for far in (None, *FAR):
            if far is not None:
                values[n // 2] = values[-1] = far
            x = rl.tensor(values, dtype=getattr(rl, dtype), device=device)
            expected = [alone[v] for v in values]
            assert x.to(to).tolist() == expected
            assert x[::2].to(to).tolist() == expected[::2]


@pytest.mark.parametrize("n", [2047, 2048, 2049, 4001, 8191, 8192, 9000])
def test_rows_are_copied_to_any_place_in_a_page(n, device):
    """By one byte and more behind each other, in pages of 4 KB."""
    a = numbers("uint8", n)
    source = rl.from_numpy(np.concatenate([a, a])).to(device)
    for shift in (0, 1, 2, 4, 15, 31, 32, 63, 64, 4095):
        target = rl.zeros(2 * n + 4096, dtype=rl.uint8, device=device)
        target[shift : shift + n] = source[:n]
        expected = np.zeros(2 * n + 4096, np.uint8)
        expected[shift : shift + n] = a
        assert is_same(target, expected)
        assert is_same(source[shift % n :].clone(), np.concatenate([a, a])[shift % n :])
    x = rl.from_numpy(numbers("float32", 3, n)).to(device)
    assert is_same(x.roll(1, 1), np.roll(numbers("float32", 3, n), 1, 1))


def test_every_float16_in_a_long_row(device):
    """Widened and narrowed as NumPy does it, alone as in a row, and in a sum."""
    a = np.arange(65536, dtype=np.uint16).view(np.float16)
    a = a[~np.isnan(a)]
    x = rl.from_numpy(a).to(device)
    wide = a.astype(np.float32)
    assert is_same(x.float(), wide)
    assert is_same(x[::3].float(), wide[::3])
    assert is_same(x * 1, a)
    with np.errstate(over="ignore"):
        for between in (np.nextafter(wide, np.float32(0)), wide * np.float32(1.0004)):
            assert is_same(rl.from_numpy(between).to(device).half(), between.astype(np.float16))
    nan = rl.full((33,), float("nan"), device=device)
    assert nan.half().float().isnan().all() and (nan.half() + 1).isnan().all()


@pytest.mark.parametrize("columns", range(1, 20))
def test_few_columns(columns, device):
    """Of rows of a few elements the columns are copied, 128 elements at a time."""
    for rows in (*range(1, 42), 127, 128, 129, 300):
        wide = numbers("float32", 2, rows, columns + 3)
        x = rl.from_numpy(wide).to(device)
        part, expected = x[..., 2 : 2 + columns], wide[..., 2 : 2 + columns]
        check(part.contiguous(), expected)
        for kind in (rl.int32, rl.float64, rl.bool, rl.bfloat16):
            cast = part.to(kind, memory_format=rl.contiguous_format)
            check(cast.float(), expected.astype(bool) if kind is rl.bool else expected)
        for source in (part, part.int(), part[..., :1].expand(part.shape)):
            target = rl.full((2, rows, columns + 1), -1.0, device=device)
            target[..., 1:] = source
            assert is_same(target[..., 1:], source.cpu().float().numpy())
            assert (target[..., 0] == -1).all()


ASSIGNED = [
    ("x[:] = x[3]", 1), ("x[2:5] = x[3]", 1), ("x[...] = x[4:5]", 1), ("x[:] = x[0]", 2),
    ("x[:] = x[1:2]", 2), ("x[:, 1:] = x[1:, 1:]", 2), ("x[:, 1] = x[0, 3]", 2),
    ("x[1:, :4].fill_(x[0, 2]) if hasattr(x, 'fill_') else x[1:, :4].fill(x[0, 2])", 2),
]  # fmt: skip


@pytest.mark.parametrize(("code", "rank"), ASSIGNED)
def test_elements_of_the_target_itself(device, code, rank):
    """Fewer elements than are written may be some of these: the value is read before."""
    a = numbers("float32", *((10,) if rank == 1 else (2, 5)))
    x = rl.from_numpy(a.copy()).to(device)
    for tensor in (a, x):
        exec(code, {"x": tensor})
    assert is_same(x, a)
