"""Rows of every length around a vector's, and their numbers around what is taken together: sums,
products, extremes and norms of each row against NumPy's in float64.
"""

import numpy
import pytest

import rushlight as T
from rushlight.nn import functional as F
from tests.emulator import EMULATED

LENGTHS = (
    [15, 31, 32, 50, 65] if EMULATED else [*range(14, 72), 95, 100, 128, 255, 1000, 1023, 1025]
)
LENGTHS += [2047, 2049, 4200]
COUNTS = [1, 9] if EMULATED else [1, 3, 8, 9, 33]
FLOATS = [T.float32, T.float64, T.float16, T.bfloat16]
INTEGERS = [T.int64, T.int32, T.int16, T.uint8]
TOLERANCES = {T.float32: 1e-5, T.float64: 1e-12, T.float16: 4e-3, T.bfloat16: 3e-2}


def whole_numbers(count, length):
    """Small whole numbers, so that every sum is exact, in rows with a gap after each."""
    numbers = numpy.random.default_rng(count * 10007 + length).integers(0, 4, (count, length + 3))
    return numbers[:, :length], numbers


def close(ours, expected, tolerance):
    ours = ours.cpu().double().numpy()
    numpy.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_sums_and_extremes_are_exact(length, dtype, device):
    for count in COUNTS:
        expected, numbers = whole_numbers(count, length)
        x = T.tensor(numbers).to(dtype).to(device)[:, :length]
        total = x.sum(1, dtype=T.float64 if dtype in FLOATS else None)
        assert (total.cpu().numpy() == expected.sum(1)).all()
        assert (x.amax(1).cpu().double().numpy() == expected.max(1)).all()
        assert (x.amin(1).cpu().double().numpy() == expected.min(1)).all()
        assert (x.count_nonzero(1).cpu().numpy() == (expected != 0).sum(1)).all()
        halved = (x - 1).clamp(-1, 1) if dtype is not T.uint8 else x.clamp(0, 1)
        assert (
            halved.prod(1).cpu().double().numpy() == halved.cpu().double().numpy().prod(1)
        ).all()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("length", [32, 50, 67, 1024])
