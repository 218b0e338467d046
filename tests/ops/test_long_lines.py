"""Long lines, which a GPU cuts into parts for several blocks: values are the CPU's, at sizes around
the ends of warps, blocks and parts, with strides of every kind.
"""

import pytest

import rushlight as T
from tests.conftest import REAL

# A warp, a block, a part of a scan (4096), a tile of nonzero (2048), and their neighbours.
SIZES = [1, 31, 33, 255, 256, 257, 2047, 2049, 4095, 4096, 4097, 8191, 8193, 12289]
BEYOND = 4096 * 256 + 4097  # more parts than the block that joins them has threads


def seeded(*shape, dtype=T.float32):
    T.manual_seed(sum(shape))
    return T.randn(*shape) if dtype.is_floating_point else T.randint(-5, 6, shape, dtype=dtype)


def agree(ours, cpu, rtol=1e-5, atol=1e-5):
    assert ours.dtype == cpu.dtype and ours.stride() == cpu.stride()
    T.testing.assert_close(ours.cpu(), cpu, rtol=rtol, atol=atol, equal_nan=True)


@pytest.mark.parametrize("n", SIZES)
def test_running_reductions(n, device):
    x = seeded(n)
    x[n // 3] = x[n // 2]  # equals in two parts
    for name in ("cumsum", "logcumsumexp"):
        agree(getattr(x.to(device), name)(0), getattr(x, name)(0), atol=1e-4)
    near_one = 1 + x / n
    agree(near_one.to(device).cumprod(0), near_one.cumprod(0))
    whole = seeded(n, dtype=T.int64)
    for name in ("cumsum", "cumprod"):
        assert T.equal(getattr(whole.to(device), name)(0).cpu(), getattr(whole, name)(0))
    for values in (x, whole, T.zeros(n)):
        for name in ("cummax", "cummin"):
            ours, cpu = getattr(values.to(device), name)(0), getattr(values, name)(0)
            assert T.equal(ours.values.cpu(), cpu.values)
            assert T.equal(ours.indices.cpu(), cpu.indices)


@pytest.mark.parametrize("shape, dim", [((3, 5000), 1), ((5000, 3), 0), ((2, 4099, 3), 1)])
@pytest.mark.parametrize("dtype", [T.float64, T.bfloat16, T.int32, T.bool])
def test_several_lines_in_parts(shape, dim, dtype, device):
    x = seeded(*shape, dtype=dtype if dtype.is_floating_point else T.int64).to(dtype)
    for view in (x, x.transpose(0, -1).contiguous().transpose(0, -1), x.flip(0)):
        ours = view.to(device)
        if view.stride() != ours.stride():
            ours = x.to(device).transpose(0, -1).contiguous().transpose(0, -1)
        tolerance = 0 if dtype is not T.float64 else 1e-12
        # The CPU holds sums of bfloat16 in float, as torch's does, a GPU in double.
        in_double = REAL and dtype is T.bfloat16
        expected = view.double().cumsum(dim).to(dtype) if in_double else view.cumsum(dim)
        agree(ours.cumsum(dim), expected, rtol=tolerance, atol=tolerance)
        for name in ("cummax", "cummin"):
            assert T.equal(getattr(ours, name)(dim).indices.cpu(), getattr(view, name)(dim).indices)


def test_odd_strides(device):
    x = seeded(3, 9001)
    ours = x.to(device)
    agree(ours[:, ::2].cumsum(1), x[:, ::2].cumsum(1), atol=1e-4)
    agree(ours.t()[1::3].cumsum(0), x.t()[1::3].cumsum(0), atol=1e-4)
    out = T.zeros(9001, 3, device=device).t()
    T.cumsum(ours, 1, out=out)
    assert out.stride() == (1, 3)
    T.testing.assert_close(out.cpu(), x.cumsum(1), rtol=1e-5, atol=1e-4)
    ours = ours.clone().cumsum_(1)
    T.testing.assert_close(ours.cpu(), x.cumsum(1), rtol=1e-5, atol=1e-4)


def test_more_parts_than_threads(device):
    x = T.ones(BEYOND, dtype=T.int32)
    assert T.equal(x.to(device).cumsum(0).cpu(), T.arange(1, BEYOND + 1))


@pytest.mark.parametrize("n", [5000, 9000])
def test_nan_and_infinity_reach_the_parts_behind(n, device):
    for special in (float("nan"), float("inf"), float("-inf")):
        x = seeded(n)
        x[4100] = special
        for name in ("cumsum", "cumprod", "logcumsumexp"):
            agree(getattr(x.to(device), name)(0), getattr(x, name)(0), atol=1e-4)
        for name in ("cummax", "cummin"):
            ours, cpu = getattr(x.to(device), name)(0), getattr(x, name)(0)
            agree(ours.values, cpu.values)
            assert T.equal(ours.indices.cpu(), cpu.indices)


def test_results_repeat(device):
    x = seeded(20000).to(device)
    first = x.cumsum(0)
    assert all(T.equal(first, x.cumsum(0)) for _ in range(3))


@pytest.mark.parametrize("n", [*SIZES, 2048 * 257 + 5])
def test_nonzero_and_unique(n, device):
    x = seeded(n, dtype=T.int64)
    x[n // 2] = 0
    assert T.equal(x.to(device).nonzero().cpu(), x.nonzero())
    assert T.equal(T.zeros(n, device=device).nonzero().cpu(), T.zeros(n).nonzero())
    ours = T.unique(x.to(device), return_inverse=True, return_counts=True)
    cpu = T.unique(x, return_inverse=True, return_counts=True)
    assert all(T.equal(a.cpu(), b) for a, b in zip(ours, cpu, strict=True))


@pytest.mark.parametrize("n", SIZES)
def test_extremes(n, device):
    for x in (seeded(n), seeded(n, dtype=T.int64), T.zeros(n), seeded(n).bfloat16()):
        for name in ("max", "min"):
            ours, cpu = getattr(x.to(device), name)(0), getattr(x, name)(0)
            assert T.equal(ours.values.cpu(), cpu.values)
            assert T.equal(ours.indices.cpu(), cpu.indices)  # the first of equals
        assert x.to(device).argmax().item() == x.argmax().item()
    x = T.stack([seeded(n), seeded(n).flip(0)], 1)
    x[n // 2, 1] = x[n - 1, 1] = float("nan")
    for ours, cpu in ((x.to(device), x), (x.to(device).t(), x.t())):
        for dim in (0, 1):
            found = ours.max(dim)
            agree(found.values, cpu.max(dim).values)
            assert T.equal(found.indices.cpu(), cpu.max(dim).indices)


def test_more_parts_of_an_extreme_than_threads(device):
    x = T.zeros(BEYOND, dtype=T.uint8, device=device)
    x[BEYOND - 2 :] = 1
    assert x.argmax().item() == BEYOND - 2 and x.argmin().item() == 0


@pytest.mark.parametrize("n", SIZES)
def test_totals_of_losses(n, device):
    target = seeded(n, dtype=T.int64).remainder(3)
    target[n // 2] = -100
    logits, weight = seeded(n, 3), T.tensor([1.0, 0.5, 2.0])
    for function, given in ((T.nn.functional.cross_entropy, logits),
                            (T.nn.functional.nll_loss, logits.log_softmax(1))):  # fmt: skip
        for reduction in ("sum", "mean"):
            cpu = function(given, target, weight, reduction=reduction)
            ours = function(
                given.to(device), target.to(device), weight.to(device), reduction=reduction
            )
            agree(ours, cpu)


def test_means_of_planes(device):
    for rank, pool in ((2, T.nn.functional.adaptive_avg_pool2d),
                       (3, T.nn.functional.adaptive_avg_pool3d)):  # fmt: skip
        x = seeded(2, 3, *(9,) * (rank - 1), 130)
        for format in (T.contiguous_format, T.channels_last if rank == 2 else T.channels_last_3d):
            found = []
            for to in ("cpu", device):
                leaf = x.to(to).contiguous(memory_format=format).detach().requires_grad_()
                y = pool(leaf, 1)
                assert y.grad_fn.name() == "MeanBackward1"
                (y * y).sum().backward()
                found += [y, leaf.grad]
            agree(found[2].detach(), found[0].detach())
            agree(found[3], found[1])
        agree(pool(x[0].to(device), 1), pool(x[0], 1))