def test_a_nan_at_any_position_is_the_extreme_of_its_row(length, dtype, device):
    count = min(length, 40) if not EMULATED else 9
    x = T.zeros(count, length, dtype=dtype, device=device)
    for row in range(count):
        x[row, length - 1 - row * (length // count)] = float("nan")
    spaced = T.cat([x, T.ones_like(x)]).to(device)
    expected = [True] * count + [False] * count
    assert spaced.amax(1).isnan().tolist() == expected
    assert spaced.amin(1).isnan().tolist() == expected
    assert spaced.sum(1).isnan().tolist() == expected
    assert spaced.nansum(1).tolist() == [0.0] * count + [float(length)] * count


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_norms_and_moments(length, dtype, device):
    for count in COUNTS:
        _, numbers = whole_numbers(count, length)
        x = T.tensor(numbers).to(dtype).to(device)[:, :length]
        w, b = (T.arange(length) % 7 / 4 + 0.5).to(dtype), (T.arange(length) % 5 / 2 - 1).to(dtype)
        n, tolerance = numbers[:, :length].astype("float64"), TOLERANCES[dtype]
        scale, shift = w.double().numpy(), b.double().numpy()
        centered = n - n.mean(1, keepdims=True)
        variance = (centered**2).mean(1, keepdims=True)
        close(x.mean(1), n.mean(1), tolerance)
        close(x.var(1, correction=0), variance[:, 0], tolerance)
        close(x.logsumexp(1), numpy.log(numpy.exp(n).sum(1)), tolerance)
        close(x.norm(dim=1), numpy.sqrt((n**2).sum(1)), tolerance)
        expected = centered / numpy.sqrt(variance + 1e-5) * scale + shift
        close(F.layer_norm(x, (length,), w.to(device), b.to(device)), expected, 4 * tolerance)
        expected = n / numpy.sqrt((n**2).mean(1, keepdims=True) + 1e-5) * scale
        close(F.rms_norm(x, (length,), w.to(device), eps=1e-5), expected, 4 * tolerance)


@pytest.mark.parametrize("length", [8, 16, 50, 3000])
def test_rms_norm_of_an_infinite_element(length, device):
    x = T.ones(2, length, device=device)
    x[0, length // 2] = float("inf")
    out = F.rms_norm(x, (length,)).cpu()
    assert out[0].isnan().sum() == 1 and out[0, length // 2].isnan()
    assert (out[0].nan_to_num(0.0) == 0).all() and (out[1] - 1).abs().max() < 1e-6


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=str)
@pytest.mark.parametrize("columns", [1, 2, 3, 5, 8, 20, 32, 33])
def test_narrow_columns(columns, dtype, device):
    for rows in (2, 3, 40, 65, 700) if not EMULATED else (3, 65):
        numbers = numpy.random.default_rng(rows).integers(0, 2, (4, rows, columns))
        x = T.tensor(numbers).to(dtype).to(device)
        total = T.float64 if dtype in FLOATS else None
        assert x.sum(1, dtype=total).tolist() == numbers.sum(1).tolist()
        assert x.sum((0, 1), dtype=total).tolist() == numbers.sum((0, 1)).tolist()
        assert x[0].sum(0, dtype=total).tolist() == numbers[0].sum(0).tolist()
        assert x.amax(1).tolist() == numbers.max(1).tolist()
        assert x.all(1).tolist() == numbers.all(1).tolist()
        assert (1 + x).prod(1, dtype=T.float64).tolist() == (1.0 + numbers).prod(1).tolist()
        if dtype in FLOATS:
            x[1, rows // 2, columns - 1] = float("nan")
            assert x.amin(1).isnan().nonzero().tolist() == [[1, columns - 1]]
            close(x.nansum(1), numpy.nansum(x.cpu().double().numpy(), 1), TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", [*FLOATS, T.int64, T.uint8], ids=str)
def test_rows_with_gaps_in_one_total(dtype, device):
    """Short rows of a view are brought together: many in one block, and in several."""
    for length in (2, 5, 17, 63, 64):
        for shape in ((7, length), (3, 30, length), (2, 5, 41, length)):
            numbers = numpy.random.default_rng(length).integers(0, 3, (*shape[:-1], length + 3))
            expected = numbers[..., 1 : 1 + length]
            x = T.tensor(numbers).to(dtype).to(device)[..., 1 : 1 + length]
            whole = T.float64 if dtype in FLOATS else None
            assert x.sum(dtype=whole).item() == expected.sum()
            assert x.count_nonzero().item() == (expected != 0).sum()
            assert x.amax().item() == expected.max()
            last = tuple(range(1, len(shape)))
            assert x.sum(last, dtype=whole).tolist() == expected.sum(last).tolist()
            if dtype in FLOATS:
                close(x.std(), expected.std(ddof=1), TOLERANCES[dtype])
                close(x.double().norm(), numpy.linalg.norm(expected), 1e-12)
                x[-1, ..., length // 2] = float("nan")
                assert x.amax().isnan() and x.sum().isnan()


@pytest.mark.parametrize("dtype", [T.float32, T.int32], ids=str)
def test_reductions_over_one_element(dtype, device):
    x = T.tensor([[[1.5, -2.0, -0.0]], [[3.0, 4.0, 7.0]]]).to(dtype).to(device).transpose(0, 2)
    for f in (T.amax, T.amin):
        y = f(x, 1)
        assert y.equal(x[:, 0]) and y.data_ptr() != x.data_ptr()
        y.zero_()
    assert x.prod(1).tolist() == x[:, 0].tolist() and x[0, 0, 0] != 0
    assert str(x.float().prod(1)[2, 0].item()) == str(x.float()[2, 0, 0].item())


@pytest.mark.parametrize("dtype", [T.float16, T.bfloat16, T.float32], ids=str)
def test_signs_change_in_place_and_in_views(dtype, device):
    """Of 16-bit floats one bit changes, in memory of any layout."""
    x = T.tensor([1.5, -2.0, 0.0, -0.0, float("inf"), -float("inf"), 65504.0, 6e-8] * 40)
    x = x.to(dtype).to(device).reshape(16, 20)
    for view in (x, x.t(), x[:, ::3], x[3:, 2:7]):
        expected = view.cpu().double()
        assert T.equal((-view).cpu().double(), -expected)
        assert (1 / (-view).cpu().double()).equal(1 / -expected)
        assert T.equal(view.abs().cpu().double(), expected.abs())
        assert T.equal(T.copysign(view, -view).cpu().double(), -expected)
    x.neg_()
    assert x[0, 0] == -1.5 and x[0, 1] == 2
    assert T.neg(x, out=T.empty(0, dtype=dtype, device=device))[0, 0] == 1.5


@pytest.mark.parametrize("n", [1, 3, 8, 20, 64, 65])
def test_converted_rows_with_gaps(n, device):
    numbers = numpy.arange(3 * 50 * (n + 3)).reshape(3, 50, n + 3) % 200
    for of in (T.float32, T.float16, T.int32, T.uint8):
        x = T.tensor(numbers).to(of).to(device)[..., 1 : 1 + n]
        for to in (T.float64, T.int16, T.bfloat16, T.float16):
            expected = T.tensor(numbers[..., 1 : 1 + n]).to(to)
            assert T.equal(x.to(to).cpu(), expected)
            assert T.equal(x.transpose(0, 1).to(to).cpu(), expected.transpose(0, 1))
